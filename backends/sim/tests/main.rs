//! Tests through the public surface: kernels, faults, single instructions, mutated text.

mod cooperative;
mod corpus;
mod count;
mod faults;
mod instructions;
mod parser;
mod table;

use peak_backend_api::{
    ArgumentValue, Artifact, ArtifactKind, Device, LaunchArgument, LaunchSequence, LaunchStep, ProgramId, Resources,
    RuntimeError,
};
use peak_backend_sim::{SimDevice, SimRuntime};

/// Instructions of a thread in tests, so that endless loops end soon.
const INSTRUCTION_LIMIT: u64 = 1 << 24;

/// A PTX artifact.
fn artifact(text: &str) -> Artifact {
    let (bytes, compiler) = (text.as_bytes().to_vec(), "test".to_owned());
    Artifact { kind: ArtifactKind::Ptx, bytes, entries: Vec::new(), resources: Resources::default(), compiler }
}

/// An argument of a launch.
enum Arg<'a> {
    Buffer(&'a str),
    Bytes(Vec<u8>),
}

/// A scalar of any type.
macro_rules! scalar {
    ($value:expr) => {
        $crate::Arg::Bytes($value.to_le_bytes().to_vec())
    };
}
pub(crate) use scalar;

/// Arguments by place.
fn launch_arguments(arguments: Vec<Arg<'_>>) -> Vec<LaunchArgument> {
    let argument = |(at, argument): (usize, Arg<'_>)| LaunchArgument {
        name: format!("argument {at}"),
        value: match argument {
            Arg::Buffer(name) => ArgumentValue::Buffer(name.to_owned()),
            Arg::Bytes(bytes) => ArgumentValue::Bytes(bytes),
        },
    };
    arguments.into_iter().enumerate().map(argument).collect()
}

/// A device with one program.
struct Bench {
    device: SimDevice,
    program: ProgramId,
}

impl Bench {
    fn new(text: &str) -> Bench {
        let mut device = SimRuntime::default().with_instruction_limit(INSTRUCTION_LIMIT).device();
        let program = device.load(&artifact(text)).unwrap_or_else(|error| panic!("{error}"));
        Bench { device, program }
    }

    fn buffer(&mut self, name: &str, bytes: &[u8]) -> &mut Bench {
        self.device.allocate(name, bytes.len() as u64).expect("a small buffer fits");
        self.device.write(name, bytes).expect("it was made with this size");
        self
    }

    fn try_run(
        &mut self,
        entry: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        arguments: Vec<Arg<'_>>,
    ) -> Result<(), RuntimeError> {
        let (entry, arguments) = (entry.to_owned(), launch_arguments(arguments));
        let (cluster, cooperative) = (None, false);
        self.step(LaunchStep::Launch { entry, grid, block, shared_bytes, cluster, cooperative, arguments })
    }

    fn step(&mut self, step: LaunchStep) -> Result<(), RuntimeError> {
        self.device.run(self.program, &LaunchSequence { steps: vec![step] })
    }

    fn run(&mut self, entry: &str, grid: [u32; 3], block: [u32; 3], shared_bytes: u32, arguments: Vec<Arg<'_>>) {
        self.try_run(entry, grid, block, shared_bytes, arguments).unwrap_or_else(|error| panic!("{entry}: {error}"));
    }

    fn read(&mut self, name: &str) -> Vec<u8> {
        self.device.read(name).expect("it was made before")
    }
}

/// Numbers as little-endian bytes, and back.
trait Numbers: Sized + Copy {
    fn encode(values: &[Self]) -> Vec<u8>;
    fn decode(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Numbers for $ty {
            fn encode(values: &[Self]) -> Vec<u8> {
                values.iter().flat_map(|value| value.to_le_bytes()).collect()
            }
            fn decode(bytes: &[u8]) -> Vec<Self> {
                let word = |chunk: &[u8]| <$ty>::from_le_bytes(chunk.try_into().expect("whole chunks"));
                bytes.chunks_exact(size_of::<$ty>()).map(word).collect()
            }
        }
    )*};
}
numbers!(u8 i16 u16 i32 u32 u64 f32 f64 half::f16 half::bf16);

/// Numbers as little-endian bytes.
fn bytes_of<T: Numbers>(values: &[T]) -> Vec<u8> {
    T::encode(values)
}

/// Little-endian bytes as numbers.
fn numbers_of<T: Numbers>(bytes: &[u8]) -> Vec<T> {
    T::decode(bytes)
}

/// Numbers between -1 and 1 that look random.
fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        })
        .collect()
}
