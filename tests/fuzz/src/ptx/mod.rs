//! PTX: mutations that mostly give well-formed programs, so that they reach the translator, and a run of what comes.

mod entry;
mod mutation;
mod registers;

pub use mutation::mutate;

use crate::bound::within_a_second;
use peak_backend_api::{
    ArgumentValue, Artifact, ArtifactKind, Device, LaunchArgument, LaunchSequence, LaunchStep, Resources, RuntimeError,
};
use peak_backend_sim::SimRuntime;

/// Instructions of a thread.
const MAX_INSTRUCTIONS: u64 = 1 << 12;

/// Bytes of text; what takes long by its length alone is the translator's own limit.
const MAX_BYTES: usize = 12 << 10;

/// Buffers of a launch, and bytes of each.
const BUFFERS: [&str; 4] = ["A", "B", "C", "D"];
const BUFFER_BYTES: u64 = 4096;

/// Loads a text and launches each of its entries, two blocks of two warps: errors may come of it, nothing else.
///
/// # Panics
/// Where an error has no words, or it takes too long.
pub fn run(bytes: &[u8]) {
    if bytes.len() > MAX_BYTES {
        return;
    }
    let mut device = SimRuntime::default().with_instruction_limit(MAX_INSTRUCTIONS).device();
    let artifact = Artifact {
        kind: ArtifactKind::Ptx,
        bytes: bytes.to_vec(),
        entries: Vec::new(),
        resources: Resources::default(),
        compiler: "fuzzed".to_owned(),
    };
    let program = match within_a_second(|| device.load(&artifact)) {
        Ok(program) => program,
        Err(RuntimeError::Artifact(words)) => return assert!(!words.is_empty()),
        Err(other) => panic!("{other:?}"),
    };
    for name in BUFFERS {
        device.allocate(name, BUFFER_BYTES).expect("it is small");
        device.fill(name, [3, 0, 0, 0]).expect("it is there");
    }
    for entry in entry::entries(&String::from_utf8_lossy(bytes)) {
        let arguments = entry.parameters.iter().enumerate().map(|(at, bytes)| argument(at, *bytes)).collect();
        let launch = LaunchStep::Launch {
            entry: entry.name,
            grid: [2, 1, 1],
            block: [entry.threads.unwrap_or(64).clamp(1, 128), 1, 1],
            shared_bytes: 512,
            cluster: None,
            cooperative: false,
            arguments,
        };
        // What is refused or faults is told in words, which a debug build's assertions look at.
        let _ = within_a_second(|| device.run(program, &LaunchSequence { steps: vec![launch] }));
    }
    device.unload(program);
}

/// Parameters of 8 bytes are buffers, all others small numbers.
fn argument(at: usize, bytes: usize) -> LaunchArgument {
    let value = match bytes {
        8 => ArgumentValue::Buffer(BUFFERS[at % BUFFERS.len()].to_owned()),
        _ => ArgumentValue::Bytes((0..bytes).map(|byte| if byte % 4 == 0 { 7 } else { 0 }).collect()),
    };
    LaunchArgument { name: format!("argument {at}"), value }
}
