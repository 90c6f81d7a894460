//! Device time by timestamp queries: one submission a repeat, a stamp before the first step and one after the last.

use super::gpu::Gpu;
use super::launch::Recording;
use super::memory::Buffer;
use crate::error::driver;
use ash::vk;
use peak_backend_api::RuntimeError;
use std::rc::Rc;

/// Bytes that are written over before a run with cold caches. Vulkan does not tell how much a cache holds: this is twice
/// that of the largest GPU of today, and more than the last-level cache that a core of a software device gets.
const EVICTED_BYTES: u64 = 128 << 20;

/// Memory that is written over to empty the caches.
///
/// # Errors
/// Out of memory.
pub(crate) fn evicted(gpu: &Rc<Gpu>) -> Result<Buffer, RuntimeError> {
    let most = u64::from(gpu.limits.max_storage_buffer_range);
    Buffer::new(gpu, "what empties the caches", EVICTED_BYTES.min(most))
}

/// Two timestamps; freed on drop.
pub(crate) struct Stamps {
    gpu: Rc<Gpu>,
    pool: vk::QueryPool,
}

impl Stamps {
    /// # Errors
    /// [`RuntimeError::NoTimer`] where the queue has no timestamps.
    pub fn new(gpu: &Rc<Gpu>) -> Result<Stamps, RuntimeError> {
        if gpu.timestamp_bits == 0 {
            return Err(RuntimeError::NoTimer);
        }
        let create = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        // SAFETY: the structure is valid.
        let pool = unsafe { gpu.raw.create_query_pool(&create, None) }.map_err(driver("vkCreateQueryPool"))?;
        Ok(Stamps { gpu: gpu.clone(), pool })
    }

    /// Records the first stamp: after all work before it.
    pub fn start(&self, recording: &Recording) {
        // SAFETY: the command buffer is being recorded, and the pool has two queries.
        unsafe {
            self.gpu.raw.cmd_reset_query_pool(recording.commands, self.pool, 0, 2);
            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            self.gpu.raw.cmd_write_timestamp(recording.commands, stage, self.pool, 0);
        }
        // No step starts before the stamp's barrier.
        recording.barrier();
    }

    /// Records the second stamp: after all work before it, memory included (each step ends with a barrier).
    pub fn stop(&self, recording: &Recording) {
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // SAFETY: as in `start`.
        unsafe { self.gpu.raw.cmd_write_timestamp(recording.commands, stage, self.pool, 1) };
    }

    /// Nanoseconds between the stamps, after the submission was waited for. A counter may wrap once.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn nanoseconds(&self) -> Result<u64, RuntimeError> {
        let mut stamps = [0u64; 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: both queries were written by a submission that ended.
        unsafe { self.gpu.raw.get_query_pool_results(self.pool, 0, &mut stamps, flags) }
            .map_err(driver("vkGetQueryPoolResults"))?;
        let mask = u64::MAX >> (64 - self.gpu.timestamp_bits.min(64));
        let ticks = stamps[1].wrapping_sub(stamps[0]) & mask;
        Ok((ticks as f64 * f64::from(self.gpu.limits.timestamp_period)).round() as u64)
    }
}

impl Drop for Stamps {
    fn drop(&mut self) {
        // SAFETY: no submission is in flight that uses it.
        unsafe { self.gpu.raw.destroy_query_pool(self.pool, None) };
    }
}
