//! A CUDA device on the host: real kernels, compiled to PTX, run and checked on a machine without a GPU.
//!
//! The way of a kernel: PTX text -> a syntax tree (`ptx`) -> a register IR (`ir`) -> one host function an entry
//! (`generate`, through Cranelift), which executes one thread -> a launch (`machine`), whose blocks are spread over the
//! cores and whose threads are coroutines where they wait for each other.
//!
//! In another mode a launch is counted (`count`): what each warp executes and touches, instruction by instruction.
//!
//! Every access to memory is checked for bounds and alignment before it is made. A fault ends the launch with words
//! that name the buffer, the block and thread, the element and the source line. What is not modelled is an error when
//! the program is loaded, never a wrong result. The simulator has no clock: it never says how fast a kernel is.

mod count;
mod device;
mod facts;
mod generate;
mod host;
mod interface;
mod ir;
mod launch;
mod machine;
mod program;
mod ptx;
mod runtime;

pub use device::SimDevice;
pub use runtime::SimRuntime;

use peak_backend_api::Runtime;

/// The runtime `sim`, which runs PTX.
#[must_use]
pub fn runtime() -> Box<dyn Runtime> {
    Box::new(SimRuntime::default())
}

/// The instructions that are translated, as the table of `spec/simulator.md`: one row an opcode.
#[must_use]
pub fn instruction_table() -> String {
    let mut table = String::from("| instruction | modifiers | types |\n| --- | --- | --- |\n");
    for opcode in generate::opcodes::OPCODES {
        table.push_str(&format!("| `{}` | {} | {} |\n", opcode.name, opcode.modifiers, opcode.types));
    }
    table
}
