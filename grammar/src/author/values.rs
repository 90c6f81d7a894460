//! What stands after `in`.

use std::fmt;

/// A set of values, and where the search in it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    values: crate::ir::Values,
    start: Option<i64>,
}

impl Values {
    /// `powers of BASE from LOW to HIGH`.
    #[must_use]
    pub fn powers(base: i64, low: i64, high: i64) -> Values {
        Values { values: crate::ir::Values::PowersOf { base, low, high }, start: None }
    }

    /// `LOW to HIGH step STEP`.
    #[must_use]
    pub fn range(low: i64, high: i64, step: i64) -> Values {
        Values { values: crate::ir::Values::Range { low, high, step }, start: None }
    }

    /// The same, with where the search starts.
    #[must_use]
    pub fn start_at(mut self, start: i64) -> Values {
        self.start = Some(start);
        self
    }
}

impl<const N: usize> From<[i64; N]> for Values {
    fn from(values: [i64; N]) -> Values {
        Values::from(values.to_vec())
    }
}

impl From<Vec<i64>> for Values {
    fn from(values: Vec<i64>) -> Values {
        Values { values: crate::ir::Values::List(values), start: None }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start {
            Some(start) => write!(f, "{} start at {start}", self.values),
            None => self.values.fmt(f),
        }
    }
}
