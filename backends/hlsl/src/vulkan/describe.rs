//! What a driver says about a device, in the language's names.

use ash::vk;
use peak_backend_api::{DeviceInfo, DeviceKind};
use std::collections::BTreeMap;
use std::ffi::CStr;

/// Describes a device; `None` where it is older than Vulkan 1.3 or has no compute queue. Its index is set by the list.
pub(super) fn describe(instance: &ash::Instance, device: vk::PhysicalDevice) -> Option<DeviceInfo> {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut driver).push_next(&mut subgroup);
    // SAFETY: the device belongs to the instance; the first call tells whether the chain's structures are known to it.
    let properties = unsafe { instance.get_physical_device_properties(device) };
    if properties.api_version < vk::API_VERSION_1_3 {
        return None;
    }
    // SAFETY: as above, and every structure of the chain is of Vulkan 1.2 or before.
    unsafe { instance.get_physical_device_properties2(device, &mut all) };
    let valid_bits = queue_family(instance, device)?.1;
    let mut facts = limits(&properties.limits);
    facts.insert("warp".to_owned(), i64::from(subgroup.subgroup_size));
    Some(DeviceInfo {
        index: 0,
        name: text(properties.device_name_as_c_str()),
        backend: "hlsl".to_owned(),
        runtime: "vulkan".to_owned(),
        driver: driver_words(&driver),
        kind: kind(properties.device_type),
        facts,
        features: features(instance, device, valid_bits),
        target: None,
    })
}

/// The queue family that runs our work, and how many bits of its timestamps count: one that can time, if any can.
pub(super) fn queue_family(instance: &ash::Instance, device: vk::PhysicalDevice) -> Option<(u32, u32)> {
    // SAFETY: the device belongs to the instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(device) };
    let compute =
        families.iter().enumerate().filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    // `max_by_key` gives the last of equals; the first is wanted.
    compute
        .rev()
        .max_by_key(|(_, family)| family.timestamp_valid_bits.min(1))
        .map(|(index, family)| (index as u32, family.timestamp_valid_bits))
}

fn limits(limits: &vk::PhysicalDeviceLimits) -> BTreeMap<String, i64> {
    let [block_x, block_y, block_z] = limits.max_compute_work_group_size;
    let [grid_x, grid_y, grid_z] = limits.max_compute_work_group_count;
    [
        ("max_threads_per_block", limits.max_compute_work_group_invocations),
        ("max_block_x", block_x),
        ("max_block_y", block_y),
        ("max_block_z", block_z),
        ("max_grid_x", grid_x),
        ("max_grid_y", grid_y),
        ("max_grid_z", grid_z),
        ("shared_memory_per_block", limits.max_compute_shared_memory_size),
        ("max_buffer_bytes", limits.max_storage_buffer_range),
    ]
    .map(|(name, value)| (name.to_owned(), i64::from(value)))
    .into()
}

fn features(instance: &ash::Instance, device: vk::PhysicalDevice, valid_bits: u32) -> Vec<String> {
    let mut eleven = vk::PhysicalDeviceVulkan11Features::default();
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut eleven).push_next(&mut twelve);
    // SAFETY: the device belongs to the instance and is of Vulkan 1.3.
    unsafe { instance.get_physical_device_features2(device, &mut all) };
    let core = all.features;
    let named = [
        ("f16", twelve.shader_float16 == vk::TRUE),
        ("f64", core.shader_float64 == vk::TRUE),
        ("int8", twelve.shader_int8 == vk::TRUE),
        ("int16", core.shader_int16 == vk::TRUE),
        ("int64", core.shader_int64 == vk::TRUE),
        ("storage8", twelve.storage_buffer8_bit_access == vk::TRUE),
        ("storage16", eleven.storage_buffer16_bit_access == vk::TRUE),
        ("timestamps", valid_bits > 0),
    ];
    named.into_iter().filter(|(_, there)| *there).map(|(name, _)| name.to_owned()).collect()
}

fn kind(kind: vk::PhysicalDeviceType) -> DeviceKind {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::CPU => DeviceKind::Software,
        _ => DeviceKind::Virtual,
    }
}

fn driver_words(driver: &vk::PhysicalDeviceDriverProperties) -> String {
    let name = text(driver.driver_name_as_c_str());
    format!("{name} {}", text(driver.driver_info_as_c_str())).trim().to_owned()
}

fn text(name: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
