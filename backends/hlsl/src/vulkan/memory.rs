//! Buffers: of the device's own memory where it has some, with a staging buffer for each copy; else mapped directly.

use super::gpu::Gpu;
use crate::error::{self, driver};
use ash::vk;
use peak_backend_api::{DeviceKind, RuntimeError};
use std::rc::Rc;

/// A buffer with its memory. Its size is rounded up to four bytes, so that fills reach its end.
pub(crate) struct Buffer {
    gpu: Rc<Gpu>,
    pub raw: vk::Buffer,
    memory: vk::DeviceMemory,
    /// The size that was asked for, in bytes.
    pub bytes: u64,
    /// Where the host sees it, if it does.
    mapped: Option<std::ptr::NonNull<u8>>,
}

/// Where a buffer's memory lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Memory of a GPU of its own.
    Device,
    /// Memory that both see, mapped for the buffer's whole life.
    Shared,
}

impl Buffer {
    /// A buffer for kernels.
    ///
    /// # Errors
    /// Out of memory, or larger than a kernel can bind.
    pub fn new(gpu: &Rc<Gpu>, name: &str, bytes: u64) -> Result<Buffer, RuntimeError> {
        let most = u64::from(gpu.limits.max_storage_buffer_range);
        if bytes > most {
            return Err(error::buffer(
                name,
                format!("{bytes} bytes, and a kernel of this device binds at most {most}"),
            ));
        }
        let own_memory = matches!(gpu.info.kind, DeviceKind::Discrete | DeviceKind::Virtual);
        Buffer::in_place(gpu, name, bytes, if own_memory { Place::Device } else { Place::Shared })
    }

