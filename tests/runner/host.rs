//! A backend that runs on the processor and misbehaves as it is told: the first word of the device code says how.
//!
//! The suite's own binary serves as its worker: the coordinator starts it with the name of the test below.

use peak::backends::MakeBackend;
use peak::runner::WorkerProgram;
use peak_backend_api::*;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

const BACKENDS: &[MakeBackend] = &[|| Box::new(Host)];

/// The suite itself as a worker program.
pub fn program() -> WorkerProgram {
    let path = std::env::current_exe().expect("the suite knows its place");
    let words = ["--exact", "--nocapture", "runner::host::the_suite_serves_as_a_worker", "--", "worker"];
    let (before, variables) = (Vec::new(), Vec::new());
    WorkerProgram { path, arguments: words.map(Into::into).to_vec(), before, variables }
}

/// As the coordinator's child: serves. Otherwise: asks such a child what it has.
#[test]
fn the_suite_serves_as_a_worker() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(start) = arguments.iter().position(|word| word == "worker") {
        let _ = peak::runner::worker::serve(&arguments[start + 1..], BACKENDS);
        std::process::exit(0);
    }
    let found = peak::runner::inventory(&program()).expect("the suite starts as a worker");
    let names: Vec<&str> = found.devices.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(names, ["Host software", "Host card"]);
    assert_eq!(found.backends[0].toolchain(), "host-cc 1.0");
    let missing: Vec<(&str, &str)> =
        found.missing.iter().map(|missing| (missing.runtime.as_str(), missing.mend.as_str())).collect();
    assert_eq!(missing[0], ("absent", "install absent"));
    assert!(found.missing[1].runtime == "crashing" && found.missing[1].why.contains("SIGABRT"), "{:?}", found.missing);
}

struct Host;

impl Backend for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn title(&self) -> &'static str {
        "the tests' own"
    }

    fn toolchains(&self) -> Vec<Toolchain> {
        let (name, mend) = ("host-cc".to_owned(), String::new());
        vec![Toolchain { name, found: true, version: Some("1.0".to_owned()), place: "here".to_owned(), mend }]
    }

    fn spelling(&self) -> &'static Spelling {
        const SPELLING: Spelling =
            Spelling { fence: "host", terms: &[], notes: &[], barrier: "", known_capitals: &[], banned: &[] };
        &SPELLING
    }

    fn prelude(&self, spec: &PreludeSpec) -> String {
        spec.configuration.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let code = request.pieces.iter().find(|piece| piece.name == "device code").expect("a context has device code");
        match code.text.split_whitespace().next() {
            Some("compile-hang") => std::thread::sleep(Duration::from_secs(3600)),
            Some("compile-crash") => std::process::abort(),
            Some("compile-panic") => panic!("on purpose"),
            Some("compile-eat") => eat_memory(),
            Some("compile-error") => return Err(CompileError::Source(vec![message()])),
            Some("compile-missing") => {
                let word = |text: &str| text.to_owned();
                let (name, reason, mend) = (word("host-cc"), word("gone"), word("install host-cc"));
                return Err(CompileError::Toolchain { name, reason, mend });
            }
            _ => {}
        }
        // Compilers print where they should not, line ends left out.
        print!("host-cc says hello");
        let text: Vec<&str> = request.pieces.iter().map(|piece| piece.text.as_str()).collect();
        let (entries, resources) = (Vec::new(), Resources::default());
        let compiler = "host-cc 1.0".to_owned();
        Ok(Artifact { kind: ArtifactKind::LlvmIr, bytes: text.join("\n").into_bytes(), entries, resources, compiler })
    }

    fn runtimes(&self) -> Vec<Box<dyn Runtime>> {
        vec![Box::new(Memory), Box::new(Absent("absent")), Box::new(Absent("crashing"))]
    }
}

fn message() -> SourceMessage {
    let piece = Some("device code".to_owned());
    SourceMessage { severity: Severity::Error, piece, line: 1, column: 1, text: "no such word".to_owned() }
}

fn eat_memory() {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        eaten.push(vec![1; 16 << 20]);
        std::thread::sleep(Duration::from_millis(2));
    }
}

