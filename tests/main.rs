//! The test suite: one binary over the public surface, its data under `tests/suite/`.

mod lowering;
