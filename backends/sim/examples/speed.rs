//! Prints simulated thread-instructions a second a core, for a naive product of two 256x256 matrices.
//!
//! `cargo run -p peak-backend-sim --example speed`. It measures the host, never a kernel: the simulator has no clock.

use peak_backend_api::{
    ArgumentValue, Artifact, ArtifactKind, Device, LaunchArgument, LaunchSequence, LaunchStep, Resources,
};
use peak_backend_sim::SimRuntime;
use std::error::Error;
use std::time::Instant;

const SIZE: usize = 256;
const RUNS: u32 = 5;

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
        device.allocate(name, (SIZE * SIZE * 4) as u64)?;
        let values: Vec<u8> = (0..SIZE * SIZE).flat_map(|at| ((at % 7) as f32).to_le_bytes()).collect();
        device.write(name, &values)?;
    }
    let buffer = |name: &str| LaunchArgument { name: name.to_owned(), value: ArgumentValue::Buffer(name.to_owned()) };
    let size = ArgumentValue::Bytes((SIZE as u32).to_le_bytes().to_vec());
    let arguments = vec![buffer("A"), buffer("B"), buffer("C"), LaunchArgument { name: "n".to_owned(), value: size }];
    let blocks = (SIZE / 16) as u32;
    let (grid, block) = ([blocks, blocks, 1], [16, 16, 1]);
    let entry = std::env::args().nth(1).unwrap_or_else(|| "matmul_naive".to_owned());
    let launch = LaunchStep::Launch { entry, grid, block, shared_bytes: 0, cluster: None, arguments };
    let sequence = LaunchSequence { steps: vec![launch] };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..RUNS {
        let before = device.executed_instructions();
        let started = Instant::now();
        device.run(program, &sequence)?;
        let seconds = started.elapsed().as_secs_f64();
        let instructions = (device.executed_instructions() - before) as f64;
        let rate = instructions / seconds / cores as f64 / 1e6;
        println!("{:.1} ms on {cores} cores: {rate:.0} M thread-instructions a second a core", seconds * 1e3);
    }
    Ok(())
}
