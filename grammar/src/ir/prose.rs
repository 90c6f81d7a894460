//! Prose: words for the model, with references that are resolved and checked.

use serde::{Deserialize, Serialize};

/// A prose block, dedented, as text and references.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prose {
    /// In order. Adjacent text is one segment.
    pub segments: Vec<Segment>,
}

/// A piece of prose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// Plain words (with backticks and fences kept; `{{` already one brace).
    Text(String),
    /// `{name}`.
    Reference(String),
}

impl Prose {
    /// Prose without a reference.
    #[must_use]
    pub fn plain(text: &str) -> Prose {
        match text.is_empty() {
            true => Prose::default(),
            false => Prose { segments: vec![Segment::Text(text.to_owned())] },
        }
    }

    /// Whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The names that are referred to, in order, repeats included.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Reference(name) => Some(name.as_str()),
            Segment::Text(_) => None,
        })
    }

    /// The words, each reference spelled by `spell`.
    #[must_use]
    pub fn render(&self, spell: &dyn Fn(&str) -> String) -> String {
        self.segments
            .iter()
            .map(|segment| match segment {
                Segment::Text(text) => text.clone(),
                Segment::Reference(name) => spell(name),
            })
            .collect()
    }

    /// The words as they were written, references in braces.
    #[must_use]
    pub fn source(&self) -> String {
        self.render(&|name| format!("{{{name}}}"))
    }
}
