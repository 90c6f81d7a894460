//! Runs that are killed and go on: the real program, on the simulator or else on a Vulkan device, with a model that answers
//! in a mailbox. `PEAK_KILLS` says at how many random moments, [`KILLS`] where it is not set.

mod model;
mod point;

use crate::program::{Outcome, peak};
use crate::vulkan;
pub use model::Model;
use peak::backends::backend;
use point::{Project, Rng};
use serde_json::Value;

const TINY: &str = include_str!("suite/workflow/tiny.peak");
const MECHANICS: &str = include_str!("suite/workflow/mechanics.peak");
const RESUMED: &str = include_str!("suite/workflow/resumed.peak");

/// Moments at which a run is killed, where nothing is said.
const KILLS: u64 = 5;

/// The tiny kernel in CUDA too: where nothing is timed, a run takes a second and not a minute.
const IN_CUDA: &str = r#"  device code for cuda
    ```cuda
    extern "C" __global__ void matmul(const A_T *A, const B_T *B, C_T *C, int n) {
        const int row = blockIdx.y * BLOCK_Y + threadIdx.y, column = blockIdx.x * BLOCK_X + threadIdx.x;
        ACCUMULATOR sum = 0;
        for (int k = 0; k < n; ++k) {
            sum += A[row * n + k] * B[k * n + column];
        }
        C[row * n + column] = sum;
    }
    ```
  host code
"#;

/// Arguments that choose the simulator.
const SIMULATOR: &[&str] = &["--backend", "cuda", "--device", "Peak CUDA simulator"];

fn declarations() -> String {
    format!("{TINY}\n{MECHANICS}\n{RESUMED}")
}

/// The declarations and the device of the runs that are killed; none where there is neither NVRTC nor a Vulkan device.
fn place() -> Option<(String, &'static [&'static str])> {
    let nvrtc = backend("cuda").is_some_and(|cuda| cuda.toolchains().iter().all(|tool| tool.found));
    match nvrtc {
        true => Some((declarations().replacen("  host code\n", IN_CUDA, 1), SIMULATOR)),
        false => vulkan::device().map(|_| (declarations(), &["--backend", "hlsl"][..])),
    }
}

#[test]
fn a_run_that_is_killed_goes_on_to_the_same_kernel_and_asks_nothing_twice() {
    let Some((declarations, place)) = place() else { return };
    let kills = std::env::var("PEAK_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(KILLS);
    let mut whole = Project::new(&declarations, place);
    let took = whole.run_to_its_end();
    let reference = whole.ended();
    assert_eq!(reference.asked.len(), 6, "five answers, and one repair");
    let mut took = took;
    for seed in 0..kills {
        let mut rng = Rng::new(seed);
        let (mut project, mut moments) = loop {
            let mut project = Project::new(&declarations, place);
            let moment = rng.below(took);
            match project.kill_after(moment) {
                None => break (project, vec![moment]),
                // The machine is less busy than it was: a killed run is wanted, not one that ended.
                Some(shorter) => took = shorter,
            }
        };
        if seed % 2 == 1 {
            moments.push(rng.below(took));
            project.kill_after(moments[1]);
        }
        project.run_to_its_end();
        let ended = project.ended();
        let told = format!("seed {seed}, killed after {moments:?} of {took:?}");
        assert_eq!(ended.context, reference.context, "{told}: another kernel");
        assert_eq!(ended.checkpoints, reference.checkpoints, "{told}");
        assert_eq!(ended.attempts, reference.attempts, "{told}: each attempt is kept once");
        assert_eq!(ended.again, Vec::<String>::new(), "{told}: asked again for a stored answer");
        assert!(ended.asked.len() <= reference.asked.len() + moments.len(), "{told}: {} asked", ended.asked.len());
    }
}

/// The rows of a run without what differs from run to run.
fn rows(outcome: &Outcome) -> Vec<(String, String)> {
    let steps = outcome.events().into_iter().filter(|event| event["event"] == "step");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    steps.map(|step| (word(&step["name"]), word(&step["verdict"]))).collect()
}

fn finished(outcome: &Outcome) -> Value {
    outcome.events().into_iter().find(|event| event["event"] == "finished").expect("the last event")
}

#[test]
fn a_run_that_is_finished_is_told_again_and_nothing_is_done() {
    if vulkan::device().is_none() {
        return;
    }
    let folder = crate::program::folder(&[("mine.peak", &declarations())]);
    let resume = |more: &[&str]| {
        peak(folder.path(), &[&["run", "times-decide", "--use", "mine.peak", "--json", "-q"], more].concat())
    };
    let first = resume(&["--resume"]);
    assert_eq!(first.code, 0, "where there is none, a new one starts: {}", first.err);
    let again = resume(&["--resume"]);
    assert_eq!((again.code, rows(&again)), (0, rows(&first)), "{}", again.err);
    let (before, now) = (finished(&first), finished(&again));
    assert_eq!((&now["run"], &now["best"]), (&before["run"], &before["best"]));
    assert_eq!((&now["reused"]["measured"], &now["reused"]["validated"]), (&0.into(), &0.into()));
    assert_eq!(now["reused"]["steps"], now["steps"]);
    let other = resume(&["--resume=7"]);
    assert_eq!((other.code, other.err.contains("peak::cannot-resume")), (1, true), "{}", other.err);
    let changed =
        declarations().replace("try idle-loop or keep going\n  choose", "try same-grid or keep going\n  choose");
    std::fs::write(folder.path().join("mine.peak"), changed).expect("written");
    let diverged = resume(&["--resume=1"]);
    assert_eq!((diverged.code, diverged.err.contains("peak::resume-diverged")), (1, true), "{}", diverged.err);
}

#[test]
fn recorded_decisions_are_followed_whatever_the_times_say() {
    if vulkan::device().is_none() {
        return;
    }
    let folder = crate::program::folder(&[("mine.peak", &declarations())]);
    let run = |more: &[&str]| {
        peak(folder.path(), &[&["run", "times-decide", "--use", "mine.peak", "--json", "-q"], more].concat())
    };
    let missing = run(&["--decisions", "recorded"]);
    assert_eq!((missing.code, missing.err.contains("peak::decision-missing")), (4, true), "{}", missing.err);
    let first = run(&["--record", "recordings"]);
    assert_eq!(first.code, 0, "{}", first.err);
    let file = folder.path().join("recordings/tiny/hlsl/decisions/times-decide.toml");
    let text = std::fs::read_to_string(&file).expect("the decisions are beside the recordings");
    let replayed = run(&["--decisions", "recorded"]);
    assert_eq!((replayed.code, rows(&replayed)), (0, rows(&first)), "{}", replayed.err);
    assert_eq!(context(&folder, &replayed), context(&folder, &first));
    // Decided otherwise than the times would: the slower one is kept, and later decisions were made elsewhere.
    assert!(text.contains("outcome = \"left\""), "{text}");
    std::fs::write(&file, text.replace("outcome = \"left\"", "outcome = \"kept\"")).expect("written");
    let otherwise = run(&["--decisions", "recorded"]);
    assert_eq!((otherwise.code, otherwise.err.contains("peak::decision-missing")), (1, true), "{}", otherwise.err);
    assert_eq!(rows(&otherwise)[1], ("idle-loop".to_owned(), "accepted".to_owned()));
}

/// The hash of the best context of a run.
fn context(folder: &tempfile::TempDir, outcome: &Outcome) -> String {
    let store = peak::store::Store::find(folder.path()).expect("it opens");
    let best = finished(outcome)["best"]["checkpoint"].as_str().expect("a name").to_owned();
    store.resolve(&best).expect("it is there").context
}
