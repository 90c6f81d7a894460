//! Edits, providers, plans, prompts, answers and repairs, on a MatMul that is built by hand.

mod apply;
mod checks;
mod choose;
mod edit;
mod fixture;
mod plan;
mod prompt;
mod provider;
mod response;
mod rewrite;
mod rewrite_properties;
