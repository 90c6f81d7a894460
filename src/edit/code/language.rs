//! The languages of device code and macros, and their parsers.

use super::limits::{MAX_CODE_BYTES, MAX_PARSER_CHECKS};
use std::fmt;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser, Tree};

/// A language of device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeLanguage {
    /// CUDA C++.
    Cuda,
    /// HIP C++, whose syntax is CUDA's.
    Hip,
    /// HLSL.
    Hlsl,
}

impl CodeLanguage {
    /// Every language.
    pub const ALL: [CodeLanguage; 3] = [CodeLanguage::Cuda, CodeLanguage::Hip, CodeLanguage::Hlsl];

    /// The language of a backend; CUDA's syntax where the name is not known.
    #[must_use]
    pub fn of(backend: &str) -> CodeLanguage {
        CodeLanguage::ALL.into_iter().find(|language| language.name() == backend).unwrap_or(CodeLanguage::Cuda)
    }

    /// The backend's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CodeLanguage::Cuda => "cuda",
            CodeLanguage::Hip => "hip",
            CodeLanguage::Hlsl => "hlsl",
        }
    }

    /// tree-sitter's grammar.
    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            CodeLanguage::Cuda | CodeLanguage::Hip => tree_sitter_cuda::LANGUAGE.into(),
            CodeLanguage::Hlsl => tree_sitter_hlsl::LANGUAGE_HLSL.into(),
        }
    }
}

impl fmt::Display for CodeLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Code that is longer, or takes longer, than what is looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is larger or more tangled than what is looked into")]
pub struct TooLarge;

/// The syntax tree of a text; places that do not parse are error nodes in it.
///
/// # Errors
/// The text is longer than [`MAX_CODE_BYTES`], or parsing it takes more than [`MAX_PARSER_CHECKS`].
pub fn parse(language: CodeLanguage, text: &str) -> Result<Tree, TooLarge> {
    if text.len() > MAX_CODE_BYTES {
        return Err(TooLarge);
    }
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).map_err(|_| TooLarge)?;
    let mut checks = 0;
    let mut go_on = |_: &tree_sitter::ParseState| {
        checks += 1;
        if checks > MAX_PARSER_CHECKS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut go_on);
    parser.parse_with_options(&mut read, None, Some(options)).ok_or(TooLarge)
}
