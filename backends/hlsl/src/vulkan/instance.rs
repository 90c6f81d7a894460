//! The loader, an instance, and its devices in a stable order: GPUs of their own first, software last.

use super::describe;
use crate::error::driver;
use ash::vk;
use peak_backend_api::{DeviceInfo, DeviceKind, RuntimeError, toolchain_folder};

const MEND: &str = "apt-get install libvulkan1 mesa-vulkan-drivers";

/// A Vulkan instance.
pub(crate) struct Instance {
    pub raw: ash::Instance,
    // Holds the loaded library: goes after the instance.
    _entry: ash::Entry,
}

impl Instance {
    /// Loads the system's Vulkan loader, else the toolchain folder's, and makes an instance.
    ///
    /// # Errors
    /// [`RuntimeError::Missing`] where there is no loader or no driver.
    pub fn new() -> Result<Instance, RuntimeError> {
        let entry = load()?;
        let application = vk::ApplicationInfo::default().application_name(c"peak").api_version(vk::API_VERSION_1_3);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structure is valid for the call, and the entry outlives the instance (field order).
        let raw = unsafe { entry.create_instance(&create, None) }.map_err(|code| match code {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => missing("a Vulkan driver", "the loader found none"),
            code => driver("vkCreateInstance")(code),
        })?;
        Ok(Instance { raw, _entry: entry })
    }

    /// The devices that run our code (Vulkan 1.3, a compute queue), with their descriptions.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn devices(&self) -> Result<Vec<(vk::PhysicalDevice, DeviceInfo)>, RuntimeError> {
        // SAFETY: the instance is live.
        let found = unsafe { self.raw.enumerate_physical_devices() }.map_err(driver("vkEnumeratePhysicalDevices"))?;
        let mut devices: Vec<_> =
            found.into_iter().filter_map(|device| Some((device, describe::describe(&self.raw, device)?))).collect();
        // The driver's order decides between equals.
        devices.sort_by_key(|(_, info)| match info.kind {
            DeviceKind::Discrete => 0,
            DeviceKind::Virtual => 1,
            DeviceKind::Integrated => 2,
            DeviceKind::Software => 3,
        });
        devices.iter_mut().enumerate().for_each(|(index, (_, info))| info.index = index);
        Ok(devices)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: whoever made objects of this instance dropped them before it (they own it through `Gpu`).
        unsafe { self.raw.destroy_instance(None) };
    }
}

fn load() -> Result<ash::Entry, RuntimeError> {
    // SAFETY: a Vulkan loader's initializers are sound to run; it is a system library.
    let reason = match unsafe { ash::Entry::load() } {
        Ok(entry) => return Ok(entry),
        Err(error) => error.to_string(),
    };
    let carried =
        toolchain_folder().map(|folder| folder.join("vulkan/lib/libvulkan.so.1")).filter(|path| path.is_file());
    let Some(carried) = carried else { return Err(missing("the Vulkan loader", &reason)) };
    // SAFETY: as above.
    unsafe { ash::Entry::load_from(carried) }.map_err(|error| missing("the Vulkan loader", &error.to_string()))
}

fn missing(what: &str, reason: &str) -> RuntimeError {
    RuntimeError::Missing { what: what.to_owned(), reason: reason.to_owned(), mend: MEND.to_owned() }
}
