//! The oracle, the generator of data and the outputs validator, on IR built by hand.

mod build;
mod evaluate;
mod generator;
