//! How a model is asked to answer. Which one is a matter of the model, and no part of a recording's key: an answer of
//! either form is understood, whatever was asked for.

use serde::{Deserialize, Serialize};

/// Regions of fewer lines are asked for whole in either format: blocks would be no shorter.
pub const LONG_REGION_LINES: usize = 40;

/// How a model is asked to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerFormat {
    /// The whole new text of the region.
    #[default]
    Whole,
    /// Search/replace blocks, for regions of [`LONG_REGION_LINES`] and more.
    Blocks,
}

impl AnswerFormat {
    /// The format in which a region with this text is asked for.
    #[must_use]
    pub fn for_region(self, text: &str) -> AnswerFormat {
        if text.lines().count() < LONG_REGION_LINES { AnswerFormat::Whole } else { self }
    }
}
