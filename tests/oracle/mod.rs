//! The oracle, the generator of data and the outputs validator, on IR built by hand.

mod build;
mod evaluate;
mod fake;
mod generator;
mod pattern;
mod tolerance;
mod validator;
