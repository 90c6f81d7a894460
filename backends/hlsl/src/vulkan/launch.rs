//! Records a sequence of concrete launches, checked against the program, the buffers and the device's limits.

use super::gpu::Gpu;
use super::memory::Buffer;
use super::program::{Entry, Program};
use crate::error::{self, driver};
use ash::vk;
use peak_backend_api::{ArgumentValue, LaunchArgument, LaunchSequence, LaunchStep, RuntimeError};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The device's buffers by name.
pub(crate) type Buffers = BTreeMap<String, Buffer>;

/// A command buffer, its fence and the descriptors that it binds; freed on drop.
pub(crate) struct Recording {
    gpu: Rc<Gpu>,
    pub commands: vk::CommandBuffer,
    fence: vk::Fence,
    descriptors: vk::DescriptorPool,
}

/// Records with `work`, submits once and waits.
///
/// # Errors
/// As `work`, and a driver that fails.
pub(crate) fn once(
    gpu: &Rc<Gpu>,
    work: impl FnOnce(vk::CommandBuffer) -> Result<(), RuntimeError>,
) -> Result<(), RuntimeError> {
    let recording = Recording::begin(gpu, 0, 0)?;
    work(recording.commands)?;
    recording.barrier();
    recording.end()?;
    recording.submit()
}

impl Recording {
    /// Begins a command buffer with room for `sets` launches that bind `buffers` buffers in all.
    pub fn begin(gpu: &Rc<Gpu>, sets: u32, buffers: u32) -> Result<Recording, RuntimeError> {
        let allocate = vk::CommandBufferAllocateInfo::default().command_pool(gpu.commands).command_buffer_count(1);
        // SAFETY: the pool is live; one thread uses it.
        let commands =
            unsafe { gpu.raw.allocate_command_buffers(&allocate) }.map_err(driver("vkAllocateCommandBuffers"))?;
        let mut recording = Recording {
            gpu: gpu.clone(),
            commands: commands.first().copied().unwrap_or_default(),
            fence: vk::Fence::null(),
            descriptors: vk::DescriptorPool::null(),
        };
        // SAFETY: the structure is valid.
        recording.fence =
            unsafe { gpu.raw.create_fence(&vk::FenceCreateInfo::default(), None) }.map_err(driver("vkCreateFence"))?;
        if sets > 0 {
            let size = vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(buffers.max(1));
            let sizes = [size];
            let pool = vk::DescriptorPoolCreateInfo::default().max_sets(sets).pool_sizes(&sizes);
            // SAFETY: the structure is valid.
            recording.descriptors =
                unsafe { gpu.raw.create_descriptor_pool(&pool, None) }.map_err(driver("vkCreateDescriptorPool"))?;
        }
        // SAFETY: the command buffer is new.
        unsafe { gpu.raw.begin_command_buffer(recording.commands, &vk::CommandBufferBeginInfo::default()) }
            .map_err(driver("vkBeginCommandBuffer"))?;
        Ok(recording)
    }

    /// Ends recording.
    pub fn end(&self) -> Result<(), RuntimeError> {
        // SAFETY: the command buffer is being recorded.
        unsafe { self.gpu.raw.end_command_buffer(self.commands) }.map_err(driver("vkEndCommandBuffer"))
    }

    /// Submits what was recorded and waits. May be called again.
    pub fn submit(&self) -> Result<(), RuntimeError> {
        self.gpu.submit(self.commands, self.fence)
    }

