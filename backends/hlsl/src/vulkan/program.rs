//! Loaded programs: a pipeline for each entry, made when the artifact is loaded.

use super::gpu::Gpu;
use crate::error::driver;
use ash::vk;
use peak_backend_api::{Artifact, ArtifactKind, ReflectedEntry, RuntimeError};
use std::ffi::CString;
use std::rc::Rc;

/// A program: its entries, ready to launch.
pub(crate) struct Program {
    pub entries: Vec<Entry>,
}

/// An entry's pipeline with what its launches must bind.
pub(crate) struct Entry {
    gpu: Rc<Gpu>,
    pub reflected: ReflectedEntry,
    pub set_layout: vk::DescriptorSetLayout,
    pub layout: vk::PipelineLayout,
    pub pipeline: vk::Pipeline,
}

impl Program {
    /// Makes pipelines of an artifact's modules.
    ///
    /// # Errors
    /// An artifact of another kind or with damage, one beyond the device's limits, or one that the driver refuses.
    pub fn new(gpu: &Rc<Gpu>, artifact: &Artifact) -> Result<Program, RuntimeError> {
        if artifact.kind != ArtifactKind::Spirv {
            return Err(RuntimeError::Artifact(format!("Vulkan takes SPIR-V, and this is {:?}", artifact.kind)));
        }
        let damaged = || RuntimeError::Artifact("the container of its modules is damaged".to_owned());
        let modules = crate::container::split(&artifact.bytes).ok_or_else(damaged)?;
        if modules.len() != artifact.entries.len() || modules.iter().any(Vec::is_empty) {
            return Err(damaged());
        }
        check_shared(gpu, artifact)?;
        let entries = modules.iter().zip(&artifact.entries).map(|(module, entry)| Entry::new(gpu, module, entry));
        Ok(Program { entries: entries.collect::<Result<_, _>>()? })
    }
}

impl Entry {
    fn new(gpu: &Rc<Gpu>, module: &[u32], reflected: &ReflectedEntry) -> Result<Entry, RuntimeError> {
        check_entry(gpu, reflected)?;
        // From here on the drop of `entry` frees what was made.
        let mut entry = Entry {
            gpu: gpu.clone(),
            reflected: reflected.clone(),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
        };
        entry.make_layouts()?;
        entry.make_pipeline(module)?;
        Ok(entry)
    }

    fn make_layouts(&mut self) -> Result<(), RuntimeError> {
        let binding = |binding: u32| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = self.reflected.buffers.iter().map(|buffer| binding(buffer.binding)).collect();
        let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the structure is valid and its bindings are distinct (checked).
        self.set_layout = unsafe { self.gpu.raw.create_descriptor_set_layout(&set, None) }
            .map_err(driver("vkCreateDescriptorSetLayout"))?;
        let sets = [self.set_layout];
        let scalars = vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(self.reflected.scalar_bytes);
        let ranges = if self.reflected.scalar_bytes == 0 { &[][..] } else { &[scalars][..] };
        let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(ranges);
        // SAFETY: the structure is valid, the range within the device's limit (checked).
        self.layout =
            unsafe { self.gpu.raw.create_pipeline_layout(&layout, None) }.map_err(driver("vkCreatePipelineLayout"))?;
        Ok(())
    }

    fn make_pipeline(&mut self, module: &[u32]) -> Result<(), RuntimeError> {
        let name = CString::new(self.reflected.name.as_str())
            .map_err(|_| RuntimeError::Artifact("an entry's name holds a NUL".to_owned()))?;
        let create = vk::ShaderModuleCreateInfo::default().code(module);
        // SAFETY: the module was validated by `spirv-val` when it was compiled, and is not empty.
        let shader =
            unsafe { self.gpu.raw.create_shader_module(&create, None) }.map_err(rejected("vkCreateShaderModule"))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(&name);
        let pipeline = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout)];
        // SAFETY: layout and module are live; the layout holds all that the module binds (checked by the interface).
        let made = unsafe { self.gpu.raw.create_compute_pipelines(vk::PipelineCache::null(), &pipeline, None) };
        // SAFETY: a module may go once its pipelines are made.
        unsafe { self.gpu.raw.destroy_shader_module(shader, None) };
        let made = made.map_err(|(_, code)| rejected("vkCreateComputePipelines")(code))?;
        self.pipeline = made.first().copied().unwrap_or_default();
        Ok(())
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // SAFETY: no submission is in flight that uses them; null handles are ignored.
        unsafe {
            self.gpu.raw.destroy_pipeline(self.pipeline, None);
            self.gpu.raw.destroy_pipeline_layout(self.layout, None);
            self.gpu.raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

fn rejected(call: &'static str) -> impl FnOnce(vk::Result) -> RuntimeError {
    move |code| match code {
        vk::Result::ERROR_DEVICE_LOST => driver(call)(code),
        code => RuntimeError::Artifact(format!("{call} gave {code:?}")),
    }
}

fn check_shared(gpu: &Gpu, artifact: &Artifact) -> Result<(), RuntimeError> {
    let limit = u64::from(gpu.limits.max_compute_shared_memory_size);
    match artifact.resources.shared_bytes {
        Some(bytes) if bytes > limit => Err(RuntimeError::Artifact(format!(
            "a block uses {bytes} bytes of shared memory, and the device gives {limit}"
        ))),
        _ => Ok(()),
    }
}

/// Limits whose breach is undefined behaviour in a driver, checked here since the artifact may come from elsewhere.
fn check_entry(gpu: &Gpu, entry: &ReflectedEntry) -> Result<(), RuntimeError> {
    let limits = &gpu.limits;
    let refused = |problem: String| Err(RuntimeError::Artifact(format!("`{}`: {problem}", entry.name)));
    if let Some(block) = entry.block {
        let threads: u64 = block.iter().map(|side| u64::from(*side)).product();
        let (most, sides) = (limits.max_compute_work_group_invocations, limits.max_compute_work_group_size);
        if threads > u64::from(most) || block.iter().zip(sides).any(|(side, most)| *side > most) {
            return refused(format!("blocks of {block:?} threads, and the device takes {sides:?}, {most} in all"));
        }
    }
    if entry.scalar_bytes > limits.max_push_constants_size {
        let most = limits.max_push_constants_size;
        return refused(format!("{} bytes of push constants, and the device takes {most}", entry.scalar_bytes));
    }
    let mut bindings: Vec<_> = entry.buffers.iter().map(|buffer| buffer.binding).collect();
    bindings.sort_unstable();
    if entry.buffers.iter().any(|buffer| buffer.set != 0) || bindings.windows(2).any(|pair| pair[0] == pair[1]) {
        return refused("its buffers are not at places of their own in set 0".to_owned());
    }
    let most = limits.max_per_stage_descriptor_storage_buffers as usize;
    if bindings.len() > most {
        return refused(format!("{} buffers, and the device binds {most}", bindings.len()));
    }
    let ends = entry.scalars.iter().map(|scalar| scalar.offset.saturating_add(scalar.bytes));
    if ends.max().is_some_and(|end| end > entry.scalar_bytes) {
        return refused("a scalar lies outside the push constants".to_owned());
    }
    Ok(())
}
