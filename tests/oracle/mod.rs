//! The oracle, the generator of data and the outputs validator, on IR built by hand and on whole kernels.

mod build;
mod composed;
mod evaluate;
mod fake;
mod freivalds;
mod generator;
mod kernels;
mod pattern;
mod sample;
mod tolerance;
mod validator;