    /// A barrier between steps: whatever ran before is seen by whatever comes.
    pub fn barrier(&self) {
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(
                vk::AccessFlags::SHADER_READ
                    | vk::AccessFlags::SHADER_WRITE
                    | vk::AccessFlags::TRANSFER_READ
                    | vk::AccessFlags::TRANSFER_WRITE
                    | vk::AccessFlags::HOST_READ,
            )];
        let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        // SAFETY: the command buffer is being recorded.
        unsafe {
            self.gpu.raw.cmd_pipeline_barrier(
                self.commands,
                stages,
                stages | vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }

    /// Records every step, each after a barrier.
    ///
    /// # Errors
    /// A launch outside the device's limits, an argument that does not fit, an unknown entry or buffer.
    pub fn steps(&self, sequence: &LaunchSequence, program: &Program, buffers: &Buffers) -> Result<(), RuntimeError> {
        for step in &sequence.steps {
            match step {
                LaunchStep::Fill { buffer, pattern } => known(buffers, buffer)?.record_fill(self.commands, *pattern),
                LaunchStep::Launch { entry, grid, block, shared_bytes, cluster, cooperative, arguments } => {
                    let entry = find(program, entry)?;
                    check_shape(&self.gpu, entry, *grid, *block)?;
                    check_extras(*shared_bytes, *cluster, *cooperative, arguments)?;
                    self.launch(entry, *grid, arguments, buffers)?;
                }
            }
            self.barrier();
        }
        Ok(())
    }

    fn launch(
        &self,
        entry: &Entry,
        grid: [u32; 3],
        arguments: &[LaunchArgument],
        buffers: &Buffers,
    ) -> Result<(), RuntimeError> {
        let bound = bound_buffers(entry, arguments, buffers)?;
        let scalars = scalars(entry, arguments)?;
        let set = self.descriptor_set(entry, &bound)?;
        let (raw, commands) = (&self.gpu.raw, self.commands);
        // SAFETY: the command buffer is being recorded; set, layout and pipeline belong together; the scalars fill the
        // layout's range; the grid is within the limits.
        unsafe {
            raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, entry.pipeline);
            raw.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, entry.layout, 0, &[set], &[]);
            if !scalars.is_empty() {
                raw.cmd_push_constants(commands, entry.layout, vk::ShaderStageFlags::COMPUTE, 0, &scalars);
            }
            raw.cmd_dispatch(commands, grid[0], grid[1], grid[2]);
        }
        Ok(())
    }

    fn descriptor_set(&self, entry: &Entry, bound: &[(u32, vk::Buffer)]) -> Result<vk::DescriptorSet, RuntimeError> {
        let layouts = [entry.set_layout];
        let allocate = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.descriptors).set_layouts(&layouts);
        // SAFETY: pool and layout are live; the pool was made for as many sets as there are launches.
        let sets =
            unsafe { self.gpu.raw.allocate_descriptor_sets(&allocate) }.map_err(driver("vkAllocateDescriptorSets"))?;
        let set = sets.first().copied().unwrap_or_default();
        let whole =
            |(_, raw): &(u32, vk::Buffer)| [vk::DescriptorBufferInfo::default().buffer(*raw).range(vk::WHOLE_SIZE)];
        let infos: Vec<_> = bound.iter().map(whole).collect();
        let mut writes = Vec::new();
        for ((binding, _), info) in bound.iter().zip(&infos) {
            writes.push(
                vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(*binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(info),
            );
        }
        // SAFETY: the set is not in use, and every binding is in its layout.
        unsafe { self.gpu.raw.update_descriptor_sets(&writes, &[]) };
        Ok(set)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // SAFETY: every submission was waited for (or the device is lost); null handles are ignored.
        unsafe {
            self.gpu.raw.destroy_descriptor_pool(self.descriptors, None);
            self.gpu.raw.destroy_fence(self.fence, None);
            self.gpu.raw.free_command_buffers(self.gpu.commands, &[self.commands]);
        }
    }
}

/// How many descriptor sets and buffers a sequence needs.
pub(crate) fn needs(sequence: &LaunchSequence) -> (u32, u32) {
    let launches = sequence.steps.iter().filter_map(|step| match step {
        LaunchStep::Launch { arguments, .. } => Some(arguments.len() as u32),
        LaunchStep::Fill { .. } => None,
    });
    launches.fold((0, 0), |(sets, buffers), count| (sets + 1, buffers + count))
}

/// A buffer by name.
pub(crate) fn known<'a>(buffers: &'a Buffers, name: &str) -> Result<&'a Buffer, RuntimeError> {
    buffers.get(name).ok_or_else(|| error::buffer(name, "it was never allocated"))
}

fn refused<T>(problem: impl Into<String>) -> Result<T, RuntimeError> {
    Err(RuntimeError::Launch(problem.into()))
}

fn find<'a>(program: &'a Program, name: &str) -> Result<&'a Entry, RuntimeError> {
    match program.entries.iter().find(|entry| entry.reflected.name == name) {
        Some(entry) => Ok(entry),
        None => refused(format!("the program has no entry `{name}`")),
    }
}

fn check_shape(gpu: &Gpu, entry: &Entry, grid: [u32; 3], block: [u32; 3]) -> Result<(), RuntimeError> {
    let most = gpu.limits.max_compute_work_group_count;
    if grid.contains(&0) {
        return refused(format!("a grid of {grid:?} has no blocks"));
    }
    if grid.iter().zip(most).any(|(side, most)| *side > most) {
        return refused(format!("a grid of {grid:?} blocks, and the device takes {most:?}"));
    }
    match entry.reflected.block {
        Some(compiled) if compiled != block => refused(format!(
            "blocks of {block:?} threads, and `{}` was compiled for {compiled:?}",
            entry.reflected.name
        )),
        _ => Ok(()),
    }
}

