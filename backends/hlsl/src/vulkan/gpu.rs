//! One logical device with its queue: what every other object here is made of, and goes before.

use super::describe;
use super::instance::Instance;
use crate::error::driver;
use ash::vk;
use peak_backend_api::{DeviceInfo, RuntimeError};

/// A logical device, its queue and a pool of command buffers. Shared by reference count; the last owner frees it.
pub(crate) struct Gpu {
    pub raw: ash::Device,
    pub queue: vk::Queue,
    pub commands: vk::CommandPool,
    pub info: DeviceInfo,
    pub limits: vk::PhysicalDeviceLimits,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    /// How many bits of a timestamp count; 0 where there are none.
    pub timestamp_bits: u32,
    // Goes after the device.
    _instance: Instance,
}

impl Gpu {
    /// Opens a device of the instance, with every feature that our code may use and the device has.
    ///
    /// # Errors
    /// A driver that refuses.
    pub fn new(instance: Instance, physical: vk::PhysicalDevice, info: DeviceInfo) -> Result<Gpu, RuntimeError> {
        // SAFETY: the device belongs to the instance, in these calls and the next.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
        // SAFETY: as above.
        let memory = unsafe { instance.raw.get_physical_device_memory_properties(physical) };
        let Some((family, timestamp_bits)) = describe::queue_family(&instance.raw, physical) else {
            return Err(RuntimeError::Missing {
                what: "a compute queue".to_owned(),
                reason: info.name,
                mend: "choose another device".to_owned(),
            });
        };
        let raw = open(&instance.raw, physical, family)?;
        // SAFETY: one queue of this family was asked for.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        let pool = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device is live and the structure valid.
        let commands = match unsafe { raw.create_command_pool(&pool, None) } {
            Ok(commands) => commands,
            Err(code) => {
                // SAFETY: nothing was made of the device yet.
                unsafe { raw.destroy_device(None) };
                return Err(driver("vkCreateCommandPool")(code));
            }
        };
        Ok(Gpu { raw, queue, commands, info, limits: properties.limits, memory, timestamp_bits, _instance: instance })
    }

    /// Submits a recorded command buffer and waits for it.
    ///
    /// The wait has no deadline of its own: whoever runs the process has one.
    ///
    /// # Errors
    /// A lost device, or a driver that refuses.
    pub fn submit(&self, commands: vk::CommandBuffer, fence: vk::Fence) -> Result<(), RuntimeError> {
        let buffers = [commands];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the buffer is recorded and not in flight, the fence unsignaled: we wait for every submission.
        unsafe {
            self.raw.queue_submit(self.queue, &[submit], fence).map_err(driver("vkQueueSubmit"))?;
            self.raw.wait_for_fences(&[fence], true, u64::MAX).map_err(driver("vkWaitForFences"))?;
            self.raw.reset_fences(&[fence]).map_err(driver("vkResetFences"))
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: all objects of the device hold a reference to it, so none is left; a lost device may be destroyed too.
        unsafe {
            // A device that is lost cannot wait, and is destroyed all the same.
            let _ = self.raw.device_wait_idle();
            self.raw.destroy_command_pool(self.commands, None);
            self.raw.destroy_device(None);
        }
    }
}

fn open(instance: &ash::Instance, physical: vk::PhysicalDevice, family: u32) -> Result<ash::Device, RuntimeError> {
    let (core, mut eleven, mut twelve, mut thirteen) = wanted(instance, physical);
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .features(core)
        .push_next(&mut eleven)
        .push_next(&mut twelve)
        .push_next(&mut thirteen);
    let queue = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let create = vk::DeviceCreateInfo::default().queue_create_infos(&queue).push_next(&mut features);
    // SAFETY: the device belongs to the instance, and only features that it has are asked for.
    unsafe { instance.create_device(physical, &create, None) }.map_err(driver("vkCreateDevice"))
}

type Features<'a> = (
    vk::PhysicalDeviceFeatures,
    vk::PhysicalDeviceVulkan11Features<'a>,
    vk::PhysicalDeviceVulkan12Features<'a>,
    vk::PhysicalDeviceVulkan13Features<'a>,
);

/// What the device has of what SPIR-V from DXC may declare.
fn wanted<'a>(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Features<'a> {
    let mut eleven = vk::PhysicalDeviceVulkan11Features::default();
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
    let mut thirteen = vk::PhysicalDeviceVulkan13Features::default();
    let mut all =
        vk::PhysicalDeviceFeatures2::default().push_next(&mut eleven).push_next(&mut twelve).push_next(&mut thirteen);
    // SAFETY: the device belongs to the instance and is of Vulkan 1.3.
    unsafe { instance.get_physical_device_features2(physical, &mut all) };
    let has = all.features;
    let core = vk::PhysicalDeviceFeatures {
        shader_float64: has.shader_float64,
        shader_int16: has.shader_int16,
        shader_int64: has.shader_int64,
        ..Default::default()
    };
    (
        core,
        vk::PhysicalDeviceVulkan11Features {
            storage_buffer16_bit_access: eleven.storage_buffer16_bit_access,
            uniform_and_storage_buffer16_bit_access: eleven.uniform_and_storage_buffer16_bit_access,
            storage_push_constant16: eleven.storage_push_constant16,
            ..Default::default()
        },
        vk::PhysicalDeviceVulkan12Features {
            shader_float16: twelve.shader_float16,
            shader_int8: twelve.shader_int8,
            storage_buffer8_bit_access: twelve.storage_buffer8_bit_access,
            shader_buffer_int64_atomics: twelve.shader_buffer_int64_atomics,
            shader_subgroup_extended_types: twelve.shader_subgroup_extended_types,
            scalar_block_layout: twelve.scalar_block_layout,
            vulkan_memory_model: twelve.vulkan_memory_model,
            vulkan_memory_model_device_scope: twelve.vulkan_memory_model_device_scope,
            ..Default::default()
        },
        vk::PhysicalDeviceVulkan13Features {
            subgroup_size_control: thirteen.subgroup_size_control,
            shader_integer_dot_product: thirteen.shader_integer_dot_product,
            maintenance4: thirteen.maintenance4,
            ..Default::default()
        },
    )
}
