//! Reads a completion: one fenced block with the new region, and perhaps a block of notes.
//!
//! Every text gives an answer or a defect; none makes it panic. Words outside the blocks are ignored.

use crate::edit::tokens::{Syntax, normalized};

/// Bytes of a completion that are looked at.
pub const MAX_ANSWER_BYTES: usize = 256 << 10;

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The word after the opening fence, in lower case.
    pub language: String,
    /// The text between the fences; each line ends with `\n`.
    pub text: String,
    /// Line of the opening fence, from 1.
    pub line: usize,
}

/// What a completion proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Blocks of code, in order; at least one.
    pub code: Vec<Block>,
    /// The notes, if there are any words in them.
    pub notes: Option<String>,
}

impl Answer {
    /// The block that is the new region.
    #[must_use]
    pub fn region(&self) -> &Block {
        &self.code[0]
    }
}

/// Why a completion is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseDefect {
    /// A fence that is opened and not closed.
    #[error("the block that opens in line {line} is not closed: the answer was cut off")]
    Unterminated {
        /// Line of the opening fence, from 1.
        line: usize,
    },
    /// No block of code, or an empty one.
    #[error("there is no fenced block with code in the answer")]
    NoBlock,
    /// More than [`MAX_ANSWER_BYTES`].
    #[error("the answer has {bytes} bytes, and {MAX_ANSWER_BYTES} are allowed")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

impl ResponseDefect {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            ResponseDefect::Unterminated { .. } => "peak::answer-unterminated-fence",
            ResponseDefect::NoBlock => "peak::answer-no-block",
            ResponseDefect::TooLong { .. } => "peak::answer-too-long",
        }
    }
}

/// The answer in a completion.
///
/// # Errors
/// A fence that is not closed, no block of code, too long a text.
pub fn parse(completion: &str) -> Result<Answer, ResponseDefect> {
    if completion.len() > MAX_ANSWER_BYTES {
        return Err(ResponseDefect::TooLong { bytes: completion.len() });
    }
    let (notes, code): (Vec<Block>, Vec<Block>) =
        blocks(completion)?.into_iter().partition(|block| block.language == "notes");
    let code: Vec<Block> = code.into_iter().filter(|block| !normalized(&block.text, Syntax::Code).is_empty()).collect();
    if code.is_empty() {
        return Err(ResponseDefect::NoBlock);
    }
    let notes: Vec<&str> = notes.iter().map(|block| block.text.trim()).filter(|text| !text.is_empty()).collect();
    Ok(Answer { code, notes: (!notes.is_empty()).then(|| notes.join("\n")) })
}

fn blocks(completion: &str) -> Result<Vec<Block>, ResponseDefect> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Block)> = None;
    for (index, line) in completion.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        match (&mut open, fence(line)) {
            (None, Some((length, info))) if !info.contains('`') => {
                let language = info.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
                open = Some((length, Block { language, text: String::new(), line: index + 1 }));
            }
            (Some((length, _)), Some((closing, ""))) if closing >= *length => {
                found.extend(open.take().map(|(_, block)| block));
            }
            (Some((_, block)), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, _) => {}
        }
    }
    match open {
        Some((_, block)) => Err(ResponseDefect::Unterminated { line: block.line }),
        None => Ok(found),
    }
}

/// The length of a fence of backticks, and the words after it.
fn fence(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    let length = text.len() - text.trim_start_matches('`').len();
    (length >= 3 && line.len() - text.len() <= 3).then(|| (length, text[length..].trim()))
}
