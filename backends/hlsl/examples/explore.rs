//! Times one HLSL matrix product over a space of parameters, on the first Vulkan device, and checks every result.
//!
//! `cargo run --example explore -- matmul.hlsl 512 BLOCK_X=8,16,32 BLOCK_Y=1,2,4 TRD_X=1,2,4 TRD_Y=1,2,4`
//!
//! The entry is `matmul` with buffers `A`, `B`, `C` and the push constant `n`; a block makes `BLOCK_X * TRD_X` columns and
//! `BLOCK_Y * TRD_Y` rows (a parameter left out is 1). `REPEATS` in the environment says how often each is timed. The
//! fastest are timed again, in turn, so that what else runs on the machine hits them alike.

use peak_backend_api::{
    ArgumentValue, Backend, Caches, CompileRequest, Device, EntryArgument, EntryArgumentKind, EntryRequest,
    LaunchArgument, LaunchSequence, LaunchStep, PreludeSpec, ProgramId, SourcePiece,
};
use std::error::Error;

type Configuration = Vec<(String, i64)>;

/// How many of the fastest are timed again, and how many rounds.
const FINALISTS: usize = 6;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, n, space @ ..] = arguments.as_slice() else { return Err("FILE N NAME=VALUE,VALUE ...".into()) };
    let (source, n) = (std::fs::read_to_string(file)?, n.parse::<i64>()?);
    let repeats = std::env::var("REPEATS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let backend = peak_backend_hlsl::backend();
    let mut device = backend.runtimes()[0].open(0)?;
    let inputs = fill(device.as_mut(), n as usize)?;
    let mut timed = Vec::new();
    for configuration in product(space)? {
        match load(device.as_mut(), &source, n, &configuration) {
            Ok((program, sequence)) => {
                device.fill("C", [0xFF; 4])?;
                device.run(program, &sequence)?;
                let wrong = check(&device.read("C")?, &inputs, n as usize);
                let best = device.time(program, &sequence, repeats, Caches::Warm)?.into_iter().min().unwrap_or(0);
                println!("{:9.2} ms {} {}", best as f64 / 1e6, words(&configuration), if wrong { "WRONG" } else { "" });
                timed.push((best, configuration, program, sequence));
            }
            Err(error) => println!("        --    {} {error}", words(&configuration)),
        }
    }
    timed.sort_by_key(|(time, ..)| *time);
    timed.truncate(FINALISTS);
    finals(device.as_mut(), timed, repeats)
}

type Timed = (u64, Configuration, ProgramId, LaunchSequence);

fn finals(device: &mut dyn Device, mut timed: Vec<Timed>, repeats: u32) -> Result<(), Box<dyn Error>> {
    for _ in 0..ROUNDS {
        for (best, _, program, sequence) in &mut timed {
            let again = device.time(*program, sequence, repeats, Caches::Warm)?.into_iter().min().unwrap_or(*best);
            *best = again.min(*best);
        }
    }
    timed.sort_by_key(|(time, ..)| *time);
    println!("fastest, timed again:");
    for (best, configuration, ..) in timed {
        println!("{:9.2} ms {}", best as f64 / 1e6, words(&configuration));
    }
    Ok(())
}

fn product(space: &[String]) -> Result<Vec<Configuration>, Box<dyn Error>> {
    let mut all: Vec<Configuration> = vec![Vec::new()];
    for axis in space {
        let (name, values) = axis.split_once('=').ok_or("an axis is NAME=VALUE,VALUE")?;
        let values = values.split(',').map(str::parse::<i64>).collect::<Result<Vec<_>, _>>()?;
        let with = |base: &Configuration, value: i64| [base.as_slice(), &[(name.to_owned(), value)]].concat();
        all = all.iter().flat_map(|base| values.iter().map(|value| with(base, *value))).collect();
    }
    Ok(all)
}

