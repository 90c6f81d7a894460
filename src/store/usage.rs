//! What an answer took: tokens and money. Plain data.

use serde::{Deserialize, Serialize};

/// What an answer took, or several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of prompts.
    pub tokens_in: u64,
    /// Tokens of answers, reasoning included.
    pub tokens_out: u64,
    /// Millionths of the currency that prices are in; `None` where there is no price.
    pub money_millionths: Option<u64>,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        let money = [self.money_millionths, other.money_millionths].into_iter().flatten();
        Usage {
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            money_millionths: money.reduce(u64::saturating_add),
        }
    }

    /// Tokens of prompts and answers together.
    #[must_use]
    pub fn tokens(self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens in, {} out", self.tokens_in, self.tokens_out)?;
        match self.money_millionths {
            Some(money) => write!(f, ", {}.{:04} in money", money / 1_000_000, money % 1_000_000 / 100),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_known_as_soon_as_one_part_is() {
        let free = Usage { tokens_in: 10, tokens_out: 2, money_millionths: None };
        let paid = Usage { money_millionths: Some(1_250_400), ..free };
        assert_eq!(free.plus(free).money_millionths, None);
        assert_eq!(free.plus(paid).to_string(), "20 tokens in, 4 out, 1.2504 in money");
        assert_eq!(free.to_string(), "10 tokens in, 2 out");
    }
}
