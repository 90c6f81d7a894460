//! The seams of lowering: who compiles and validates a candidate, and who watches.

use crate::context::KernelContext;
use crate::runner::{Failure, FailureClass};
use peak_grammar::ir::Region;

/// Compiles and validates candidates. A failure is the candidate's: a missing toolchain is the caller's to find first.
pub trait Judge {
    /// Compiles the context, at the configurations that the judge chooses.
    ///
    /// # Errors
    /// A failure of class `compile`, its facts the compiler's messages with their region and line.
    fn compile(&mut self, context: &KernelContext) -> Result<(), Failure>;

    /// Compares results with the reference, and runs whatever else validates.
    ///
    /// # Errors
    /// A failure with the pattern of what is wrong as facts.
    fn validate(&mut self, context: &KernelContext) -> Result<(), Failure>;

    /// What is known of the context before this transformation: times, counters, roofline; a few lines.
    fn known(&self) -> Vec<String>;
}

/// Judges nothing: for printing prompts and edits where no device is at hand. Never for a kernel that is to be kept.
#[derive(Clone, Debug, Default)]
pub struct Unjudged {
    /// What prompts say is known of the context.
    pub known: Vec<String>,
}

impl Judge for Unjudged {
    fn compile(&mut self, _context: &KernelContext) -> Result<(), Failure> {
        Ok(())
    }

    fn validate(&mut self, _context: &KernelContext) -> Result<(), Failure> {
        Ok(())
    }

    fn known(&self) -> Vec<String> {
        self.known.clone()
    }
}

/// What happens while a transformation is applied, as it happens.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each field is what its name says")]
pub enum Event<'a> {
    /// A pass starts.
    Pass { name: &'a str, index: usize, of: usize },
    /// A model is asked.
    Asked { pass: &'a str, region: Region, attempt: u32, prompt: &'a str },
    /// It answered, and the answer passed the checks.
    Answered { pass: &'a str, region: Region, attempt: u32 },
    /// An answer, or the pass as a whole, failed.
    Failed { pass: &'a str, region: Option<Region>, class: FailureClass, message: &'a str },
    /// The context compiles.
    Compiled { pass: &'a str },
    /// The context is valid.
    Validated { pass: &'a str },
    /// A group of passes starts again from its first.
    GroupRestarted { pass: &'a str },
}

/// Watches, for progress and for `--emit prompt`.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _event: &Event<'_>) {}
}
