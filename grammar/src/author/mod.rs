//! Declarations put together in a program, and printed as the `.peak` source that a person would have written.
//!
//! A builder holds clauses and nothing else: what it comes to is text, in the form of [`format`](mod@crate::format), which
//! is read, resolved and checked like any other. So a builder knows no rule of the language, and a mistake is the same
//! diagnostic that a file would give.
//!
//! ```
//! use peak_grammar::author::{Authored, Pass, Step, Transformation, Values};
//!
//! let unroll = Transformation::new("unroll")
//!     .title("Unroll the innermost loops")
//!     .introduces("UNROLL", Values::from([2, 4, 8]).start_at(4))
//!     .pass(Pass::new("mark").steps("device code", [Step::insert("#pragma unroll UNROLL").before("innermost `for ($$$HEAD) $BODY`")]));
//! assert_eq!(
//!     unroll.text(),
//!     "transformation unroll \"Unroll the innermost loops\"
//!   introduces UNROLL in 2, 4, 8 start at 4
//!   pass mark
//!     in device code
//!       insert before innermost `for ($$$HEAD) $BODY`
//!         ```
//!         #pragma unroll UNROLL
//!         ```
//! "
//! );
//! ```

mod clause;
mod kernel;
mod pack;
mod pass;
mod transformation;
mod values;
mod workflow;

pub use clause::Declaration;
pub use kernel::{Kernel, Utility};
pub use pack::{Pack, Specialize};
pub use pass::{Pass, Step};
pub use transformation::Transformation;
pub use values::Values;
pub use workflow::{Application, Workflow};

use crate::SourceFile;
use crate::format;

/// What a builder has put together.
pub trait Authored {
    /// Its clauses.
    fn declaration(&self) -> &Declaration;

    /// Its name.
    fn name(&self) -> &str {
        self.declaration().name()
    }

    /// It as `.peak` source, in form. Where it cannot be read, as it was put together: the front end says what is wrong.
    fn text(&self) -> String {
        printed(&[self.declaration()])
    }
}

/// Several declarations as one file's text, a blank line between.
#[must_use]
pub fn text(declarations: &[&dyn Authored]) -> String {
    printed(&declarations.iter().map(|one| one.declaration()).collect::<Vec<_>>())
}

fn printed(declarations: &[&Declaration]) -> String {
    let texts: Vec<String> = declarations.iter().map(|declaration| declaration.print()).collect();
    let text = texts.join("\n");
    format::format(&SourceFile::new("", &text)).unwrap_or(text)
}
