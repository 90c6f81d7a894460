//! Every CUDA kernel of `tests/suite/run` on the simulator, at several sizes, configurations and seeds, against `computes`
//! or a reference on the host. Times nothing.

#[path = "run/corpus.rs"]
mod corpus;

use corpus::judge::{described, judge, wanted};
use corpus::table::Change;
use corpus::{Subject, device, references, subjects};
use peak::backends::{self, backend};
use peak::context::KernelContext;
use peak_backend_api::{Backend, Device};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Kernels that the corpus has at least.
const KERNELS: usize = 60;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/run"))
}

fn all() -> Vec<Subject> {
    subjects(&folder()).unwrap_or_else(|error| panic!("{error}"))
}

/// CUDA's backend. Without NVRTC: a counted skip, or a failure where `PEAK_REQUIRE` holds `cuda`.
fn cuda() -> Option<Box<dyn Backend>> {
    let cuda = backend("cuda")?;
    let lacking = cuda.toolchains().into_iter().find(|toolchain| !toolchain.found);
    let Some(lacking) = lacking else { return Some(cuda) };
    let required = std::env::var("PEAK_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == "cuda"), "PEAK_REQUIRE names cuda: there is no {}", lacking.name);
    let skipped = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    let thread = std::thread::current();
    let line = format!("skipped ({skipped}): {}: there is no {}\n", thread.name().unwrap_or("a test"), lacking.name);
    // Past the harness, which shows what is printed by failures only.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    None
}

/// The simulator, as the backend's artifacts find it.
fn simulator(cuda: &dyn Backend) -> Box<dyn Device> {
    let mut runtimes = backends::runtimes(cuda).into_iter();
    let sim = runtimes.find(|runtime| runtime.name() == "sim").expect("this build has it");
    device::open(sim.as_ref()).expect("it is always there")
}

/// Every run of a kernel, with the words of the first that is wrong; else how many there were, and the outputs whose every
/// run would have passed with zeros.
fn verified(
    subject: &Subject,
    context: &KernelContext,
    cuda: &dyn Backend,
) -> Result<(usize, BTreeSet<String>), String> {
    let mut sim = simulator(cuda);
    let facts = device::facts(sim.as_ref());
    let (mut runs, mut idle) = (0, None);
    for configuration in subject.configurations() {
        let mut program = None;
        for check in subject.checks() {
            let of_run = |words: String| format!("{}; {words}", described(&configuration, &check));
            let plan = subject.plan(&configuration, &check, &facts).map_err(of_run)?;
            let loaded = match program {
                Some(program) => program,
                None => {
                    let artifact = device::compile(cuda, context, &configuration, &plan, &facts).map_err(of_run)?;
                    sim.load(&artifact).map_err(|error| of_run(error.to_string()))?
                }
            };
            program = Some(loaded);
            let wanted = wanted(subject, &configuration, &plan, &check).map_err(of_run)?;
            let outputs = device::run(sim.as_mut(), loaded, &plan, check.fill).map_err(of_run)?;
            judge(&wanted, &outputs).map_err(of_run)?;
            let passes = wanted.iter().filter(|(_, wanted)| !wanted.refuses_zeros()).map(|(name, _)| name.clone());
            let passes: BTreeSet<String> = passes.collect();
            idle = Some(idle.map_or(passes.clone(), |idle: BTreeSet<String>| &idle & &passes));
            runs += 1;
        }
    }
    Ok((runs, idle.unwrap_or_default()))
}

/// Works off a list on all cores, and gathers what each item has to complain of.
fn complaints<T: Sync>(items: &[T], complain: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(complaint) = complain(item) {
                found.lock().expect("no thread panics with it").push(complaint);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    found.into_inner().expect("every thread has ended")
}

#[test]
fn every_kernel_is_right_on_the_simulator() {
    let Some(cuda) = cuda() else { return };
    let subjects = all();
    assert!(subjects.len() >= KERNELS, "{} kernels", subjects.len());
    let wrong = complaints(&subjects, |subject| {
        let name = subject.name();
        match verified(subject, &subject.context, cuda.as_ref()) {
            Err(words) => Some(format!("{name}: {words}")),
            Ok((runs, idle)) if runs < 4 || !idle.is_empty() => {
                Some(format!("{name}: {runs} runs, and zeros would pass as {idle:?}"))
            }
            Ok(_) => None,
        }
    });
    assert!(wrong.is_empty(), "{} of {} kernels:\n{}", wrong.len(), subjects.len(), wrong.join("\n"));
}

#[test]
fn every_wrong_twin_is_caught() {
    let Some(cuda) = cuda() else { return };
    let subjects = all();
    let twins: Vec<(&Subject, &Change)> =
        subjects.iter().flat_map(|it| it.entry.wrong.iter().map(move |change| (it, change))).collect();
    assert!(twins.len() >= 8, "{} twins", twins.len());
    let passed = complaints(&twins, |(subject, change)| {
        let words = match verified(subject, &twin(&subject.context, change), cuda.as_ref()) {
            Err(words) if words.contains(" are wrong") => return None,
            Err(words) => words,
            Ok((runs, _)) => format!("right in {runs} runs"),
        };
        Some(format!("{} with `{}`: {words}", subject.name(), change.by))
    });
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}

/// The context with a change to its device code.
fn twin(context: &KernelContext, change: &Change) -> KernelContext {
    let mut twin = context.clone();
    let code = &mut twin.regions.device_code;
    assert_eq!(code.matches(&change.replace).count(), 1, "`{}` stands once in {}", change.replace, context.kernel.name);
    *code = code.replace(&change.replace, &change.by);
    twin
}

#[test]
fn files_and_references_all_belong_to_a_kernel() {
    let subjects = all();
    let named: BTreeSet<&str> = subjects.iter().filter_map(|it| it.entry.reference.as_deref()).collect();
    let known: BTreeSet<&str> = references::names().map(|(name, _)| name).collect();
    assert_eq!(named, known, "references that the table names, and those that there are");
    let of_kernels: BTreeSet<String> =
        subjects.iter().flat_map(|it| [".peak", ".cu"].map(|end| format!("{}{end}", it.name()))).collect();
    let files =
        std::fs::read_dir(folder()).expect("the suite has it").map(|entry| entry.expect("an entry").file_name());
    let files: BTreeSet<String> =
        files.map(|name| name.to_string_lossy().into_owned()).filter(|name| name != "corpus.toml").collect();
    assert_eq!(files, of_kernels);
    for Subject { context, entry, .. } in &subjects {
        let unsaid = |words: &str| words.trim().is_empty();
        assert!(!unsaid(&entry.category) && !entry.differs.as_deref().is_some_and(unsaid), "{}", context.kernel.name);
    }
}
