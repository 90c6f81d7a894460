//! The `gpu` runtime: lists NVIDIA GPUs and opens one.

use crate::gpu::{self, Context, GpuDevice};
use peak_backend_api::{ArtifactKind, Device, DeviceInfo, Runtime, RuntimeError};

/// NVIDIA GPUs, through CUDA's driver.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuRuntime;

impl Runtime for GpuRuntime {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn accepts(&self, kind: ArtifactKind) -> bool {
        matches!(kind, ArtifactKind::Cubin | ArtifactKind::Ptx | ArtifactKind::Library)
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, RuntimeError> {
        gpu::devices()
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>, RuntimeError> {
        let mut devices = gpu::devices()?;
        if index >= devices.len() {
            return Err(RuntimeError::NoDevice { index, count: devices.len() });
        }
        Ok(Box::new(GpuDevice::new(Context::new(devices.swap_remove(index))?)))
    }
}
