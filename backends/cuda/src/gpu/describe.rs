//! What the driver says about a GPU, in the language's names.

use super::driver;
use crate::error::check;
use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute as Attribute};
use peak_backend_api::{DeviceInfo, DeviceKind, RuntimeError};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_int};

/// The longest name of a device, its terminator included.
const NAME_BYTES: usize = 256;

/// Facts that the driver has as attributes, in bytes and counts; clocks in kHz.
const FACTS: &[(&str, Attribute)] = &[
    ("clock_khz", Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
    ("l2", Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
    ("max_block_x", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
    ("max_block_y", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
    ("max_block_z", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
    ("max_blocks_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
    ("max_grid_x", Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
    ("max_grid_y", Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
    ("max_grid_z", Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
    ("max_threads_per_block", Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    ("max_threads_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
    ("memory_bus_bits", Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
    ("memory_clock_khz", Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
    ("multiprocessors", Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
    ("registers_per_block", Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
    ("registers_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
    ("shared_memory_per_block", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
    ("shared_memory_per_block_optin", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    ("shared_memory_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    ("shared_memory_reserved_per_block", Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
    ("warp", Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
];

/// Features, with the first compute capability that has each.
const FEATURES: &[(&str, c_int)] = &[
    ("f16", 53),
    ("f64", 13),
    ("int8", 20),
    ("int16", 20),
    ("int64", 20),
    ("storage8", 20),
    ("storage16", 20),
    ("timestamps", 20),
    ("cooperative_launch", 60),
    ("tensor_cores", 70),
    ("async_copy", 80),
    ("bf16", 80),
    ("bulk_copy", 90),
    ("clusters", 90),
];

/// Every GPU, in the driver's order.
///
/// # Errors
/// No driver, or no GPU.
pub(crate) fn devices() -> Result<Vec<DeviceInfo>, RuntimeError> {
    let version = driver::start()?;
    let mut count = 0;
    // SAFETY: a live integer; the driver is started, here and below.
    check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&mut count) })?;
    (0..count).map(|index| describe(index, version)).collect()
}

/// The driver's handle of a device of that index.
pub(super) fn handle(index: usize) -> Result<CUdevice, RuntimeError> {
    let mut device = 0;
    let index = c_int::try_from(index).unwrap_or(c_int::MAX);
    // SAFETY: a live integer; a bad index is an error.
    check("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut device, index) })?;
    Ok(device)
}

fn describe(index: c_int, version: c_int) -> Result<DeviceInfo, RuntimeError> {
    let place = usize::try_from(index).unwrap_or_default();
    let device = handle(place)?;
    let mut facts = BTreeMap::new();
    for (name, attribute) in FACTS {
        // A fact that this driver does not have is left out.
        if let Ok(value) = get(device, *attribute) {
            facts.insert((*name).to_owned(), i64::from(value));
        }
    }
    facts.insert("memory".to_owned(), memory(device)?);
    let major = get(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = get(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let integrated = get(device, Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0;
    Ok(DeviceInfo {
        index: place,
        name: name(device)?,
        backend: "cuda".to_owned(),
        runtime: "gpu".to_owned(),
        driver: format!("CUDA {}", driver::words(version)),
        kind: if integrated { DeviceKind::Integrated } else { DeviceKind::Discrete },
        facts,
        features: features(10 * major + minor),
        target: Some(target(major, minor)),
    })
}

fn get(device: CUdevice, attribute: Attribute) -> Result<c_int, RuntimeError> {
    let mut value = 0;
    // SAFETY: a live integer and a device of the driver's; an unknown attribute is an error.
    check("cuDeviceGetAttribute", unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device) })?;
    Ok(value)
}

fn memory(device: CUdevice) -> Result<i64, RuntimeError> {
    let mut bytes = 0;
    // SAFETY: a live integer and a device of the driver's.
    check("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, device) })?;
    Ok(i64::try_from(bytes).unwrap_or(i64::MAX))
}

fn name(device: CUdevice) -> Result<String, RuntimeError> {
    let mut bytes = [0u8; NAME_BYTES];
    // SAFETY: the space is as long as is said, and the driver terminates what it writes.
    check("cuDeviceGetName", unsafe { sys::cuDeviceGetName(bytes.as_mut_ptr().cast(), NAME_BYTES as c_int, device) })?;
    Ok(CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().into_owned())
}

fn features(capability: c_int) -> Vec<String> {
    FEATURES.iter().filter(|(_, first)| capability >= *first).map(|(name, _)| (*name).to_owned()).collect()
}

/// From compute capability 9.0 on an architecture has instructions of its own, which the `a` allows.
fn target(major: c_int, minor: c_int) -> String {
    format!("sm_{major}{minor}{}", if major >= 9 { "a" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_tell_target_and_features() {
        assert_eq!((target(7, 5), target(9, 0), target(12, 0)), ("sm_75".into(), "sm_90a".into(), "sm_120a".into()));
        let has = |capability, name: &str| features(capability).iter().any(|it| it == name);
        assert!(has(90, "clusters") && !has(89, "clusters") && has(75, "tensor_cores") && !has(75, "bf16"));
    }
}
