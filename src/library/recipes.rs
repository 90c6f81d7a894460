//! Recipes that a program carries: files read when it was compiled, and declarations put together while it runs.
//!
//! They are loaded by the same path as files on disk, under names of their own, and read no file.

use super::{Loaded, Standard, load_with};
use crate::error::Result;
use peak_grammar::author::Authored;
use std::borrow::Cow;

/// A file that a program carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeFile {
    pub(super) name: Cow<'static, str>,
    /// The folder that names in it are relative to.
    pub(super) folder: Cow<'static, str>,
    pub(super) text: Cow<'static, str>,
    /// Whether it holds declarations, else it is a source that one of them names.
    pub(super) declares: bool,
}

impl RecipeFile {
    /// What the macros expand to.
    #[doc(hidden)]
    #[must_use]
    pub const fn checked(name: &'static str, folder: &'static str, text: &'static str, declares: bool) -> RecipeFile {
        let (name, folder, text) = (Cow::Borrowed(name), Cow::Borrowed(folder), Cow::Borrowed(text));
        RecipeFile { name, folder, text, declares }
    }
}

/// Declarations that a program carries, to be given to a session.
///
/// `peak::include!` and `peak::recipes!` make them of files and text that were checked when the program was compiled; a
/// builder of [`crate::author`], or any text, becomes one that is checked when it is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipes {
    pub(super) files: Cow<'static, [RecipeFile]>,
}

impl Recipes {
    /// What the macros expand to.
    #[doc(hidden)]
    #[must_use]
    pub const fn checked(files: &'static [RecipeFile]) -> Recipes {
        Recipes { files: Cow::Borrowed(files) }
    }

    /// The declarations of a text that the program has from elsewhere; `name` is what diagnostics call it.
    #[must_use]
    pub fn from_text(name: &str, text: &str) -> Recipes {
        let (name, folder, text) = (name.to_owned().into(), Cow::Borrowed(""), text.to_owned().into());
        Recipes { files: Cow::Owned(vec![RecipeFile { name, folder, text, declares: true }]) }
    }

    /// Each file's name and text: declarations first, with what they use, then the sources that kernels name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|file| (&*file.name, &*file.text))
    }

    /// Reads, resolves and checks them beside the standard library, without a session.
    ///
    /// # Errors
    /// Every error in them.
    pub fn check(&self) -> Result<()> {
        load_with(&[], std::slice::from_ref(self), Standard::default()).clean().map(drop)
    }
}

impl<A: Authored> From<&A> for Recipes {
    fn from(built: &A) -> Recipes {
        Recipes::from_text(&format!("built/{}.peak", built.name()), &built.text())
    }
}

impl From<&Recipes> for Recipes {
    fn from(recipes: &Recipes) -> Recipes {
        recipes.clone()
    }
}

/// A type for each kind of declaration that a macro makes one of.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $kind {
                name: &'static str,
                recipes: Recipes,
            }

            impl $kind {
                /// What the macro expands to.
                #[doc(hidden)]
                #[must_use]
                pub const fn checked(files: &'static [RecipeFile], name: &'static str) -> $kind {
                    $kind { name, recipes: Recipes::checked(files) }
                }

                /// Its name.
                #[must_use]
                pub fn name(&self) -> &'static str {
                    self.name
                }

                /// It, with what it uses.
                #[must_use]
                pub fn recipes(&self) -> &Recipes {
                    &self.recipes
                }
            }

            impl AsRef<str> for $kind {
                fn as_ref(&self) -> &str {
                    self.name
                }
            }

            impl From<&$kind> for Recipes {
                fn from(one: &$kind) -> Recipes {
                    one.recipes.clone()
                }
            }
        )*
    };
}

kinds! {
    /// A device, as `peak::device!` makes it.
    Device
    /// A kernel, as `peak::kernel!` makes it.
    Kernel
    /// A pack, as `peak::pack!` makes it.
    Pack
    /// A transformation, as `peak::transformation!` makes it.
    Transformation
    /// A utility, as `peak::utility!` makes it.
    Utility
    /// A workflow, as `peak::workflow!` makes it.
    Workflow
}

/// Several errors of the files that were loaded.
#[derive(Debug)]
pub struct WrongRecipes {
    found: Vec<miette::Report>,
}

impl WrongRecipes {
    pub(super) fn of(loaded: &Loaded) -> WrongRecipes {
        WrongRecipes { found: loaded.errors().map(|error| loaded.report(error)).collect() }
    }
}

impl std::fmt::Display for WrongRecipes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the recipes have {} errors", self.found.len())
    }
}

impl std::error::Error for WrongRecipes {}

impl miette::Diagnostic for WrongRecipes {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new("peak::wrong-recipes"))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new("each is told below"))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        Some(Box::new(self.found.iter().map(|report| &**report as &dyn miette::Diagnostic)))
    }
}
