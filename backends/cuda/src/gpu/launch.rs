//! From a sequence to launches: everything is checked and encoded before the driver is asked to run any of it, so that
//! what is timed is launching alone.

use super::arguments::{Lookup, values};
use super::context::Context;
use super::memory::Buffer;
use super::program::{Entry, Program};
use super::resident::check_resident;
use super::shape::{CLUSTER_PORTABLE, SHARED_DEFAULT, Shape, check_shape, limits, refused};
use super::tensor_map;
use crate::error::{buffer, check};
use cudarc::driver::sys::{self, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig};
use peak_backend_api::{LaunchSequence, LaunchStep, RuntimeError, TensorMap};
use std::collections::BTreeMap;
use std::ffi::c_void;

/// Buffers by name.
pub(super) type Buffers = BTreeMap<String, Buffer>;

/// A sequence that was checked, to be queued as often as is wanted while its buffers are there.
pub(super) struct Prepared<'a> {
    context: &'a Context,
    steps: Vec<Step<'a>>,
}

enum Step<'a> {
    Fill { buffer: &'a Buffer, pattern: [u8; 4] },
    Launch { entry: &'a Entry, shape: Shape, values: Vec<Vec<u8>> },
}

/// Checks every step; nothing runs.
///
/// # Errors
/// A launch outside the device's limits or that does not fit on it, an argument that does not fit, an unknown entry or
/// buffer.
pub(super) fn prepare<'a>(
    context: &'a Context,
    sequence: &LaunchSequence,
    program: &'a Program,
    buffers: &'a Buffers,
) -> Result<Prepared<'a>, RuntimeError> {
    let steps = sequence.steps.iter().map(|step| prepare_step(context, step, program, buffers));
    Ok(Prepared { context, steps: steps.collect::<Result<_, _>>()? })
}

fn prepare_step<'a>(
    context: &Context,
    step: &LaunchStep,
    program: &'a Program,
    buffers: &'a Buffers,
) -> Result<Step<'a>, RuntimeError> {
    match (step, Shape::of(step)) {
        (LaunchStep::Launch { entry, block, arguments, .. }, Some(shape)) => {
            let entry = find(program, entry, *block)?;
            check_shape(&entry.reflected, shape, limits(context), (entry.threads_max, entry.static_bytes))?;
            allow(entry, shape)?;
            check_resident(context, entry, shape)?;
            Ok(Step::Launch { entry, shape, values: values(&entry.reflected, arguments, buffers)? })
        }
        (LaunchStep::Launch { entry, .. }, None) => refused(format!("`{entry}` has no shape")),
        (LaunchStep::Fill { buffer, pattern }, _) => {
            Ok(Step::Fill { buffer: known(buffers, buffer)?, pattern: *pattern })
        }
    }
}

/// Asks for what an entry gets only where it was asked for.
fn allow(entry: &Entry, shape: Shape) -> Result<(), RuntimeError> {
    if u64::from(shape.shared_bytes) + entry.static_bytes > SHARED_DEFAULT {
        entry.allow_shared(shape.shared_bytes)?;
    }
    match shape.cluster_blocks() {
        Some(blocks) if blocks > CLUSTER_PORTABLE => entry.allow_large_clusters(),
        _ => Ok(()),
    }
}

impl Prepared<'_> {
    /// How many steps a run queues.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Queues every step; each sees the writes of those before it, since a stream keeps its order.
    ///
    /// # Errors
    /// What the driver refuses all the same.
    pub fn queue(&self) -> Result<(), RuntimeError> {
        self.steps.iter().try_for_each(|step| match step {
            Step::Fill { buffer, pattern } => buffer.queue_fill(*pattern),
            Step::Launch { entry, shape, values } => launch(self.context, entry, *shape, values),
        })
    }
}

/// A buffer by name.
pub(super) fn known<'a>(buffers: &'a Buffers, name: &str) -> Result<&'a Buffer, RuntimeError> {
    buffers.get(name).ok_or_else(|| buffer(name, "it was never allocated"))
}

impl Lookup for Buffers {
    fn address(&self, name: &str) -> Result<u64, RuntimeError> {
        known(self, name).map(|buffer| buffer.address)
    }

