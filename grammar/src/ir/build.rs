//! Builds: many kernels, sizes and devices through one workflow.

use super::Origin;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// `build NAME`: every kernel at every size on every device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// `kebab-case` name.
    pub name: String,
    /// One line.
    pub title: Option<String>,
    /// `kernels NAME, ...`.
    pub kernels: Vec<String>,
    /// `sizes INPUT in VALUES`: in place of the kernels' main values. An input that a kernel lacks does not count for it.
    pub sizes: IndexMap<String, Vec<i64>>,
    /// `for devices NAME, ...`.
    pub devices: Vec<String>,
    /// `using workflow NAME`: the most specific one for each device.
    pub workflow: String,
    /// `output "FOLDER"`, as it was written.
    pub output: Option<String>,
    /// Combinations of kernel, sizes and device: the cross product, of each kernel's own inputs. Saturates.
    pub combinations: u64,
    /// Where it was declared.
    pub origin: Origin,
}
