//! From a macro's arguments to its expansion: a value that carries the files, or the errors.

use crate::check::check;
use crate::gather::{File, Gathering};
use crate::inline::Inline;
use peak_grammar::syntax::ast::Declaration;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::path::PathBuf;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, LitStr, Token};

/// What a macro takes and makes.
#[derive(Clone, Copy)]
pub enum Form {
    /// Paths; recipes.
    Files,
    /// A text; recipes.
    Text,
    /// A text with one declaration of a kind; that one.
    One {
        /// `transformation`.
        kind: &'static str,
        /// Its type in `peak::library`.
        made: &'static str,
    },
}

/// The expansion; of wrong recipes, what is wrong with them.
pub fn expand(input: proc_macro::TokenStream, form: Form) -> proc_macro::TokenStream {
    made(input.into(), form).unwrap_or_else(|error| in_block(&error)).into()
}

/// Several errors where one expression is expected.
fn in_block(error: &Error) -> TokenStream {
    let errors = error.to_compile_error();
    quote! { { #errors } }
}

fn made(input: TokenStream, form: Form) -> Result<TokenStream, Error> {
    let literals = Punctuated::<LitStr, Token![,]>::parse_terminated.parse2(input)?;
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let mut gathering = Gathering::new(PathBuf::from(variable("CARGO_MANIFEST_DIR")));
    let inline = match form {
        Form::Files => {
            if literals.is_empty() {
                return Err(Error::new(Span::call_site(), "name a file: `peak::include!(\"recipes/tiling.peak\")`"));
            }
            for literal in &literals {
                gathering.file(&literal.value(), literal.span(), None);
            }
            None
        }
        Form::Text | Form::One { .. } => {
            let inline = Inline::of(only(&literals)?);
            gathering.inline(&inline);
            Some(inline)
        }
    };
    check(&mut gathering, inline.as_ref()).map_err(combined)?;
    let package = variable("CARGO_PKG_NAME");
    let files = gathering.files.iter().map(|file| carried(file, &package));
    let files = quote! { const FILES: &[::peak::library::RecipeFile] = &[#(#files),*]; };
    let value = match form {
        Form::Files | Form::Text => quote! { ::peak::library::Recipes::checked(FILES) },
        Form::One { kind, made } => {
            let name = declared(&gathering.files[0], kind)?;
            let made = syn::Ident::new(made, Span::call_site());
            quote! { ::peak::library::#made::checked(FILES, #name) }
        }
    };
    Ok(quote! { { #files #value } })
}

fn only(literals: &Punctuated<LitStr, Token![,]>) -> Result<&LitStr, Error> {
    let wrong = || Error::new(Span::call_site(), "one string literal holds the text: `r#\"...\"#`");
    literals.first().filter(|_| literals.len() == 1).ok_or_else(wrong)
}

/// One error a diagnostic.
fn combined(found: Vec<(String, Span)>) -> Error {
    let errors = found.into_iter().map(|(rendered, place)| Error::new(place, rendered));
    let all = errors.reduce(|mut all, next| {
        all.combine(next);
        all
    });
    all.unwrap_or_else(|| Error::new(Span::call_site(), "the recipes are wrong"))
}

/// The name of the one declaration of a kind that a text holds.
fn declared(file: &File, kind: &str) -> Result<String, Error> {
    let (parsed, _) = peak_grammar::parse(&file.source);
    let names: Vec<&str> = parsed.declarations.iter().filter_map(|one| of_kind(one, kind)).collect();
    match names.as_slice() {
        [name] => Ok((*name).to_owned()),
        names => {
            let message = format!(
                "this text declares {} of the kind `{kind}`, and one is expected; `peak::recipes!` takes any number",
                names.len()
            );
            Err(Error::new(file.place, message))
        }
    }
}

fn of_kind<'d>(declaration: &'d Declaration, wanted: &str) -> Option<&'d str> {
    let (kind, header) = match declaration {
        Declaration::Kernel(block) => ("kernel", &block.header),
        Declaration::Utility(block) => ("utility", &block.header),
        Declaration::Transformation(block) => ("transformation", &block.header),
        Declaration::Device(block) => ("device", &block.header),
        Declaration::Pack(block) => ("pack", &block.header),
        Declaration::Workflow(block) => ("workflow", &block.header),
        Declaration::Build(block) => ("build", &block.header),
    };
    (kind == wanted).then_some(header.name.value.as_str())
}

/// A file in the expansion. Files on disk come in by `include_str!`, which is how Cargo learns of them.
fn carried(file: &File, package: &str) -> TokenStream {
    let within = |path: &str| match path {
        "" => package.to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("{package}/{path}"),
    };
    let (name, text) = match &file.disk {
        Some(disk) => {
            let disk = disk.to_string_lossy();
            (within(&file.name), quote! { include_str!(#disk) })
        }
        None => {
            let text = String::from_utf8_lossy(&file.source.bytes);
            (file.name.clone(), quote! { #text })
        }
    };
    let (folder, declares) = (within(&file.folder), file.declares);
    quote! { ::peak::library::RecipeFile::checked(#name, #folder, #text, #declares) }
}
