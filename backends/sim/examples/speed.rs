//! Prints simulated thread-instructions a second a core, for products of two 256x256 matrices: a naive one, whose
//! threads are plain calls, and tiled ones, whose threads are coroutines.
//!
//! `cargo run -p peak-backend-sim --example speed`. It measures the host, never a kernel: the simulator has no clock.

use peak_backend_api::{
    ArgumentValue, Artifact, ArtifactKind, Device, LaunchArgument, LaunchSequence, LaunchStep, Resources,
};
use peak_backend_sim::SimRuntime;
use std::error::Error;
use std::time::Instant;

const SIZE: u32 = 256;
const RUNS: u32 = 5;
/// Entry, blocks and threads in x and y.
const KERNELS: [(&str, u32, [u32; 3]); 3] = [
    ("matmul_naive", SIZE / 16, [16, 16, 1]),
    ("matmul_tiled", SIZE / 16, [16, 16, 1]),
    ("matmul_simt", SIZE / 64, [256, 1, 1]),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut device = SimRuntime::default().device();
    let artifact = Artifact {
        kind: ArtifactKind::Ptx,
        bytes: include_bytes!("../tests/kernels/matmul.ptx").to_vec(),
        entries: Vec::new(),
        resources: Resources::default(),
        compiler: "NVRTC 13.0".to_owned(),
    };
    let started = Instant::now();
    let program = device.load(&artifact)?;
    println!("loaded in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    for name in ["A", "B", "C"] {
        device.allocate(name, u64::from(SIZE * SIZE * 4))?;
        let values: Vec<u8> = (0..SIZE * SIZE).flat_map(|at| ((at % 7) as f32).to_le_bytes()).collect();
        device.write(name, &values)?;
    }
    let buffer = |name: &str| LaunchArgument { name: name.to_owned(), value: ArgumentValue::Buffer(name.to_owned()) };
    let size = LaunchArgument { name: "n".to_owned(), value: ArgumentValue::Bytes(SIZE.to_le_bytes().to_vec()) };
    let arguments = vec![buffer("A"), buffer("B"), buffer("C"), size];
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for (name, blocks, block) in KERNELS {
        let (grid, entry, arguments) = ([blocks, blocks, 1], name.to_owned(), arguments.clone());
        let launch =
            LaunchStep::Launch { entry, grid, block, shared_bytes: 0, cluster: None, cooperative: false, arguments };
        let sequence = LaunchSequence { steps: vec![launch] };
        let (mut best, mut instructions) = (f64::INFINITY, 0.0);
        for _ in 0..RUNS {
            let before = device.executed_instructions();
            let started = Instant::now();
            device.run(program, &sequence)?;
            best = best.min(started.elapsed().as_secs_f64());
            instructions = (device.executed_instructions() - before) as f64;
        }
        let rate = instructions / best / cores as f64 / 1e6;
        println!("{name}: {:.1} ms on {cores} cores, {rate:.0} M thread-instructions a second a core", best * 1e3);
    }
    Ok(())
}
