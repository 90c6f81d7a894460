//! What a runtime must do with compiled kernels: memory by name, launches, limits, time.

use super::{BLOCK, Subject, compiled, device};
use crate::{ArgumentValue, Caches, Device, LaunchArgument, LaunchSequence, LaunchStep, ProgramId, RuntimeError};

/// Elements of every array here: not a multiple of the block.
pub(super) const LENGTH: usize = 1000;

/// Two arrays are added, to the last element and not beyond.
///
/// # Panics
/// Where the backend does not conform, as every test here.
pub fn vectors_add(subject: &Subject) {
    let Some((mut device, program)) = ready(subject) else { return };
    succeed(device.run(program, &sequence(vec![add("A", "B", "C")])));
    let sums = floats(device.as_mut(), "C");
    assert!(sums.iter().enumerate().all(|(index, sum)| *sum == 3.0 * index as f32), "{:?}", &sums[..8]);
}

/// Numbers reach the members that have their names, whatever their order and type.
pub fn scalars_arrive(subject: &Subject) {
    let Some((mut device, program)) = ready(subject) else { return };
    succeed(device.run(program, &sequence(vec![scale("A", "C", 0.5, -7)])));
    let scaled = floats(device.as_mut(), "C");
    assert!(scaled.iter().enumerate().all(|(index, value)| *value == 0.5 * index as f32 - 7.0), "{:?}", &scaled[..8]);
}

/// A step sees the writes of the one before, a hundred times over.
pub fn steps_see_those_before(subject: &Subject) {
    let Some((mut device, program)) = ready(subject) else { return };
    succeed(device.allocate("D", 4 * LENGTH as u64));
    let mut steps = vec![LaunchStep::Fill { buffer: "C".to_owned(), pattern: [0; 4] }];
    for _ in 0..50 {
        steps.extend([scale("C", "D", 1.0, 1), scale("D", "C", 1.0, 1)]);
    }
    succeed(device.run(program, &sequence(steps)));
    assert_eq!(floats(device.as_mut(), "C"), [100.0; LENGTH]);
}

/// A pattern fills a buffer to its last byte.
pub fn patterns_fill(subject: &Subject) {
    let Some(mut device) = device(subject) else { return };
    succeed(device.allocate("odd", 11));
    succeed(device.fill("odd", [1, 2, 3, 4]));
    assert_eq!(device.read("odd"), Ok(vec![1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3]));
    succeed(device.write("odd", &[9]));
    assert_eq!(device.read("odd").map(|bytes| bytes[..3].to_vec()), Ok(vec![9, 2, 3]));
}

/// What is written is read, and a new buffer of a name replaces the old one.
pub fn bytes_come_back(subject: &Subject) {
    let Some(mut device) = device(subject) else { return };
    let bytes: Vec<u8> = (0..100_003u32).map(|value| (value % 251) as u8).collect();
    succeed(device.allocate("A", bytes.len() as u64));
    succeed(device.write("A", &bytes));
    assert_eq!(device.read("A"), Ok(bytes));
    succeed(device.allocate("A", 5));
    assert_eq!(device.read("A").map(|bytes| bytes.len()), Ok(5));
    device.free_all();
    assert!(matches!(device.read("A"), Err(RuntimeError::Buffer { .. })));
}

/// Unknown buffers, writes beyond an end and sizes beyond the device are refused.
pub fn buffers_have_bounds(subject: &Subject) {
    let Some(mut device) = device(subject) else { return };
    assert!(matches!(device.fill("none", [0; 4]), Err(RuntimeError::Buffer { .. })));
    assert!(matches!(device.write("none", &[1]), Err(RuntimeError::Buffer { .. })));
    succeed(device.allocate("A", 4));
    assert!(matches!(device.write("A", &[0; 5]), Err(RuntimeError::Buffer { .. })));
    let refused = device.allocate("huge", 1 << 50);
    assert!(matches!(refused, Err(RuntimeError::Buffer { .. } | RuntimeError::OutOfMemory { .. })), "{refused:?}");
}

/// A launch that the device or the program can't take is refused before it runs.
pub fn launches_have_limits(subject: &Subject) {
    let Some((mut device, program)) = ready(subject) else { return };
    let good = add("A", "B", "C");
    let changes: [fn(&mut LaunchStep); 7] = [
        |step| launch(step).grid[0] = u32::MAX,
        |step| launch(step).grid[1] = 0,
        |step| launch(step).block[0] = 2 * BLOCK,
        |step| *launch(step).entry = "subtract".to_owned(),
        |step| launch(step).arguments.truncate(2),
        |step| launch(step).arguments[3].value = ArgumentValue::Bytes(vec![0; 8]),
        |step| launch(step).arguments[0].name = "Z".to_owned(),
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut step = good.clone();
        change(&mut step);
        let refused = device.run(program, &sequence(vec![step]));
        assert!(matches!(refused, Err(RuntimeError::Launch(_))), "change {index}: {refused:?}");
    }
    let unknown = device.run(program, &sequence(vec![add("A", "none", "C")]));
    assert!(matches!(unknown, Err(RuntimeError::Buffer { .. })), "{unknown:?}");
}

