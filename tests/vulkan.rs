//! The Vulkan device that tests run on, through the `peak` program: one probe for the suite, and a counted skip where
//! there is none.

use peak::runner::{BackendInventory, WorkerProgram, inventory};
use peak::session::{Machine, MachineOptions};
use peak_backend_api::DeviceInfo;
use peak_grammar::ir::Library;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

static FOUND: LazyLock<Result<(BackendInventory, DeviceInfo), String>> = LazyLock::new(probe);
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// The program that workers are.
pub fn program() -> WorkerProgram {
    WorkerProgram::at(Path::new(env!("CARGO_BIN_EXE_peak")))
}

/// The device and its backend. Without a device or its compiler: a counted skip, or a failure where `PEAK_REQUIRE`
/// holds `hlsl`.
pub fn device() -> Option<(BackendInventory, DeviceInfo)> {
    match &*FOUND {
        Ok(found) => Some(found.clone()),
        Err(why) => {
            let required = std::env::var("PEAK_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "hlsl"), "PEAK_REQUIRE names hlsl: {why}");
            let skipped = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
            // Past the harness, which shows what is printed by failures only.
            let thread = std::thread::current();
            let line = format!("skipped ({skipped}): {}: {why}\n", thread.name().unwrap_or("a test"));
            let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
            None
        }
    }
}

/// The machine, opened; as [`device`] where there is none.
pub fn machine(library: &Library) -> Option<Machine> {
    device()?;
    let options = MachineOptions { backend: Some("hlsl".to_owned()), quiet: true, ..MachineOptions::default() };
    Some(Machine::open_with(program(), library, &options).expect("the device opens"))
}

fn probe() -> Result<(BackendInventory, DeviceInfo), String> {
    let found = inventory(&program()).expect("the worker starts");
    let missing = |what: &str| Err(what.to_owned());
    let Some(backend) = found.backends.into_iter().find(|backend| backend.name == "hlsl") else {
        return missing("this build has no HLSL backend");
    };
    if let Some(lacks) = backend.toolchains.iter().find(|toolchain| !toolchain.found) {
        return missing(&format!("there is no {}", lacks.name));
    }
    match found.devices.into_iter().find(|device| device.backend == "hlsl") {
        Some(device) => Ok((backend, device)),
        None => missing(&format!("no Vulkan device: {:?}", found.missing)),
    }
}
