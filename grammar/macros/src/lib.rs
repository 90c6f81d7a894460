//! Peak's recipes in Rust programs: read, resolved and checked by Peak's own front end when the program is compiled.
//!
//! A wrong recipe is an error of the compilation, with the diagnostic that `peak check` would print. A right one becomes a
//! value of `peak::library` that carries its text, and that of everything it names, so that the program needs no file
//! when it runs. Nothing here compiles a kernel or looks at a device; patterns of mechanical steps are parsed when a
//! session opens.

mod check;
mod expand;
mod gather;
mod inline;

use expand::Form;
use proc_macro::TokenStream;

/// The recipes of `.peak` files, as a `peak::library::Recipes`: `peak::include!("recipes/tiling.peak")`.
///
/// A path is relative to the folder of the calling package's `Cargo.toml`. Several may be given, parted by commas; all
/// are one library, and what they `use` and the sources that their kernels name are included too. Cargo builds the
/// program again where one of these files changes.
#[proc_macro]
pub fn include(input: TokenStream) -> TokenStream {
    expand::expand(input, Form::Files)
}

/// Recipes of any kind, written in the program: `peak::recipes!(r#"..."#)`, as a `peak::library::Recipes`.
///
/// The text is one string literal, indented as the program likes it. Paths in it (`use "..."`, `from "..."`) are relative
/// to the folder of the calling package's `Cargo.toml`.
#[proc_macro]
pub fn recipes(input: TokenStream) -> TokenStream {
    expand::expand(input, Form::Text)
}

macro_rules! of_one_kind {
    ($($name:ident $kind:literal $made:literal)*) => {
        $(
            #[doc = concat!("A ", $kind, ", written in the program, as a `peak::library::", $made, "`.")]
            ///
            /// The text declares one, and what else it needs. For the rest it is as `peak::recipes!`.
            #[proc_macro]
            pub fn $name(input: TokenStream) -> TokenStream {
                expand::expand(input, Form::One { kind: $kind, made: $made })
            }
        )*
    };
}

of_one_kind! {
    device "device" "Device"
    kernel "kernel" "Kernel"
    pack "pack" "Pack"
    transformation "transformation" "Transformation"
    utility "utility" "Utility"
    workflow "workflow" "Workflow"
}
