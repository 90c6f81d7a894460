//! A GPU through CUDA's driver: memory by name, modules, launches, events. Loaded at run time; knows no compiler.

mod arguments;
mod context;
mod describe;
mod device;
mod driver;
mod gate;
mod launch;
mod library;
mod memory;
mod monitor;
mod program;
mod resident;
mod shape;
mod tensor_map;
mod time;

pub(crate) use context::Context;
pub(crate) use describe::devices;
pub(crate) use device::GpuDevice;
