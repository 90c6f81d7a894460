//! All that is declared, by kind and name.

use super::{Build, Device, Kernel, Pack, Transformation, Utility, Workflow};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Where a declaration stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The file's name as it was given to the front end.
    pub file: String,
    /// Byte offset of the first character.
    pub start: usize,
    /// Byte offset past the last.
    pub end: usize,
}

/// Every declaration of a set of files. Packs hold their own transformations and workflows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Library {
    /// [`super::IR_VERSION`].
    pub version: u32,
    /// Kernels.
    pub kernels: IndexMap<String, Kernel>,
    /// Utilities.
    pub utilities: IndexMap<String, Utility>,
    /// Transformations outside packs.
    pub transformations: IndexMap<String, Transformation>,
    /// Devices.
    pub devices: IndexMap<String, Device>,
    /// Packs.
    pub packs: IndexMap<String, Pack>,
    /// Workflows outside packs; several may share a name, so this is a list.
    pub workflows: Vec<Workflow>,
    /// Builds.
    #[serde(default)]
    pub builds: IndexMap<String, Build>,
}
