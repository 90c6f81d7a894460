//! Clocks, heat and power of a GPU through NVML, which comes with the driver. Changes no setting.

use super::context::Context;
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use peak_backend_api::{Conditions, HeldDown};
use std::sync::OnceLock;

/// What each of the driver's reasons comes to; reasons that say nothing of a busy GPU are left out.
const REASONS: [(ThrottleReasons, HeldDown); 7] = [
    (ThrottleReasons::SW_POWER_CAP, HeldDown::PowerLimit),
    (ThrottleReasons::HW_SLOWDOWN, HeldDown::Brake),
    (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, HeldDown::Brake),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, HeldDown::Heat),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, HeldDown::Heat),
    (ThrottleReasons::APPLICATIONS_CLOCKS_SETTING, HeldDown::Setting),
    (ThrottleReasons::SYNC_BOOST, HeldDown::Setting),
];

/// A GPU as NVML knows it.
pub(super) struct Monitor {
    nvml: &'static Nvml,
    bus_id: String,
}

impl Monitor {
    /// `None` where NVML is not there or does not know the device.
    pub fn of(context: &Context) -> Option<Monitor> {
        static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
        let nvml = NVML.get_or_init(|| Nvml::init().ok()).as_ref()?;
        let bus_id = context.bus_id()?;
        nvml.device_by_pci_bus_id(bus_id.as_str()).ok()?;
        Some(Monitor { nvml, bus_id })
    }

    /// How it fares now; what it does not tell is `None`.
    pub fn conditions(&self) -> Conditions {
        let Ok(device) = self.nvml.device_by_pci_bus_id(self.bus_id.as_str()) else { return Conditions::default() };
        Conditions {
            clock_mhz: device.clock_info(Clock::SM).ok(),
            memory_clock_mhz: device.clock_info(Clock::Memory).ok(),
            temperature_c: device.temperature(TemperatureSensor::Gpu).ok(),
            power_mw: device.power_usage().ok(),
            held_down: device.current_throttle_reasons().map(held_down).unwrap_or_default(),
        }
    }
}

/// Each reason once, in order.
fn held_down(reasons: ThrottleReasons) -> Vec<HeldDown> {
    let mut found: Vec<HeldDown> =
        REASONS.iter().filter(|(reason, _)| reasons.contains(*reason)).map(|(_, why)| *why).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_words_and_an_idle_gpu_has_none() {
        assert_eq!(held_down(ThrottleReasons::GPU_IDLE), []);
        let hot = ThrottleReasons::HW_SLOWDOWN | ThrottleReasons::HW_THERMAL_SLOWDOWN | ThrottleReasons::SW_POWER_CAP;
        assert_eq!(held_down(hot), [HeldDown::PowerLimit, HeldDown::Heat, HeldDown::Brake]);
    }
}
