//! The three regions of a kernel context.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of a kernel context that a pass may address; a model call can change only its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// `#define`s and small device functions that the device code uses.
    Macros,
    /// The kernel's entry points.
    DeviceCode,
    /// The launch plan.
    HostCode,
}

impl Region {
    /// Every region, in the order in which they stand in the assembled source.
    pub const ALL: [Region; 3] = [Region::Macros, Region::DeviceCode, Region::HostCode];

    /// The words of the language: `macros`, `device code`, `host code`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Region::Macros => "macros",
            Region::DeviceCode => "device code",
            Region::HostCode => "host code",
        }
    }

    /// The name in file names: `macros`, `device-code`, `host-code`.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Region::Macros => "macros",
            Region::DeviceCode => "device-code",
            Region::HostCode => "host-code",
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
