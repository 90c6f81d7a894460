//! Kernels of `tests/suite/count` with what each executes, worked out by hand. Shared by the test `count` and the program
//! `examples/counters`; runs nothing but what it is told to run, and judges nothing.

use indexmap::IndexMap;
use peak::backends::{self, backend};
use peak::context::launch::{ConcretePlan, concrete_plan};
use peak::context::scope::Facts;
use peak::context::source::compile_request;
use peak::context::{Configuration, ExecutionParameters, Inputs, KernelContext};
use peak::data::fill_buffer;
use peak::library::{Standard, load};
use peak::runner::{Distribution, Fill};
use peak::session::start_context;
use peak_backend_api::{Backend, Device, ProgramId};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// PTX that the simulator and the GPUs at hand share.
const TARGET: &str = "compute_90";

/// The table's name in its folder.
const FILE: &str = "counts.toml";

/// A kernel in one configuration.
pub struct Case {
    /// As its file declares it.
    pub context: KernelContext,
    /// What the table says of it.
    pub entry: Entry,
}

/// A line of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The kernel.
    pub kernel: String,
    /// Its scalars.
    pub inputs: Inputs,
    /// Its tuning parameters.
    #[serde(default)]
    pub configuration: Configuration,
    /// Metrics by name.
    #[allow(dead_code, reason = "the example that shares this file expects none")]
    pub counts: IndexMap<String, u64>,
    /// Metrics that a GPU counts otherwise, and why.
    #[serde(default)]
    #[allow(dead_code, reason = "the test has no GPU to compare with")]
    pub assembler: IndexMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    case: Vec<Entry>,
}

/// Every case of a folder, in the table's order.
///
/// # Errors
/// Words: what cannot be read.
pub fn cases(folder: &Path) -> Result<Vec<Case>, String> {
    let text = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let file = folder.join(FILE);
    let table: Table = toml::from_str(&text(&file)?).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut names: Vec<&str> = table.case.iter().map(|entry| entry.kernel.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let files: Vec<PathBuf> = names.iter().map(|name| folder.join(format!("{name}.peak"))).collect();
    let loaded = load(&files, Standard::from_environment());
    if let Some(error) = loaded.errors().next() {
        return Err(format!("{:?}", loaded.report(error)));
    }
    let case = |entry: Entry| match start_context(&loaded, &entry.kernel, "cuda") {
        Ok(context) => Ok(Case { context, entry }),
        Err(error) => Err(format!("{}: {error}", entry.kernel)),
    };
    table.case.into_iter().map(case).collect()
}

impl Case {
    /// `banks-f32, STRIDE = 4`.
    pub fn name(&self) -> String {
        let values = self.entry.configuration.iter().map(|(name, value)| format!(", {name} = {value}"));
        format!("{}{}", self.entry.kernel, values.collect::<String>())
    }

    /// Compiles and loads it, with its inputs in place.
    ///
    /// # Errors
    /// Words: what does not compile, or what the device refuses.
    pub fn set_up(&self, cuda: &dyn Backend, device: &mut dyn Device) -> Result<(ProgramId, ConcretePlan), String> {
        let facts: Facts = device.info().facts.iter().map(|(name, value)| (name.clone(), *value)).collect();
        let configuration = self.entry.configuration.clone();
        let parameters = ExecutionParameters { inputs: self.entry.inputs.clone(), configuration };
        let words = |error: &dyn std::fmt::Display| format!("{}: {error}", self.name());
        let plan = concrete_plan(&self.context, &parameters, &facts).map_err(|error| words(&error))?;
        let request = compile_request(&self.context, &self.entry.configuration, &plan, cuda, TARGET, &facts);
        let artifact = cuda.compile(&request).map_err(|error| words(&error))?;
        let program = device.load(&artifact).map_err(|error| words(&error))?;
        device.free_all();
        for buffer in &plan.buffers {
            device.allocate(&buffer.name, buffer.bytes() as u64).map_err(|error| words(&error))?;
            let fill = Fill { seed: 1, distribution: Distribution::Declared };
            device.write(&buffer.name, &fill_buffer(buffer, fill)).map_err(|error| words(&error))?;
        }
        Ok((program, plan))
    }
}

/// CUDA's compiler, where it is there; else what is not.
///
/// # Errors
/// The name of what is missing.
pub fn cuda() -> Result<Box<dyn Backend>, String> {
    let cuda = backend("cuda").ok_or("a CUDA backend in this build")?;
    match cuda.toolchains().into_iter().find(|toolchain| !toolchain.found) {
        Some(lacking) => Err(lacking.name),
        None => Ok(cuda),
    }
}

/// The first device of a runtime, opened.
///
/// # Errors
/// Words: why there is none.
pub fn open(cuda: &dyn Backend, runtime: &str) -> Result<Box<dyn Device>, String> {
    let mut runtimes = backends::runtimes(cuda).into_iter();
    let runtime = runtimes.find(|known| known.name() == runtime).ok_or_else(|| format!("no runtime {runtime}"))?;
    let devices = runtime.devices().map_err(|error| error.to_string())?;
    let first = devices.first().ok_or("no device")?;
    runtime.open(first.index).map_err(|error| error.to_string())
}
