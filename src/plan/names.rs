//! What a transformation's names stand for in one kernel context, and how prose and expressions are spelled with them.

use super::Words;
use crate::context::scope::Facts;
use indexmap::IndexMap;
use peak_grammar::ir::{Condition, Expr, Prose, SettingValue};

/// What each name stands for. A name that is none of these stands for itself.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Names bound by `for kernels computing`.
    pub bound: IndexMap<String, Expr>,
    /// Index variables of the pattern, as the kernel's oracle has them: for prose alone.
    pub indices: IndexMap<String, String>,
    /// `with PARAMETER as OTHER`.
    pub renames: IndexMap<String, String>,
    /// Settings in force.
    pub settings: IndexMap<String, SettingValue>,
    /// Device facts in force.
    pub facts: Facts,
}

impl Names {
    /// Prose, resolved.
    #[must_use]
    pub fn words(&self, prose: &Prose) -> Words {
        Words {
            text: prose.render(&|name| self.spell(name, true)).trim_end().to_owned(),
            key: prose.render(&|name| self.spell(name, false)).trim_end().to_owned(),
        }
    }

    fn spell(&self, name: &str, facts_by_value: bool) -> String {
        if let Some(setting) = self.settings.get(name) {
            return match setting {
                SettingValue::Integer(value) => value.to_string(),
                SettingValue::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
                SettingValue::Text(text) => text.clone(),
            };
        }
        let fact = self.facts.get(name.strip_prefix("device.").unwrap_or(name));
        match (self.expression(name), fact) {
            (Some(expr), _) => format!("`{expr}`"),
            (None, Some(value)) if facts_by_value => value.to_string(),
            (None, _) => format!("`{}`", self.indices.get(name).map_or(name, String::as_str)),
        }
    }

    /// What a name stands for, where it is not itself.
    pub(super) fn expression(&self, name: &str) -> Option<Expr> {
        let renamed = || self.renames.get(name).map(|other| Expr::Name(other.clone()));
        let setting = || match self.settings.get(name)? {
            SettingValue::Integer(value) => Some(Expr::Integer(*value)),
            SettingValue::Flag(flag) => Some(Expr::Integer(i64::from(*flag))),
            SettingValue::Text(_) => None,
        };
        self.bound.get(name).cloned().or_else(renamed).or_else(setting)
    }

    /// An expression in the kernel's own names.
    #[must_use]
    pub fn expr(&self, expr: &Expr) -> Expr {
        expr.substitute(&|name| self.expression(name))
    }

    /// A condition in the kernel's own names.
    #[must_use]
    pub fn condition(&self, condition: &Condition) -> Condition {
        condition.substitute(&|name| self.expression(name))
    }

    /// A name as the kernel has it, where it stands for a single name.
    #[must_use]
    pub fn name(&self, name: &str) -> String {
        match self.expression(name) {
            Some(Expr::Name(other)) => other,
            _ => name.to_owned(),
        }
    }

    /// What the bound names stand for, as text.
    #[must_use]
    pub fn bindings(&self) -> IndexMap<String, String> {
        self.bound.iter().map(|(name, expr)| (name.clone(), expr.to_string())).collect()
    }
}
