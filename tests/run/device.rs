//! Compiles kernels of the corpus and runs them on an open device, in this process. Judges no result.

use super::Outputs;
use peak::context::launch::{BufferRole, ConcretePlan};
use peak::context::scope::Facts;
use peak::context::source::compile_request;
use peak::context::{Configuration, KernelContext};
use peak::data::fill_buffer;
use peak::runner::Fill;
use peak_backend_api::{Artifact, Backend, Device, ProgramId, Runtime, RuntimeError};

/// PTX of the one architecture that the simulator and the GPUs at hand share, so that both run the same text.
const TARGET: &str = "compute_90";

/// The first device of a runtime, opened.
///
/// # Errors
/// As [`Runtime::devices`] and [`Runtime::open`].
pub fn open(runtime: &dyn Runtime) -> Result<Box<dyn Device>, RuntimeError> {
    match runtime.devices()?.first() {
        Some(first) => runtime.open(first.index),
        None => Err(RuntimeError::NoDevice { index: 0, count: 0 }),
    }
}

/// What a device says of itself.
pub fn facts(device: &dyn Device) -> Facts {
    device.info().facts.iter().map(|(name, value)| (name.clone(), *value)).collect()
}

/// A context in one configuration, as PTX. `plan` is for the same configuration.
///
/// # Errors
/// The compiler's words.
pub fn compile(
    backend: &dyn Backend,
    context: &KernelContext,
    configuration: &Configuration,
    plan: &ConcretePlan,
    facts: &Facts,
) -> Result<Artifact, String> {
    let request = compile_request(context, configuration, plan, backend, TARGET, facts);
    backend.compile(&request).map_err(|error| error.to_string())
}

/// Fills inputs, poisons the rest, runs once, reads every output.
///
/// # Errors
/// Words: what the device refused, or an input that the kernel changed.
pub fn run(device: &mut dyn Device, program: ProgramId, plan: &ConcretePlan, fill: Fill) -> Result<Outputs, String> {
    attempt(device, program, plan, fill)
        .map_err(|error| error.to_string())?
        .map_err(|input| format!("the kernel changed its input {input}"))
}

fn attempt(
    device: &mut dyn Device,
    program: ProgramId,
    plan: &ConcretePlan,
    fill: Fill,
) -> Result<Result<Outputs, String>, RuntimeError> {
    device.free_all();
    for buffer in &plan.buffers {
        device.allocate(&buffer.name, buffer.bytes() as u64)?;
        device.write(&buffer.name, &fill_buffer(buffer, fill))?;
    }
    device.run(program, &plan.sequence)?;
    let mut outputs = Outputs::new();
    for buffer in &plan.buffers {
        match buffer.role {
            BufferRole::Scratch => {}
            BufferRole::Input(_) => {
                if device.read(&buffer.name)? != fill_buffer(buffer, fill) {
                    return Ok(Err(buffer.name.clone()));
                }
            }
            BufferRole::Output | BufferRole::InOut(_) => {
                outputs.insert(buffer.name.clone(), device.read(&buffer.name)?);
            }
        }
    }
    Ok(Ok(outputs))
}
