//! Under which conditions runs are timed. Plain data; reads no clock.

use serde::{Deserialize, Serialize};

/// What the device's caches hold when a timed run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caches {
    /// What the same launches left there just before.
    Warm,
    /// Nothing of the run's data: more memory than they hold was written over.
    Cold,
}

/// What a device says of itself while it is timed. A field is `None` where its driver does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// Clock of the multiprocessors, in MHz.
    pub clock_mhz: Option<u32>,
    /// Clock of the memory, in MHz.
    pub memory_clock_mhz: Option<u32>,
    /// Temperature of the chip, in degrees Celsius.
    pub temperature_c: Option<u32>,
    /// Power that is drawn, in milliwatts.
    pub power_mw: Option<u32>,
    /// Why its clocks are held down: a limit of power, heat, a brake. Empty where they are not, or where nobody tells.
    pub held_down: Vec<HeldDown>,
}

/// Why a device's clocks are held down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldDown {
    /// It draws all the power that it may: usual under a heavy load, and lasting.
    PowerLimit,
    /// It is too hot.
    Heat,
    /// An outside signal, such as that of the power supply.
    Brake,
    /// Somebody set its clocks.
    Setting,
}

impl HeldDown {
    /// The reason, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            HeldDown::PowerLimit => "the power limit",
            HeldDown::Heat => "heat",
            HeldDown::Brake => "a brake from outside",
            HeldDown::Setting => "a setting",
        }
    }

    /// Whether it spoils a sample: it comes and goes, so that a repetition helps.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(self, HeldDown::Heat | HeldDown::Brake)
    }
}

impl Conditions {
    /// Whether a sample that was taken under them is to be repeated.
    #[must_use]
    pub fn spoil(&self) -> bool {
        self.held_down.iter().any(|why| why.passes())
    }
}
