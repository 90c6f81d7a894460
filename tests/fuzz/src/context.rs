//! Kernel contexts of what a text declares, as a session makes them from files.

use peak::context::scope::Facts;
use peak::context::{CONTEXT_VERSION, Inputs, KernelContext, Regions};
use peak_grammar::ir::{ArgumentKind, Kernel, Library};

/// Facts where a text declares no device; some that requirements may read are left out on purpose.
const FACTS: [(&str, i64); 3] = [("max_threads_per_block", 1024), ("shared_memory_per_block", 48 << 10), ("warp", 32)];

/// A kernel in a language, with this device code and no macros.
pub fn context(kernel: &Kernel, backend: &str, device_code: &str) -> KernelContext {
    KernelContext {
        version: CONTEXT_VERSION,
        kernel: kernel.clone(),
        backend: backend.to_owned(),
        regions: Regions {
            device_code: device_code.to_owned(),
            host_code: kernel.host_code.clone(),
            ..Regions::default()
        },
        plan: kernel.launch.clone(),
        tuning: kernel.tuning.clone(),
        requirements: kernel.requirements.clone(),
        applied: Vec::new(),
    }
}

/// The first value of each scalar input.
pub fn inputs(kernel: &Kernel) -> Inputs {
    let first = |kind: &ArgumentKind| match kind {
        ArgumentKind::Scalar { values, .. } => values.first().copied(),
        ArgumentKind::Array { .. } => None,
    };
    kernel.arguments.iter().filter_map(|argument| Some((argument.name.clone(), first(&argument.kind)?))).collect()
}

/// Those of the first device, or a few.
pub fn facts(library: &Library) -> Facts {
    match library.devices.values().next() {
        Some(device) => device.facts_for("cuda"),
        None => FACTS.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
    }
}
