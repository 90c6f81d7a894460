//! A budget around a provider: counts what is asked and what it takes, and refuses the first request past a limit.
//!
//! Never cuts a request short that is under way: what was paid for is used.

use super::conduct::priced;
use super::{AskError, Completion, CompletionRequest, Provider, ProviderError, Usage};
use crate::preferences::{Budget, Price};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a token, where a provider does not count its own: only a budget uses the estimate.
const BYTES_A_TOKEN: u64 = 4;

/// A provider, and what may be asked of it.
pub struct Budgeted {
    inner: Box<dyn Provider>,
    budget: Budget,
    price: Option<Price>,
    started: Instant,
    spent: Mutex<Spent>,
}

#[derive(Default)]
struct Spent {
    calls: u64,
    /// What the provider said.
    usage: Usage,
    /// With estimates where it said nothing.
    counted: Usage,
    refused: Option<String>,
}

impl Budgeted {
    /// Counts from now on.
    ///
    /// # Errors
    /// A budget of money, and no price to count it by.
    pub fn new(inner: Box<dyn Provider>, budget: Budget, price: Option<Price>) -> Result<Budgeted, ProviderError> {
        if budget.money.is_some() && price.is_none() {
            return Err(AskError::NotReady {
                provider: inner.name().to_owned(),
                lacks: "the budget is in money, and nothing says what a token costs".to_owned(),
                mend: format!(
                    "write the price of a million tokens into peak.toml, below [providers.{}]: price = {{ input = 1.25, output = 10 }}",
                    inner.name()
                ),
            }
            .into());
        }
        Ok(Budgeted { inner, budget, price, started: Instant::now(), spent: Mutex::default() })
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        // Counters are whole at every point, so a panic elsewhere leaves nothing half done.
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request, or says which limit is reached.
    fn admit(&self) -> Result<(), AskError> {
        let mut spent = self.spent();
        let Some(words) = self.reached(&spent) else {
            spent.calls += 1;
            return Ok(());
        };
        spent.refused = Some(words.clone());
        let help = "the last checkpoint stands, and what was answered is kept. To go on, run the same command again with a larger budget (`--budget-calls`, `--budget-tokens`, `--budget-money`, `--budget-minutes`, or [budget] in peak.toml)";
        Err(AskError::BudgetSpent { spent: words, help: help.to_owned() })
    }

    fn reached(&self, spent: &Spent) -> Option<String> {
        let Budget { calls, tokens, money, minutes } = self.budget;
        let took = spent.counted;
        #[allow(
            clippy::cast_precision_loss,
            reason = "money that is counted in 2^52 millionths is not spent on tokens"
        )]
        let paid = took.money_millionths.unwrap_or(0) as f64 / 1e6;
        let elapsed = self.started.elapsed();
        if let Some(limit) = calls.filter(|limit| spent.calls >= *limit) {
            return Some(format!("{} of {limit} calls", spent.calls));
        }
        if let Some(limit) = tokens.filter(|limit| took.tokens() >= *limit) {
            return Some(format!("{} of {limit} tokens", took.tokens()));
        }
        if let Some(limit) = money.filter(|limit| paid >= *limit) {
            return Some(format!("{paid:.4} of {limit} in money, at the prices of peak.toml"));
        }
        let over = |limit: &f64| Duration::try_from_secs_f64(limit * 60.0).is_ok_and(|limit| elapsed >= limit);
        minutes.filter(over).map(|limit| format!("{:.1} of {limit} minutes", elapsed.as_secs_f64() / 60.0))
    }

    fn count(&self, request: &CompletionRequest, completion: &Completion) -> Option<Usage> {
        let said = completion.usage.map(|usage| priced(usage, self.price));
        let estimate = Usage {
            tokens_in: request.prompt.len() as u64 / BYTES_A_TOKEN,
            tokens_out: completion.text.len() as u64 / BYTES_A_TOKEN,
            money_millionths: None,
        };
        let mut spent = self.spent();
        spent.usage = spent.usage.plus(said.unwrap_or_default());
        spent.counted = spent.counted.plus(said.unwrap_or_else(|| priced(estimate, self.price)));
        said
    }
}

impl Provider for Budgeted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        self.admit()?;
        let completion = self.inner.complete(request)?;
        let usage = self.count(request, &completion);
        Ok(Completion { usage, ..completion })
    }

    fn about(&self) -> String {
        self.inner.about()
    }

    /// As many as the budget still allows. They count when they are fetched.
    fn ask_ahead(&self, requests: &[CompletionRequest]) {
        let spent = self.spent();
        let left = match self.reached(&spent) {
            Some(_) => 0,
            None => self.budget.calls.map_or(u64::MAX, |limit| limit - spent.calls),
        };
        drop(spent);
        let left = usize::try_from(left).unwrap_or(usize::MAX).min(requests.len());
        self.inner.ask_ahead(&requests[..left]);
    }

    fn refuses(&self) -> Option<String> {
        self.spent().refused.clone()
    }

    fn usage(&self) -> Usage {
        self.spent().usage
    }
}