    fn tensor_map(&self, name: &str, map: &TensorMap) -> Result<Vec<u8>, RuntimeError> {
        tensor_map::encode(name, map, known(self, &map.buffer)?)
    }
}

/// Several entries of one name differ in their blocks.
fn find<'a>(program: &'a Program, name: &str, block: [u32; 3]) -> Result<&'a Entry, RuntimeError> {
    let of_name = || program.entries.iter().filter(|entry| entry.reflected.name == name);
    match of_name().find(|entry| entry.reflected.block == Some(block)).or_else(|| of_name().next()) {
        Some(entry) => Ok(entry),
        None => refused(format!("the program has no entry `{name}`")),
    }
}

fn launch(context: &Context, entry: &Entry, shape: Shape, values: &[Vec<u8>]) -> Result<(), RuntimeError> {
    let mut attributes = Attributes::of(shape);
    let config = config(context, shape, &mut attributes);
    // The driver reads the values and leaves them as they are.
    let mut pointers: Vec<*mut c_void> = values.iter().map(|value| value.as_ptr().cast_mut().cast()).collect();
    // SAFETY: the function is of a live module; the values are as many and as wide as its parameters, which were compared
    // when it was compiled, and the driver copies them before it returns.
    let code = unsafe { sys::cuLaunchKernelEx(&config, entry.function, pointers.as_mut_ptr(), std::ptr::null_mut()) };
    check("cuLaunchKernelEx", code).map_err(|error| match error {
        RuntimeError::Driver { call, code } if code.contains("INVALID_VALUE") => RuntimeError::Launch(format!(
            "{code} at {call}: the driver refuses the numbers of `{}`",
            entry.reflected.name
        )),
        other => other,
    })
}

/// A launch as the driver takes it. It points to the attributes.
pub(super) fn config(context: &Context, shape: Shape, attributes: &mut Attributes) -> CUlaunchConfig {
    CUlaunchConfig {
        gridDimX: shape.grid[0],
        gridDimY: shape.grid[1],
        gridDimZ: shape.grid[2],
        blockDimX: shape.block[0],
        blockDimY: shape.block[1],
        blockDimZ: shape.block[2],
        sharedMemBytes: shape.shared_bytes,
        hStream: context.stream,
        attrs: attributes.0.as_mut_ptr(),
        numAttrs: u32::try_from(attributes.0.len()).unwrap_or(0),
    }
}

/// What a launch has beside its numbers.
#[derive(Default)]
pub(super) struct Attributes(Vec<CUlaunchAttribute>);

impl Attributes {
    /// Clusters and cooperation.
    pub fn of(shape: Shape) -> Attributes {
        let cluster = shape.cluster.map(|[x, y, z]| {
            attribute(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, |value| {
                value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            })
        });
        let cooperative = shape
            .cooperative
            .then(|| attribute(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, |value| value.cooperative = 1));
        Attributes(cluster.into_iter().chain(cooperative).collect())
    }
}

fn attribute(id: CUlaunchAttributeID, set: impl FnOnce(&mut CUlaunchAttributeValue)) -> CUlaunchAttribute {
    // SAFETY: all bits zero are a value of the union, which is plain data.
    let mut value: CUlaunchAttributeValue = unsafe { std::mem::zeroed() };
    set(&mut value);
    CUlaunchAttribute { id, pad: [0; 4], value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_and_cooperation_are_attributes() {
        let shape = Shape { grid: [8, 1, 1], block: [32, 1, 1], shared_bytes: 0, cluster: None, cooperative: false };
        let ids = |shape| Attributes::of(shape).0.iter().map(|it| it.id).collect::<Vec<_>>();
        let (cluster, cooperative) = (
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        );
        assert_eq!(ids(shape), []);
        let both = Attributes::of(Shape { cluster: Some([4, 2, 1]), cooperative: true, ..shape });
        assert_eq!(both.0.iter().map(|it| it.id).collect::<Vec<_>>(), [cluster, cooperative]);
        // SAFETY: both fields were written.
        let (sides, flag) = unsafe { (both.0[0].value.clusterDim, both.0[1].value.cooperative) };
        assert_eq!(((sides.x, sides.y, sides.z), flag), ((4, 2, 1), 1));
    }
}
