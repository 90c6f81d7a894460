//! Kernels that use what launches of CUDA have beside a grid and a block, with their data and what they must give. Knows no
//! backend and no device: whoever includes it compiles and runs them.

use peak_backend_api::{
    ArgumentValue, CompileRequest, DeviceInfo, DeviceKind, EntryArgument, EntryArgumentKind, EntryRequest,
    LaunchArgument, LaunchSequence, LaunchStep, PreludeSpec, SourcePiece, TENSOR_MAP_TYPE, TensorElement, TensorMap,
};

/// Threads of a block in every kernel.
const BLOCK: u32 = 256;
/// A box of the tensor maps.
const BOX: [u64; 2] = [16, 32];
/// The array that the tensor maps are over: neither side is a multiple of the box's.
const ARRAY: [usize; 2] = [40, 100];
/// The same in whole boxes.
const WHOLE: [usize; 2] = [48, 128];

/// A kernel with one sequence of launches.
pub struct Case {
    /// Its name in reports.
    pub name: &'static str,
    source: &'static str,
    /// The type of each argument that is no number.
    types: &'static [(&'static str, &'static str)],
    /// Features of a device that it needs.
    pub needs: &'static [&'static str],
    /// Shared memory of a block that it needs, in bytes.
    pub shared_bytes: i64,
    /// Its data and launches for a device.
    pub work: fn(&DeviceInfo) -> Work,
}