/// Compiles and loads one configuration, with its launch.
fn load(
    device: &mut dyn Device,
    source: &str,
    n: i64,
    configuration: &Configuration,
) -> Result<(ProgramId, LaunchSequence), Box<dyn Error>> {
    let get = |name: &str| configuration.iter().find(|(it, _)| it == name).map_or(1, |(_, value)| *value);
    let (columns, rows) = (get("BLOCK_X") * get("TRD_X"), get("BLOCK_Y") * get("TRD_Y"));
    if n % columns != 0 || n % rows != 0 {
        return Err("does not divide n".into());
    }
    let block = [get("BLOCK_X") as u32, get("BLOCK_Y") as u32, 1];
    let backend = peak_backend_hlsl::backend();
    let artifact = backend.compile(&request(backend.as_ref(), device, source, block, configuration))?;
    let buffer = |name: &str| LaunchArgument { name: name.to_owned(), value: ArgumentValue::Buffer(name.to_owned()) };
    let size = LaunchArgument { name: "n".to_owned(), value: ArgumentValue::Bytes((n as i32).to_le_bytes().to_vec()) };
    let step = LaunchStep::Launch {
        entry: "matmul".to_owned(),
        grid: [(n / columns) as u32, (n / rows) as u32, 1],
        block,
        shared_bytes: 0,
        cluster: None,
        cooperative: false,
        arguments: vec![buffer("A"), buffer("B"), buffer("C"), size],
    };
    Ok((device.load(&artifact)?, LaunchSequence { steps: vec![step] }))
}

fn request(
    backend: &dyn Backend,
    device: &dyn Device,
    source: &str,
    block: [u32; 3],
    configuration: &Configuration,
) -> CompileRequest {
    let prelude = backend.prelude(&PreludeSpec {
        element: "f32".to_owned(),
        accumulator: "f32".to_owned(),
        argument_types: ["A", "B", "C"].map(|name| (name.to_owned(), "f32".to_owned())).into(),
        configuration: configuration.clone(),
    });
    let piece = |name: &str, text: &str| SourcePiece { name: name.to_owned(), text: text.to_owned() };
    let array = |name: &str, writable| EntryArgument {
        name: name.to_owned(),
        kind: EntryArgumentKind::Array { element_bytes: 4, writable },
    };
    let size = EntryArgument { name: "n".to_owned(), kind: EntryArgumentKind::Scalar { bytes: 4 } };
    let arguments = vec![array("A", false), array("B", false), array("C", true), size];
    let fact = |name: &str| device.info().facts.get(name).copied();
    CompileRequest {
        pieces: vec![piece("prelude", &prelude), piece("device code", source)],
        entries: vec![EntryRequest { name: "matmul".to_owned(), block, arguments }],
        target: String::new(),
        shared_bytes_limit: fact("shared_memory_per_block").map(|limit| limit as u64),
        threads_limit: fact("max_threads_per_block").map(|limit| limit as u32),
    }
}

/// Fills the operands with numbers between -1 and 1 that repeat late, and gives them.
fn fill(device: &mut dyn Device, n: usize) -> Result<[Vec<f32>; 2], Box<dyn Error>> {
    let values =
        |factor: usize| (0..n * n).map(|at| ((at * factor) % 2039) as f32 / 1019.5 - 1.0).collect::<Vec<f32>>();
    let inputs = [values(7919), values(104_729)];
    for (name, values) in ["A", "B"].iter().zip(&inputs) {
        device.allocate(name, 4 * (n * n) as u64)?;
        device.write(name, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())?;
    }
    device.allocate("C", 4 * (n * n) as u64)?;
    Ok(inputs)
}

/// Compares some two thousand elements, spread over all rows and columns, with sums in double precision.
fn check(bytes: &[u8], [a, b]: &[Vec<f32>; 2], n: usize) -> bool {
    let got: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
    let exact = |i: usize, j: usize| (0..n).map(|k| f64::from(a[i * n + k]) * f64::from(b[k * n + j])).sum::<f64>();
    (0..n * n).step_by(n * n / 2048 + 1).any(|at| {
        let error = (f64::from(got[at]) - exact(at / n, at % n)).abs();
        error.is_nan() || error > 1e-5 * n as f64
    })
}

fn words(configuration: &Configuration) -> String {
    configuration.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}