/// Every repeat has a time, with warm caches and cold ones, and more work takes longer.
pub fn timing_is_sane(subject: &Subject) {
    let Some((mut device, program)) = ready(subject) else { return };
    let one = sequence(vec![add("A", "B", "C")]);
    let many = sequence(vec![add("A", "B", "C"); 200]);
    let fastest = |samples: Vec<u64>| samples.into_iter().min().unwrap_or_default();
    let short = match device.time(program, &one, 20, Caches::Warm) {
        // A runtime that stands in for another need not tell times; a backend's own device should.
        Err(RuntimeError::NoTimer) if subject.runtime.is_some() => return,
        Err(RuntimeError::NoTimer) => return super::skip(subject, "the device has no timestamps"),
        result => result.unwrap_or_else(|error| panic!("{error}")),
    };
    assert_eq!(short.len(), 20);
    assert!(short.iter().all(|time| (1..1_000_000_000).contains(time)), "{short:?}");
    let mut long = |caches| device.time(program, &many, 20, caches).unwrap_or_else(|error| panic!("{error}"));
    let (warm, cold) = (long(Caches::Warm), long(Caches::Cold));
    assert_eq!((warm.len(), cold.len()), (20, 20));
    assert!(fastest(warm) > 5 * fastest(short.clone()) && fastest(cold) > 5 * fastest(short));
    let sums = floats(device.as_mut(), "C");
    let right = sums.iter().enumerate().all(|(index, sum)| *sum == 3.0 * index as f32);
    assert!(right, "what empties the caches touches no buffer: {:?}", &sums[..8]);
}

/// The facts that the language speaks of are there.
pub fn devices_are_described(subject: &Subject) {
    let Some(device) = device(subject) else { return };
    let info = device.info();
    assert_eq!((info.index, info.backend.as_str()), (0, subject.backend.name()));
    for fact in ["max_threads_per_block", "shared_memory_per_block", "warp", "max_grid_x", "max_block_y"] {
        assert!(info.facts.get(fact).is_some_and(|value| *value > 0), "{fact} is not in {:?}", info.facts);
    }
    super::each_runtime(subject, &mut |runtime| {
        let count = runtime.devices().map_or(0, |devices| devices.len());
        let refused = runtime.open(usize::MAX).map(|_| ());
        assert!(matches!(refused, Err(RuntimeError::NoDevice { count: told, .. }) if told == count) || count == 0);
    });
}

/// The suite's program on a device, with `A[i] = i`, `B[i] = 2 i` and a poisoned `C`.
pub(super) fn ready(subject: &Subject) -> Option<(Box<dyn Device>, ProgramId)> {
    let mut device = device(subject)?;
    let artifact = compiled(subject)?;
    let program = device.load(&artifact).unwrap_or_else(|error| panic!("{error}"));
    for (name, factor) in [("A", 1.0), ("B", 2.0)] {
        let bytes: Vec<u8> = (0..LENGTH).flat_map(|index| (factor * index as f32).to_le_bytes()).collect();
        succeed(device.allocate(name, bytes.len() as u64));
        succeed(device.write(name, &bytes));
    }
    succeed(device.allocate("C", 4 * LENGTH as u64));
    succeed(device.fill("C", [0xFF; 4]));
    Some((device, program))
}

pub(super) fn succeed(result: Result<(), RuntimeError>) {
    result.unwrap_or_else(|error| panic!("{error}"));
}

pub(super) fn floats(device: &mut dyn Device, name: &str) -> Vec<f32> {
    let bytes = device.read(name).unwrap_or_else(|error| panic!("{error}"));
    bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

pub(super) fn sequence(steps: Vec<LaunchStep>) -> LaunchSequence {
    LaunchSequence { steps }
}

pub(super) fn add(left: &str, right: &str, out: &str) -> LaunchStep {
    step(
        "add",
        vec![buffer("A", left), buffer("B", right), buffer("C", out), number("n", &(LENGTH as i32).to_le_bytes())],
    )
}

fn scale(from: &str, out: &str, factor: f32, offset: i32) -> LaunchStep {
    let n = number("n", &(LENGTH as i32).to_le_bytes());
    let [factor, offset] = [number("factor", &factor.to_le_bytes()), number("offset", &offset.to_le_bytes())];
    step("scale", vec![buffer("A", from), buffer("C", out), factor, n, offset])
}

pub(super) fn step(entry: &str, arguments: Vec<LaunchArgument>) -> LaunchStep {
    let grid = [(LENGTH as u32).div_ceil(BLOCK), 1, 1];
    LaunchStep::Launch {
        entry: entry.to_owned(),
        grid,
        block: [BLOCK, 1, 1],
        shared_bytes: 0,
        cluster: None,
        cooperative: false,
        arguments,
    }
}

pub(super) fn buffer(name: &str, on_device: &str) -> LaunchArgument {
    LaunchArgument { name: name.to_owned(), value: ArgumentValue::Buffer(on_device.to_owned()) }
}

pub(super) fn number(name: &str, bytes: &[u8]) -> LaunchArgument {
    LaunchArgument { name: name.to_owned(), value: ArgumentValue::Bytes(bytes.to_vec()) }
}

/// The parts of a launch that the tests change.
pub(super) struct Parts<'a> {
    entry: &'a mut String,
    pub(super) grid: &'a mut [u32; 3],
    block: &'a mut [u32; 3],
    pub(super) arguments: &'a mut Vec<LaunchArgument>,
}

pub(super) fn launch(step: &mut LaunchStep) -> Parts<'_> {
    match step {
        LaunchStep::Launch { entry, grid, block, arguments, .. } => Parts { entry, grid, block, arguments },
        LaunchStep::Fill { .. } => panic!("the step is a launch"),
    }
}