/// What runs, and what must come of it. Running it again gives the same.
pub struct Work {
    /// Buffers by name, with their first bytes.
    pub buffers: Vec<(&'static str, Vec<u8>)>,
    /// The launches.
    pub sequence: LaunchSequence,
    /// Buffers afterwards.
    pub expected: Vec<(&'static str, Vec<u8>)>,
}

/// Every case.
pub const CASES: &[Case] = &[
    Case { name: "cluster_of_8", work: |_| cluster(8), ..CLUSTER },
    Case { name: "cluster_of_16", work: |_| cluster(16), ..CLUSTER },
    Case { name: "tensor_copy", work: |_| tensor_copy(), ..TENSOR },
    Case { name: "tensor_store", work: |_| tensor_store(), ..TENSOR },
    Case { name: "grid_sync", work: grid_sync, ..GRID },
    Case {
        name: "shared_100_kb",
        source: include_str!("../kernels/shared_reverse.cu"),
        types: &[("A", "f32"), ("C", "f32")],
        needs: &[],
        shared_bytes: 100 << 10,
        work: |_| shared_reverse(),
    },
    Case {
        name: "scratch_and_fill",
        source: include_str!("../kernels/split_sum.cu"),
        types: &[("A", "u32"), ("C", "u32"), ("partial", "u32")],
        needs: &[],
        shared_bytes: 0,
        work: |_| split_sum(),
    },
];

/// Launches that a device must refuse, with a word of why.
pub const REFUSED: &[(Case, &str)] = &[
    (Case { name: "cluster_of_32", work: |_| cluster(32), ..CLUSTER }, "cluster"),
    (Case { name: "cluster_of_no_divisor", work: |_| uneven(), ..CLUSTER }, "can't be cut into clusters"),
    (Case { name: "grid_that_does_not_fit", work: |_| grid(1 << 20, 1), ..GRID }, "fit on the device at once"),
];

const CLUSTER: Case = Case {
    name: "",
    source: include_str!("../kernels/cluster_sum.cu"),
    types: &[("A", "f32"), ("C", "f32"), ("D", "u32")],
    needs: &["clusters"],
    shared_bytes: 0,
    work: |_| cluster(2),
};

const TENSOR: Case = Case {
    name: "",
    source: include_str!("../kernels/tensor_copy.cu"),
    types: &[("A", "f32"), ("C", "f32"), ("a_map", TENSOR_MAP_TYPE), ("c_map", TENSOR_MAP_TYPE)],
    needs: &["bulk_copy"],
    shared_bytes: 0,
    work: |_| tensor_copy(),
};

const GRID: Case = Case {
    name: "",
    source: include_str!("../kernels/grid_rounds.cu"),
    types: &[("A", "u32"), ("B", "u32"), ("C", "u32")],
    needs: &["cooperative_launch"],
    shared_bytes: 0,
    work: grid_sync,
};

impl Case {
    /// Why a device can't run it, if so.
    pub fn lack(&self, device: &DeviceInfo) -> Option<String> {
        let has = |need: &&&str| device.features.iter().any(|feature| feature == **need);
        if let Some(need) = self.needs.iter().find(|need| !has(need)) {
            return Some(format!("the device has no `{need}`"));
        }
        let shared = device.facts.get("shared_memory_per_block_optin").copied().unwrap_or(0);
        (shared < self.shared_bytes).then(|| format!("a block has {shared} bytes of shared memory"))
    }

    /// Its source for a target, after a backend's prelude.
    pub fn request(&self, prelude: impl Fn(&PreludeSpec) -> String, work: &Work, target: &str) -> CompileRequest {
        let number = |(name, value): (&str, u64)| (name.to_owned(), i64::try_from(value).unwrap_or(0));
        let configuration = [("BLOCK_X", u64::from(BLOCK)), ("BOX_ROWS", BOX[0]), ("BOX_COLUMNS", BOX[1])];
        let prelude = prelude(&PreludeSpec {
            element: "f32".to_owned(),
            accumulator: "f32".to_owned(),
            argument_types: self.types.iter().map(|(name, of)| ((*name).to_owned(), (*of).to_owned())).collect(),
            configuration: configuration.map(number).to_vec(),
        });
        let piece = |name: &str, text: &str| SourcePiece { name: name.to_owned(), text: text.to_owned() };
        CompileRequest {
            pieces: vec![piece("prelude", &prelude), piece("device code", self.source)],
            entries: entries(&work.sequence),
            target: target.to_owned(),
            shared_bytes_limit: None,
            threads_limit: None,
        }
    }
}

/// What the launches call; each entry once.
fn entries(sequence: &LaunchSequence) -> Vec<EntryRequest> {
    let mut entries: Vec<EntryRequest> = Vec::new();
    for step in &sequence.steps {
        let LaunchStep::Launch { entry, block, arguments, .. } = step else { continue };
        if entries.iter().all(|known| known.name != *entry) {
            let arguments = arguments.iter().map(|it| EntryArgument { name: it.name.clone(), kind: kind(it) });
            entries.push(EntryRequest { name: entry.clone(), block: *block, arguments: arguments.collect() });
        }
    }
    entries
}

fn kind(argument: &LaunchArgument) -> EntryArgumentKind {
    match &argument.value {
        ArgumentValue::Buffer(_) => EntryArgumentKind::Array { element_bytes: 4, writable: argument.name != "A" },
        ArgumentValue::Bytes(bytes) => {
            EntryArgumentKind::Scalar { bytes: u32::try_from(bytes.len()).expect("a number has few bytes") }
        }
        ArgumentValue::TensorMap(_) => EntryArgumentKind::TensorMap,
    }
}

/// A launch of blocks of [`BLOCK`] threads.
fn launch(entry: &str, grid: [u32; 3], arguments: Vec<LaunchArgument>) -> LaunchStep {
    let (entry, block) = (entry.to_owned(), [BLOCK, 1, 1]);
    LaunchStep::Launch { entry, grid, block, shared_bytes: 0, cluster: None, cooperative: false, arguments }
}

fn buffer(name: &str, on_device: &str) -> LaunchArgument {
    LaunchArgument { name: name.to_owned(), value: ArgumentValue::Buffer(on_device.to_owned()) }
}

fn number(name: &str, value: i32) -> LaunchArgument {
    LaunchArgument { name: name.to_owned(), value: ArgumentValue::Bytes(value.to_le_bytes().to_vec()) }
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A small whole number that depends on its place: sums of some are exact.
fn small(at: usize) -> f32 {
    ((at * 7919) % 1021) as f32 - 500.0
}

fn fresh(count: usize) -> Vec<u8> {
    vec![0xA5; 4 * count]
}

/// Three clusters of that many blocks.
fn cluster(size: u32) -> Work {
    cluster_of(size, 3 * size)
}

fn uneven() -> Work {
    cluster_of(4, 6)
}

fn cluster_of(size: u32, blocks: u32) -> Work {
    let (block, count) = (BLOCK as usize, (blocks * BLOCK) as usize);
    let span = size as usize * block;
    let sum = |at: usize| {
        let (first, mirrored) = (at / span * span, block - 1 - at % block);
        (0..size as usize).map(|rank| small(first + rank * block + mirrored)).sum::<f32>()
    };
    let visits = (1..=size).map(|rank| rank * BLOCK).sum::<u32>();
    let clusters = (blocks / size) as usize;
    let arguments = ["A", "C", "D"].map(|name| buffer(name, name)).to_vec();
    let mut step = launch("cluster_sum", [blocks, 1, 1], arguments);
    if let LaunchStep::Launch { cluster, .. } = &mut step {
        *cluster = Some([size, 1, 1]);
    }
    Work {
        buffers: vec![("A", floats((0..count).map(small))), ("C", fresh(count)), ("D", fresh(clusters))],
        sequence: LaunchSequence { steps: vec![step] },
        expected: vec![("C", floats((0..count).map(sum))), ("D", words(vec![visits; clusters]))],
    }
}

fn map(name: &str, on_device: &str, swizzle: u32) -> LaunchArgument {
    let extents = ARRAY.map(|extent| extent as u64);
    let map = TensorMap::dense(on_device, TensorElement::F32, &extents, &BOX, swizzle);
    LaunchArgument { name: name.to_owned(), value: ArgumentValue::TensorMap(map) }
}

/// A block a box.
fn boxes() -> [u32; 3] {
    let count = |axis: usize| u32::try_from(WHOLE[axis] as u64 / BOX[axis]).expect("few boxes");
    [count(1), count(0), 1]
}

/// Reads boxes without a swizzle, and with one.
fn tensor_copy() -> Work {
    let [rows, columns] = WHOLE;
    let inside = |at: usize| {
        (at / columns < ARRAY[0] && at % columns < ARRAY[1]).then(|| at / columns * ARRAY[1] + at % columns)
    };
    let copied = floats((0..rows * columns).map(|at| inside(at).map_or(0.0, small)));
    let copy = |swizzle: u32, to: &str| {
        let swizzled = i32::from(swizzle > 0);
        launch("tensor_copy", boxes(), vec![map("a_map", "A", swizzle), buffer("C", to), number("swizzled", swizzled)])
    };
    let array = floats((0..ARRAY[0] * ARRAY[1]).map(small));
    Work {
        buffers: vec![("A", array), ("C", fresh(rows * columns)), ("D", fresh(rows * columns))],
        sequence: LaunchSequence { steps: vec![copy(0, "C"), copy(128, "D")] },
        expected: vec![("C", copied.clone()), ("D", copied)],
    }
}

/// Writes boxes; what they have beyond the array is lost.
fn tensor_store() -> Work {
    let [rows, columns] = WHOLE;
    let stored = (0..ARRAY[0] * ARRAY[1]).map(|at| small(at / ARRAY[1] * columns + at % ARRAY[1]));
    let store = launch("tensor_store", boxes(), vec![buffer("A", "A"), map("c_map", "C", 0)]);
    Work {
        buffers: vec![("A", floats((0..rows * columns).map(small))), ("C", fresh(ARRAY[0] * ARRAY[1]))],
        sequence: LaunchSequence { steps: vec![store] },
        expected: vec![("C", floats(stored))],
    }
}

/// Two blocks on each multiprocessor; fewer where each thread costs a stack.
fn grid_sync(device: &DeviceInfo) -> Work {
    let count = device.facts.get("multiprocessors").copied().unwrap_or(1);
    let blocks = if device.kind == DeviceKind::Software { 48 } else { u32::try_from(2 * count).unwrap_or(2) };
    grid(blocks, 5)
}

fn grid(blocks: u32, rounds: u32) -> Work {
    let n = 100_003;
    let start: Vec<u32> = (0..n).map(|at| (at as u32).wrapping_mul(2_654_435_761)).collect();
    let (mut from, mut to) = (start.clone(), vec![0; n]);
    for round in 1..=rounds as usize {
        for at in 0..n {
            to[at] = from[at].wrapping_mul(3).wrapping_add(from[(at + 257 * round) % n]);
        }
        std::mem::swap(&mut from, &mut to);
    }
    let numbers = [number("n", n as i32), number("rounds", rounds.cast_signed())];
    let arguments = ["A", "B", "C"].map(|name| buffer(name, name)).into_iter().chain(numbers).collect();
    let mut step = launch("grid_rounds", [blocks, 1, 1], arguments);
    if let LaunchStep::Launch { cooperative, .. } = &mut step {
        *cooperative = true;
    }
    // An odd number of rounds ends in `C`.
    let (last, before) = if rounds % 2 == 1 { ("C", "B") } else { ("B", "C") };
    Work {
        buffers: vec![("A", words(start)), ("B", fresh(n)), ("C", fresh(n))],
        sequence: LaunchSequence { steps: vec![step] },
        expected: vec![(last, words(from)), (before, words(to))],
    }
}

/// Rows of 100 KB, and then of 60 KB: the second launch must not lower what the first was allowed.
fn shared_reverse() -> Work {
    let reverse = |columns: usize, to: &str| {
        let (rows, arguments) = (5, vec![buffer("A", "A"), buffer("C", to), number("columns", columns as i32)]);
        let mut step = launch("shared_reverse", [rows, 1, 1], arguments);
        if let LaunchStep::Launch { shared_bytes, .. } = &mut step {
            *shared_bytes = 4 * u32::try_from(columns).expect("a row fits");
        }
        step
    };
    let reversed = |columns: usize| {
        floats((0..5 * columns).map(move |at| small(at / columns * columns + columns - 1 - at % columns)))
    };
    let (long, short) = (25 << 10, 15 << 10);
    Work {
        buffers: vec![("A", floats((0..5 * long).map(small))), ("C", fresh(5 * long)), ("D", fresh(5 * short))],
        sequence: LaunchSequence { steps: vec![reverse(long, "C"), reverse(short, "D")] },
        expected: vec![("C", reversed(long)), ("D", reversed(short))],
    }
}

/// A fill before each launch that adds to what is there.
fn split_sum() -> Work {
    let (n, parts) = (70_001_usize, 37);
    let mut partial = vec![0_u32; parts];
    (0..n).for_each(|at| partial[at % parts] = partial[at % parts].wrapping_add(at as u32 * 3));
    let sum = partial.iter().fold(0_u32, |sum, part| sum.wrapping_mul(31).wrapping_add(*part));
    let fill = |name: &str, value: u32| LaunchStep::Fill { buffer: name.to_owned(), pattern: value.to_le_bytes() };
    let sizes =
        |names: &[(&str, usize)]| names.iter().map(|(name, value)| number(name, *value as i32)).collect::<Vec<_>>();
    let arguments =
        |names: [&str; 2], numbers| names.map(|name| buffer(name, name)).into_iter().chain(numbers).collect();
    let blocks = u32::try_from(n).expect("a small array").div_ceil(BLOCK);
    let steps = vec![
        fill("partial", 0),
        fill("C", 7),
        launch("sum_parts", [blocks, 1, 1], arguments(["A", "partial"], sizes(&[("n", n), ("parts", parts)]))),
        launch("join_parts", [2, 1, 1], arguments(["partial", "C"], sizes(&[("parts", parts)]))),
    ];
    Work {
        buffers: vec![("A", words((0..n).map(|at| at as u32 * 3))), ("C", fresh(2)), ("partial", fresh(parts))],
        sequence: LaunchSequence { steps },
        expected: vec![("C", words([sum.wrapping_add(7); 2])), ("partial", words(partial))],
    }
}
