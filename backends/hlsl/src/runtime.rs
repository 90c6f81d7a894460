//! The `vulkan` runtime: lists devices and opens one.

use crate::vulkan::{Gpu, Instance, VulkanDevice};
use peak_backend_api::{ArtifactKind, Device, DeviceInfo, Runtime, RuntimeError};

/// Any Vulkan 1.3 device, a GPU or a software one.
#[derive(Clone, Copy, Debug, Default)]
pub struct VulkanRuntime;

impl Runtime for VulkanRuntime {
    fn name(&self) -> &'static str {
        "vulkan"
    }

    fn accepts(&self, kind: ArtifactKind) -> bool {
        kind == ArtifactKind::Spirv
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, RuntimeError> {
        Ok(Instance::new()?.devices()?.into_iter().map(|(_, info)| info).collect())
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>, RuntimeError> {
        let instance = Instance::new()?;
        let mut devices = instance.devices()?;
        if index >= devices.len() {
            return Err(RuntimeError::NoDevice { index, count: devices.len() });
        }
        let (physical, info) = devices.swap_remove(index);
        Ok(Box::new(VulkanDevice::new(Gpu::new(instance, physical, info)?)))
    }
}
