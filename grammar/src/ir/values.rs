//! Sets of allowed values, tuning parameters and requirements.

use super::expr::Condition;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The values that an input or a tuning parameter may take, in the order in which they are tried.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// `in 8, 16, 32`.
    List(Vec<i64>),
    /// `in powers of 2 from 8 to 64`: `base^k` within the bounds, `base` at least 2.
    PowersOf {
        /// The base.
        base: i64,
        /// Lower bound, itself a power of the base.
        low: i64,
        /// Upper bound, included when it is a power of the base.
        high: i64,
    },
    /// `in 4 to 64 step 4`.
    Range {
        /// First value.
        low: i64,
        /// Last value, if a step lands on it.
        high: i64,
        /// Distance, at least 1.
        step: i64,
    },
}

impl Values {
    /// Every value, in order.
    #[must_use]
    pub fn all(&self) -> Vec<i64> {
        match self {
            Values::List(values) => values.clone(),
            Values::PowersOf { base, low, high } => {
                let next = |value: &i64| value.checked_mul(*base).filter(|next| next <= high);
                std::iter::successors((low <= high && *base > 1 && *low > 0).then_some(*low), next).collect()
            }
            Values::Range { low, high, step } => {
                let step = usize::try_from(*step).unwrap_or(1).max(1);
                (*low..=*high).step_by(step).collect()
            }
        }
    }

    /// Whether `value` is one of them.
    #[must_use]
    pub fn contains(&self, value: i64) -> bool {
        self.all().contains(&value)
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::List(values) => {
                let text: Vec<String> = values.iter().map(i64::to_string).collect();
                f.write_str(&text.join(", "))
            }
            Values::PowersOf { base, low, high } => write!(f, "powers of {base} from {low} to {high}"),
            Values::Range { low, high, step: 1 } => write!(f, "{low} to {high}"),
            Values::Range { low, high, step } => write!(f, "{low} to {high} step {step}"),
        }
    }
}

/// A named placeholder that changes speed and not results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TuningParameter {
    /// `UPPER_SNAKE`.
    pub name: String,
    /// What it may be.
    pub values: Values,
    /// Where the search starts; the first value where nothing is said.
    pub start: Option<i64>,
    /// The transformation that introduced it; `None` for the kernel's own.
    pub introduced_by: Option<String>,
}

impl TuningParameter {
    /// The value that the search starts from.
    #[must_use]
    pub fn start_value(&self) -> Option<i64> {
        self.start.or_else(|| self.values.all().first().copied())
    }
}

/// A condition that execution parameters must meet: what prunes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// Its name, or `requirement-N` in order of appearance where it has none.
    pub name: String,
    /// What must hold.
    pub condition: Condition,
    /// The transformation that added it; `None` for the kernel's own.
    pub added_by: Option<String>,
}
