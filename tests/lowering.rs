//! Edits, providers, plans, prompts, answers and repairs, on a MatMul that is built by hand.

mod apply;
mod blocks;
mod checks;
mod choose;
mod edit;
mod fixture;
mod injection;
mod plan;
mod prompt;
mod provider;
mod repair;
mod response;
mod rewrite;
mod rewrite_properties;