struct Absent(&'static str);

impl Runtime for Absent {
    fn name(&self) -> &'static str {
        self.0
    }

    fn accepts(&self, _: ArtifactKind) -> bool {
        false
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, RuntimeError> {
        if self.0 == "crashing" {
            std::process::abort();
        }
        let word = |text: &str| text.to_owned();
        Err(RuntimeError::Missing { what: word("absent"), reason: word("not here"), mend: word("install absent") })
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>, RuntimeError> {
        Err(RuntimeError::NoDevice { index, count: 0 })
    }
}

struct Memory;

fn info(index: usize) -> DeviceInfo {
    let (name, kind) =
        if index == 0 { ("Host software", DeviceKind::Software) } else { ("Host card", DeviceKind::Discrete) };
    DeviceInfo {
        index,
        name: name.to_owned(),
        backend: "host".to_owned(),
        runtime: "memory".to_owned(),
        driver: "1".to_owned(),
        kind,
        facts: BTreeMap::new(),
        features: Vec::new(),
        target: None,
    }
}

impl Runtime for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn accepts(&self, kind: ArtifactKind) -> bool {
        kind == ArtifactKind::LlvmIr
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, RuntimeError> {
        Ok(vec![info(0), info(1)])
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>, RuntimeError> {
        Ok(Box::new(HostDevice { info: info(index), buffers: HashMap::new(), programs: Vec::new(), damaged: false }))
    }
}

struct HostDevice {
    info: DeviceInfo,
    buffers: HashMap<String, Vec<u8>>,
    programs: Vec<String>,
    /// Dies at the next run, as a process does whose memory somebody wrote over.
    damaged: bool,
}

/// The buffer that the first launch passes by that name.
fn bound<'s>(sequence: &'s LaunchSequence, name: &'s str) -> &'s str {
    let arguments = sequence.steps.iter().find_map(|step| match step {
        LaunchStep::Launch { arguments, .. } => Some(arguments),
        LaunchStep::Fill { .. } => None,
    });
    let argument = arguments.and_then(|arguments| arguments.iter().find(|argument| argument.name == name));
    match argument.map(|argument| &argument.value) {
        Some(ArgumentValue::Buffer(buffer)) => buffer,
        _ => name,
    }
}

impl HostDevice {
    fn buffer(&mut self, name: &str) -> Result<&mut Vec<u8>, RuntimeError> {
        let missing = || RuntimeError::Buffer { name: name.to_owned(), problem: "not allocated".to_owned() };
        self.buffers.get_mut(name).ok_or_else(missing)
    }

    /// What the program's device code says; the time that it claims.
    fn execute(&mut self, program: ProgramId, sequence: &LaunchSequence) -> Result<u64, RuntimeError> {
        if self.damaged {
            std::process::abort();
        }
        let code = self.programs[program.0 as usize].clone();
        let value = |name: &str| {
            let line = code.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.and_then(|value| value.parse::<i64>().ok()).unwrap_or(0)
        };
        let words: Vec<&str> = code.lines().last().unwrap_or_default().split_whitespace().collect();
        match words.first().copied().unwrap_or_default() {
            // C = A, B = B + 1 in its first byte.
            "copy" => {
                let bytes = self.buffer(bound(sequence, "A"))?.clone();
                *self.buffer(bound(sequence, "C"))? = bytes;
                let inout = self.buffer(bound(sequence, "B"))?;
                inout[0] = inout[0].wrapping_add(1);
            }
            "nothing" => {}
            "scribble" => self.buffer("A")?[0] ^= 1,
            "hang" => std::thread::sleep(Duration::from_secs(3600)),
            "abort" => {
                eprintln!("the driver's last words");
                std::process::abort();
            }
            "damage" => self.damaged = true,
            "panic" => panic!("on purpose"),
            "eat" => eat_memory(),
            "lost" => return Err(RuntimeError::DeviceLost("it fell off the bus".to_owned())),
            "refuse" => return Err(RuntimeError::Launch("too many threads".to_owned())),
            "spew" => (0..20_000).for_each(|line| eprintln!("warning {line}")),
            // Fastest at X = 8, Y = 4; X = 1 crashes.
            "valley" if value("X") == 1 => std::process::abort(),
            "valley" => return Ok(((value("X") - 8).pow(2) * 1000 + (value("Y") - 4).pow(2) * 100 + 5000) as u64),
            other => panic!("the host backend does not know `{other}`"),
        }
        Ok(1000)
    }
}

impl Device for HostDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, artifact: &Artifact) -> Result<ProgramId, RuntimeError> {
        self.programs.push(String::from_utf8_lossy(&artifact.bytes).into_owned());
        Ok(ProgramId(self.programs.len() as u32 - 1))
    }

    fn unload(&mut self, _: ProgramId) {}

    fn allocate(&mut self, name: &str, bytes: u64) -> Result<(), RuntimeError> {
        self.buffers.insert(name.to_owned(), vec![0; bytes as usize]);
        Ok(())
    }

    fn free_all(&mut self) {
        self.buffers.clear();
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.buffer(name)?[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn fill(&mut self, name: &str, pattern: [u8; 4]) -> Result<(), RuntimeError> {
        self.buffer(name)?.iter_mut().zip(pattern.iter().cycle()).for_each(|(byte, with)| *byte = *with);
        Ok(())
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, RuntimeError> {
        self.buffer(name).cloned()
    }

    fn run(&mut self, program: ProgramId, sequence: &LaunchSequence) -> Result<(), RuntimeError> {
        self.execute(program, sequence).map(drop)
    }

    fn time(
        &mut self,
        program: ProgramId,
        sequence: &LaunchSequence,
        repeats: u32,
        _: Caches,
    ) -> Result<Vec<u64>, RuntimeError> {
        (0..repeats).map(|_| self.execute(program, sequence)).collect()
    }
}
