//! Two files become one: what the project says stands over what the user says, member by member. Reads nothing.

use super::{Budget, Preferences, ProviderSettings};

impl Preferences {
    /// These, with what `over` says in their place.
    pub(super) fn overlaid(mut self, over: Preferences) -> Preferences {
        for (name, settings) in over.providers {
            let under = self.providers.remove(&name).unwrap_or_default();
            self.providers.insert(name, under.overlaid(settings));
        }
        Preferences {
            provider: over.provider.or(self.provider),
            providers: self.providers,
            budget: self.budget.overlaid(over.budget),
            trusted_projects: self.trusted_projects,
        }
    }

    /// What no number may be.
    pub(super) fn nonsense(&self) -> Option<String> {
        let wrong = |value: f64| !value.is_finite() || value < 0.0;
        let budget = [("budget.money", self.budget.money), ("budget.minutes", self.budget.minutes)];
        let prices = self.providers.iter().flat_map(|(name, settings)| {
            let price = settings.price;
            [("input", price.map(|price| price.input)), ("output", price.map(|price| price.output))]
                .map(|(side, value)| (format!("providers.{name}.price.{side}"), value))
        });
        let named = budget.map(|(name, value)| (name.to_owned(), value));
        let (name, value) = named.into_iter().chain(prices).find(|(_, value)| value.is_some_and(wrong))?;
        Some(format!("`{name}` is {}, and should be a number from 0 on", value.unwrap_or_default()))
    }
}

impl ProviderSettings {
    fn overlaid(self, over: ProviderSettings) -> ProviderSettings {
        ProviderSettings {
            kind: over.kind.or(self.kind),
            url: over.url.or(self.url),
            model: over.model.or(self.model),
            key_variable: over.key_variable.or(self.key_variable),
            certificates: over.certificates.or(self.certificates),
            program: over.program.or(self.program),
            max_output_tokens: over.max_output_tokens.or(self.max_output_tokens),
            timeout_seconds: over.timeout_seconds.or(self.timeout_seconds),
            price: over.price.or(self.price),
            body: over.body.or(self.body),
        }
    }
}

impl Budget {
    /// This one, with what `over` says in its place.
    #[must_use]
    pub fn overlaid(self, over: Budget) -> Budget {
        Budget {
            calls: over.calls.or(self.calls),
            tokens: over.tokens.or(self.tokens),
            money: over.money.or(self.money),
            minutes: over.minutes.or(self.minutes),
        }
    }
}
