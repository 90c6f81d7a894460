//! Vulkan by hand, as little as compute needs: one file for each concern, everything freed on drop.
//!
//! Robust buffer access stays off: a kernel that reads outside its buffers gets what the hardware gives, as it would in
//! real use. Guard bands and the validators above catch it; this module does not hide it.

mod describe;
mod device;
mod gpu;
mod instance;
mod launch;
mod memory;
mod program;
mod time;

pub(crate) use device::VulkanDevice;
pub(crate) use gpu::Gpu;
pub(crate) use instance::Instance;
