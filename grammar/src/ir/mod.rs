//! The resolved, typed form of what a `.peak` file says: names resolved, units folded, expressions typed.
//!
//! Plain data. It is what every later stage reads, it serializes as versioned JSON ([`IR_VERSION`]), and it never
//! touches a file, a clock or a device. Declarations keep an [`Origin`] so that later stages can point home.

mod build;
mod computes;
mod device;
mod expr;
mod kernel;
mod launch;
mod library;
mod prose;
mod region;
mod target;
mod text;
mod transformation;
mod values;
mod workflow;

pub use build::*;
pub use computes::*;
pub use device::*;
pub use expr::*;
pub use kernel::*;
pub use launch::*;
pub use library::*;
pub use prose::*;
pub use region::*;
pub use target::*;
pub use text::print_launch_plan;
pub use transformation::*;
pub use values::*;
pub use workflow::*;

/// Version of the JSON form of everything in this module. Raised whenever a field changes its meaning.
pub const IR_VERSION: u32 = 1;