/// Refuses what other devices have and Vulkan lacks.
fn check_extras(
    shared_bytes: u32,
    cluster: Option<[u32; 3]>,
    cooperative: bool,
    arguments: &[LaunchArgument],
) -> Result<(), RuntimeError> {
    if shared_bytes != 0 {
        return refused("HLSL has no dynamic shared memory: declare `groupshared` arrays, and ask for 0 bytes");
    }
    if cluster.is_some_and(|cluster| cluster != [1, 1, 1]) {
        return refused("Vulkan has no clusters of blocks");
    }
    if cooperative {
        return refused(
            "Vulkan has no cooperative launches: its blocks can't wait for each other, so cut the kernel into several launches",
        );
    }
    match arguments.iter().find(|argument| matches!(argument.value, ArgumentValue::TensorMap(_))) {
        Some(map) => {
            refused(format!("Vulkan has no tensor maps, and the launch passes `{}`: pass its array", map.name))
        }
        None => Ok(()),
    }
}

/// Binding and buffer of each of the entry's buffers; every argument must be one that the entry knows.
fn bound_buffers(
    entry: &Entry,
    arguments: &[LaunchArgument],
    buffers: &Buffers,
) -> Result<Vec<(u32, vk::Buffer)>, RuntimeError> {
    let name = &entry.reflected.name;
    let mut bound = Vec::new();
    for buffer in &entry.reflected.buffers {
        match arguments.iter().find(|argument| argument.name == buffer.name).map(|argument| &argument.value) {
            Some(ArgumentValue::Buffer(on_device)) => bound.push((buffer.binding, known(buffers, on_device)?.raw)),
            Some(ArgumentValue::Bytes(_) | ArgumentValue::TensorMap(_)) => {
                return refused(format!("`{name}` takes a buffer for `{}`, and nothing else", buffer.name));
            }
            None => return refused(format!("`{name}` lacks an argument for its buffer `{}`", buffer.name)),
        }
    }
    let of_buffer = |name: &str| entry.reflected.buffers.iter().any(|buffer| buffer.name == name);
    let unknown = arguments.iter().find(|it| matches!(it.value, ArgumentValue::Buffer(_)) && !of_buffer(&it.name));
    match unknown {
        Some(argument) => refused(format!("`{name}` has no buffer `{}`", argument.name)),
        None => Ok(bound),
    }
}

/// The push constants. Numbers that the code never reads may be passed: the compiler drops an unused block.
fn scalars(entry: &Entry, arguments: &[LaunchArgument]) -> Result<Vec<u8>, RuntimeError> {
    let name = &entry.reflected.name;
    let mut block = vec![0; entry.reflected.scalar_bytes as usize];
    for scalar in &entry.reflected.scalars {
        let value = arguments.iter().find(|argument| argument.name == scalar.name).map(|argument| &argument.value);
        let Some(ArgumentValue::Bytes(bytes)) = value else {
            return refused(format!("`{name}` lacks a number for `{}`", scalar.name));
        };
        let range = scalar.offset as usize..(scalar.offset + scalar.bytes) as usize;
        match block.get_mut(range) {
            Some(place) if place.len() == bytes.len() => place.copy_from_slice(bytes),
            _ => {
                return refused(format!(
                    "`{}` of `{name}` takes {} bytes, not {}",
                    scalar.name,
                    scalar.bytes,
                    bytes.len()
                ));
            }
        }
    }
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use peak_backend_api::{TensorElement, TensorMap};

    #[test]
    fn what_vulkan_lacks_is_refused_with_a_word() {
        let map = TensorMap::dense("a", TensorElement::F32, &[64], &[64], 0);
        let map = LaunchArgument { name: "a_map".to_owned(), value: ArgumentValue::TensorMap(map) };
        let words = |result: Result<(), RuntimeError>| result.expect_err("it is refused").to_string();
        assert_eq!(check_extras(0, Some([1, 1, 1]), false, &[]), Ok(()));
        assert!(words(check_extras(4, None, false, &[])).contains("no dynamic shared memory"));
        assert!(words(check_extras(0, Some([2, 1, 1]), false, &[])).contains("no clusters"));
        assert!(words(check_extras(0, None, true, &[])).contains("no cooperative launches"));
        assert!(words(check_extras(0, None, false, &[map])).contains("no tensor maps, and the launch passes `a_map`"));
    }
}
