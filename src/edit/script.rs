//! Edits as spans with a precondition. A script changes one region, and either all of it applies or nothing does.

use super::EditError;
use peak_grammar::ir::Region;
use serde::{Deserialize, Serialize};

/// One replacement of a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Byte offset of the first byte replaced.
    pub start: usize,
    /// What must stand there: the precondition. Its length is the span's.
    pub expected: String,
    /// What takes its place.
    pub replacement: String,
}

impl Edit {
    /// Byte offset past the last byte replaced.
    #[must_use]
    pub fn end(&self) -> usize {
        self.start + self.expected.len()
    }
}

/// Edits to one region, sorted and without overlap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditScript {
    /// The only region that they may change.
    pub region: Region,
    /// In order of their start.
    edits: Vec<Edit>,
}

impl EditScript {
    /// A script of these edits, in any order.
    ///
    /// # Errors
    /// [`EditError::Overlap`] where two of them touch the same byte.
    pub fn new(region: Region, mut edits: Vec<Edit>) -> Result<EditScript, EditError> {
        edits.sort_by_key(|edit| (edit.start, edit.end()));
        match edits.windows(2).find(|pair| pair[0].end() > pair[1].start) {
            Some(pair) => Err(EditError::Overlap { region, at: pair[1].start }),
            None => Ok(EditScript { region, edits }),
        }
    }

    /// A script of one edit.
    #[must_use]
    pub fn single(region: Region, edit: Edit) -> EditScript {
        EditScript { region, edits: vec![edit] }
    }

    /// The edits, in order of their start.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The region's text after every edit. `text` itself is left alone, so a failure changes nothing.
    ///
    /// # Errors
    /// [`EditError::Precondition`] where the text is not what an edit expects.
    pub fn apply(&self, text: &str) -> Result<String, EditError> {
        let mut result = String::with_capacity(text.len());
        let mut done = 0;
        for edit in &self.edits {
            let (Some(kept), true) =
                (text.get(done..edit.start), text.get(edit.start..edit.end()) == Some(&edit.expected))
            else {
                return Err(self.precondition(edit));
            };
            result.push_str(kept);
            result.push_str(&edit.replacement);
            done = edit.end();
        }
        result.push_str(text.get(done..).unwrap_or_default());
        Ok(result)
    }

    fn precondition(&self, edit: &Edit) -> EditError {
        let expected = edit.expected.lines().next().unwrap_or_default().to_owned();
        EditError::Precondition { region: self.region, at: edit.start, expected }
    }
}