    fn in_place(gpu: &Rc<Gpu>, name: &str, bytes: u64, place: Place) -> Result<Buffer, RuntimeError> {
        let create = vk::BufferCreateInfo::default().size(rounded(bytes)).usage(
            vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST,
        );
        // SAFETY: the structure is valid; the size is not 0.
        let raw =
            unsafe { gpu.raw.create_buffer(&create, None) }.map_err(|code| error::allocation(name, bytes, code))?;
        // From here on the drop of `buffer` frees what was made.
        let mut buffer = Buffer { gpu: gpu.clone(), raw, memory: vk::DeviceMemory::null(), bytes, mapped: None };
        // SAFETY: the buffer is live.
        let needs = unsafe { gpu.raw.get_buffer_memory_requirements(raw) };
        let (index, heap_bytes) = memory_type(&gpu.memory, needs.memory_type_bits, place)
            .ok_or_else(|| error::buffer(name, "the device has no memory of the kind that it needs"))?;
        if needs.size > heap_bytes {
            return Err(error::out_of_memory(name, bytes));
        }
        let allocate = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        // SAFETY: the index is one of the device's, and the size is not 0.
        buffer.memory =
            unsafe { gpu.raw.allocate_memory(&allocate, None) }.map_err(|code| error::allocation(name, bytes, code))?;
        // SAFETY: buffer and memory are new, unbound, and of fitting size and type.
        unsafe { gpu.raw.bind_buffer_memory(raw, buffer.memory, 0) }.map_err(driver("vkBindBufferMemory"))?;
        if place == Place::Shared {
            // SAFETY: the memory is host visible and not mapped yet.
            let pointer = unsafe { gpu.raw.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
            buffer.mapped = std::ptr::NonNull::new(pointer.map_err(driver("vkMapMemory"))?.cast());
        }
        Ok(buffer)
    }

    /// Copies bytes into the buffer, from its start. They must fit.
    ///
    /// # Errors
    /// A driver that fails; more bytes than the buffer holds.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError> {
        if bytes.len() as u64 > self.bytes {
            return Err(error::buffer(name, format!("{} bytes to write, and it holds {}", bytes.len(), self.bytes)));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let Some(pointer) = self.mapped else {
            let staging = Buffer::in_place(&self.gpu, name, bytes.len() as u64, Place::Shared)?;
            staging.write(name, bytes)?;
            return staging.copy_to(self, bytes.len() as u64);
        };
        // SAFETY: the mapping is at least `self.bytes` long, no kernel runs (every submission is waited for), and the
        // memory is coherent.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), pointer.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// The buffer's bytes.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, RuntimeError> {
        let Some(pointer) = self.mapped else {
            let staging = Buffer::in_place(&self.gpu, name, self.bytes, Place::Shared)?;
            self.copy_to(&staging, self.bytes)?;
            return staging.read(name);
        };
        // SAFETY: as in `write`. What was never written is whatever the driver left: bytes all the same.
        Ok(unsafe { std::slice::from_raw_parts(pointer.as_ptr(), self.bytes as usize) }.to_vec())
    }

    /// Records a fill of the whole buffer.
    pub fn record_fill(&self, commands: vk::CommandBuffer, pattern: [u8; 4]) {
        // SAFETY: the command buffer is being recorded; offset and size are multiples of four.
        unsafe {
            self.gpu.raw.cmd_fill_buffer(commands, self.raw, 0, rounded(self.bytes), u32::from_le_bytes(pattern))
        };
    }

    fn copy_to(&self, to: &Buffer, bytes: u64) -> Result<(), RuntimeError> {
        if bytes == 0 {
            return Ok(());
        }
        super::launch::once(&self.gpu, |commands| {
            let region = [vk::BufferCopy::default().size(bytes)];
            // SAFETY: both buffers are live and hold `bytes`; the command buffer is being recorded.
            unsafe { self.gpu.raw.cmd_copy_buffer(commands, self.raw, to.raw, &region) };
            Ok(())
        })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: no submission is in flight that uses it; null handles are ignored; freeing unmaps.
        unsafe {
            self.gpu.raw.destroy_buffer(self.raw, None);
            self.gpu.raw.free_memory(self.memory, None);
        }
    }
}

fn rounded(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(4)
}

/// The first memory type that fits, best first, with the size of its heap.
fn memory_type(memory: &vk::PhysicalDeviceMemoryProperties, bits: u32, place: Place) -> Option<(u32, u64)> {
    use vk::MemoryPropertyFlags as Flags;
    let host = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
    // Cached memory first: reading back through uncached memory is slow by a factor of a hundred.
    let wishes = match place {
        Place::Device => [Flags::DEVICE_LOCAL, Flags::empty()],
        Place::Shared => [host | Flags::HOST_CACHED, host],
    };
    let types = &memory.memory_types[..memory.memory_type_count as usize];
    wishes.into_iter().find_map(|wish| {
        let fits = |index: usize| bits & (1 << index) != 0 && types[index].property_flags.contains(wish);
        let index = (0..types.len()).find(|index| fits(*index))?;
        Some((index as u32, memory.memory_heaps[types[index].heap_index as usize].size))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::Instance;

    fn first_device() -> Option<(Instance, vk::PhysicalDevice, peak_backend_api::DeviceInfo)> {
        let instance = Instance::new().ok()?;
        let (physical, info) = instance.devices().ok()?.into_iter().next()?;
        Some((instance, physical, info))
    }

    /// A software device maps all its memory, so that only this test sends it through staging.
    #[test]
    fn staged_copies_reach_a_buffer_that_is_not_mapped() {
        let Some((instance, physical, info)) = first_device() else {
            assert!(std::env::var("PEAK_REQUIRE").is_err(), "a Vulkan device is required and missing");
            return eprintln!("skipped (1): no Vulkan device");
        };
        let gpu = Rc::new(Gpu::new(instance, physical, info).expect("the device opens"));
        let buffer = Buffer::in_place(&gpu, "A", 1003, Place::Device).expect("there is room");
        assert!(buffer.mapped.is_none());
        let bytes: Vec<u8> = (0..1003u32).map(|value| (value % 253) as u8).collect();
        buffer.write("A", &bytes).expect("the copy runs");
        buffer.write("A", &[7, 8, 9]).expect("the copy runs");
        let read = buffer.read("A").expect("the copy runs");
        assert_eq!((&read[..3], &read[3..]), (&[7, 8, 9][..], &bytes[3..]));
    }
}
