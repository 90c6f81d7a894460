//! A device with four buffers, which runs one module after another. Judges nothing.

use peak::backends;
use peak_backend_api::{
    ArgumentValue, Artifact, ArtifactKind, Device, LaunchArgument, LaunchSequence, LaunchStep, ReflectedBuffer,
    ReflectedEntry, Resources,
};

/// Threads a block.
pub const BLOCK: usize = 64;

/// The entry's parameters, each a pointer: the result, then the inputs.
pub const BUFFERS: [&str; 4] = ["d", "a", "b", "c"];

/// A device of CUDA's.
pub struct Bench {
    device: Box<dyn Device>,
    pub name: String,
}

/// The first device of a runtime.
pub fn open(runtime: &str) -> Result<Bench, String> {
    let cuda = backends::backend("cuda").ok_or("this build has no CUDA")?;
    let runtimes = backends::runtimes(cuda.as_ref());
    let runtime = runtimes.iter().find(|it| it.name() == runtime).ok_or("this build has no such runtime")?;
    let device = runtime.open(0).map_err(|error| error.to_string())?;
    let name = format!("{}, {}", device.info().name, device.info().driver);
    Ok(Bench { device, name })
}

impl Bench {
    /// Runs the entry `k` of a module, a thread for each triple of inputs, and gives `bytes` bytes a thread.
    pub fn run(&mut self, text: &str, inputs: &[[u64; 3]], bytes: usize) -> Result<Vec<u8>, String> {
        self.try_run(text, inputs, bytes).map_err(|error| error.to_string())
    }

    fn try_run(
        &mut self,
        text: &str,
        inputs: &[[u64; 3]],
        bytes: usize,
    ) -> Result<Vec<u8>, peak_backend_api::RuntimeError> {
        assert!(inputs.len().is_multiple_of(BLOCK), "whole blocks");
        let device = self.device.as_mut();
        let program = device.load(&artifact(text))?;
        device.allocate("d", (inputs.len() * bytes) as u64)?;
        device.fill("d", [0; 4])?;
        for (at, name) in BUFFERS[1..].iter().enumerate() {
            let column: Vec<u8> = inputs.iter().flat_map(|input| input[at].to_le_bytes()).collect();
            device.allocate(name, column.len() as u64)?;
            device.write(name, &column)?;
        }
        let argument = |name: &&str| {
            let name = (*name).to_owned();
            LaunchArgument { value: ArgumentValue::Buffer(name.clone()), name }
        };
        let launch = LaunchStep::Launch {
            entry: "k".to_owned(),
            grid: [(inputs.len() / BLOCK) as u32, 1, 1],
            block: [BLOCK as u32, 1, 1],
            shared_bytes: 0,
            cluster: None,
            cooperative: false,
            arguments: BUFFERS.iter().map(argument).collect(),
        };
        let ran = device.run(program, &LaunchSequence { steps: vec![launch] });
        device.unload(program);
        ran?;
        device.read("d")
    }
}

fn artifact(text: &str) -> Artifact {
    let buffer = |(binding, name): (u32, &&str)| ReflectedBuffer {
        name: (*name).to_owned(),
        set: 0,
        binding,
        writable: binding == 0,
        stride: None,
    };
    let entry = ReflectedEntry {
        name: "k".to_owned(),
        block: None,
        buffers: (0..).zip(&BUFFERS).map(buffer).collect(),
        scalars: Vec::new(),
        scalar_bytes: 0,
        resources: Resources::default(),
    };
    Artifact {
        kind: ArtifactKind::Ptx,
        bytes: text.as_bytes().to_vec(),
        entries: vec![entry],
        resources: Resources::default(),
        compiler: "by hand".to_owned(),
    }
}
