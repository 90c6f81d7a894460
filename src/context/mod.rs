//! The kernel context: all that is needed to compile, run and judge a kernel. A transformation turns one into another.
//!
//! Plain data and pure functions. A context is content-addressed ([`KernelContext::hash`]); nothing in it names a
//! device, a time or a tuned value. [`launch`] turns it and one choice of execution parameters into concrete numbers,
//! [`source`] into the text that a backend compiles.

pub mod launch;
pub mod scope;
pub mod source;
pub(crate) mod tensor_map;

use indexmap::IndexMap;
use peak_grammar::ir::{Kernel, LaunchPlan, Region, Requirement, TuningParameter};
use serde::{Deserialize, Serialize};

/// Version of the JSON form of a context; part of its hash.
pub const CONTEXT_VERSION: u32 = 1;

/// One assignment of every tuning parameter.
pub type Configuration = IndexMap<String, i64>;

/// One assignment of every scalar input.
pub type Inputs = IndexMap<String, i64>;

/// One full choice of inputs and tuning parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionParameters {
    /// Scalar inputs.
    pub inputs: Inputs,
    /// Tuning parameters.
    pub configuration: Configuration,
}

/// The three regions' text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regions {
    /// `#define`s and small device functions.
    pub macros: String,
    /// Entry points.
    pub device_code: String,
    /// The launch plan's text.
    pub host_code: String,
}

impl Regions {
    /// The text of a region.
    #[must_use]
    pub fn get(&self, region: Region) -> &str {
        match region {
            Region::Macros => &self.macros,
            Region::DeviceCode => &self.device_code,
            Region::HostCode => &self.host_code,
        }
    }

    /// The text of a region, to be changed.
    pub fn get_mut(&mut self, region: Region) -> &mut String {
        match region {
            Region::Macros => &mut self.macros,
            Region::DeviceCode => &mut self.device_code,
            Region::HostCode => &mut self.host_code,
        }
    }
}

/// A kernel in one language, as it stands after the transformations applied so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelContext {
    /// [`CONTEXT_VERSION`].
    pub version: u32,
    /// The declaration: arguments, oracle, tolerance, types. Its own code, tuning and requirements are only the start.
    pub kernel: Kernel,
    /// `cuda`, `hip`, `hlsl`.
    pub backend: String,
    /// The source as it stands.
    pub regions: Regions,
    /// The host region, parsed.
    pub plan: LaunchPlan,
    /// Tuning parameters as they stand.
    pub tuning: Vec<TuningParameter>,
    /// Requirements as they stand.
    pub requirements: Vec<Requirement>,
    /// Transformations applied, in order.
    pub applied: Vec<String>,
}

impl KernelContext {
    /// The content address: SHA-256 of what can change a result or a time, in hex.
    ///
    /// The declaration's place in a file, titles and the history do not count.
    #[must_use]
    pub fn hash(&self) -> String {
        let counted = serde_json::json!({
            "version": self.version,
            "backend": self.backend,
            "name": self.kernel.name,
            "computes": self.kernel.computes,
            "element": self.kernel.element,
            "accumulator": self.kernel.accumulator,
            "arguments": self.kernel.arguments,
            "tolerance": self.kernel.tolerance,
            "regions": self.regions,
            "tuning": self.tuning.iter().map(|p| (&p.name, &p.values, &p.start)).collect::<Vec<_>>(),
            "requirements": self.requirements.iter().map(|r| (&r.name, &r.condition)).collect::<Vec<_>>(),
        });
        crate::hash::hex(counted.to_string().as_bytes())
    }

    /// A tuning parameter by name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&TuningParameter> {
        self.tuning.iter().find(|parameter| parameter.name == name)
    }

    /// Every tuning parameter at its start; not necessarily valid.
    #[must_use]
    pub fn start(&self) -> Configuration {
        self.tuning.iter().filter_map(|p| Some((p.name.clone(), p.start_value()?))).collect()
    }
}
