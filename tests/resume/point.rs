//! One project through its lives: run, killed, and run to its end; then what its store holds.

use super::model::Model;
use crate::program::{command, folder};
use peak::store::{RunStatus, Store};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How long a run may take before the test gives up on it.
const DEADLINE: Duration = Duration::from_secs(600);

/// A small generator of moments, the same for a seed on every machine.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D)
    }

    /// A time below another, to the microsecond.
    pub fn below(&mut self, limit: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let limit = u64::try_from(limit.as_micros()).expect("a run of minutes").max(1);
        Duration::from_micros(self.0 % limit)
    }
}

/// What is left of a project when its run has ended.
pub struct Ended {
    /// The final context, byte for byte as JSON.
    pub context: String,
    /// Names and contexts of the checkpoints.
    pub checkpoints: Vec<(String, String)>,
    /// Transformation, pass, region and class of each attempt.
    pub attempts: Vec<String>,
    /// Every prompt that reached the model, in all lives.
    pub asked: Vec<String>,
    /// Of those, the ones whose answer was in the store already.
    pub again: Vec<String>,
}

/// A project with a run under way.
pub struct Project {
    folder: tempfile::TempDir,
    /// Arguments that choose the device.
    place: &'static [&'static str],
    /// The addresses of the prompts that the store had answers to when a life began.
    stored: BTreeSet<String>,
    asked: Vec<String>,
    again: Vec<String>,
}

impl Project {
    pub fn new(declarations: &str, place: &'static [&'static str]) -> Project {
        let folder = folder(&[("mine.peak", declarations)]);
        Project { folder, place, stored: BTreeSet::new(), asked: Vec::new(), again: Vec::new() }
    }

    /// Runs, and kills the run at a moment; how long it took where it ended before.
    pub fn kill_after(&mut self, moment: Duration) -> Option<Duration> {
        let started = Instant::now();
        let status = self.life(Some(moment));
        assert!(status.is_none_or(|code| code == 0), "it ended by itself, with {status:?}");
        status.map(|_| started.elapsed())
    }

    /// Runs to the end, and says how long it took.
    pub fn run_to_its_end(&mut self) -> Duration {
        let started = Instant::now();
        let status = self.life(None);
        assert_eq!(status, Some(0), "resuming always completes");
        started.elapsed()
    }

    /// One process; its exit code, `None` where it was killed.
    fn life(&mut self, moment: Option<Duration>) -> Option<i32> {
        let mail = self.folder.path().join("mail");
        let model = Model::answering(&mail);
        let err =
            std::fs::File::options().create(true).append(true).open(self.folder.path().join("words")).expect("a file");
        let arguments =
            ["run", "resumed", "--use", "mine.peak", "--resume", "--provider", "mailbox", "--mailbox", "mail"];
        let mut child = command(self.folder.path(), &[&arguments[..], self.place].concat())
            .stdout(Stdio::null())
            .stderr(err)
            .spawn()
            .expect("peak starts");
        let started = Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status.code();
            }
            if moment.is_some_and(|moment| started.elapsed() >= moment) || started.elapsed() > DEADLINE {
                child.kill().expect("killed");
                child.wait().expect("gone");
                break None;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let asked = model.stop();
        self.again
            .extend(asked.iter().filter(|prompt| self.stored.contains(&peak::hash::hex(prompt.as_bytes()))).cloned());
        self.asked.extend(asked);
        // What is asked for again is then a new letter, and is counted.
        let _ = std::fs::remove_dir_all(&mail);
        if let Ok(store) = Store::find(self.folder.path()) {
            self.stored = store.answered_prompts(1).expect("the store opens after a kill").into_iter().collect();
        }
        if moment.is_none() && code != Some(0) {
            panic!("{}", std::fs::read_to_string(self.folder.path().join("words")).unwrap_or_default());
        }
        code
    }

    /// What is left.
    pub fn ended(&self) -> Ended {
        let store = Store::find(self.folder.path()).expect("it opens");
        let runs = store.runs().expect("read");
        assert_eq!((runs.len(), runs[0].status), (1, RunStatus::Finished), "one run, to its end");
        let current = store.current().expect("read").expect("one is current");
        let current = store.checkpoint(current).expect("read").expect("it is there");
        let context = serde_json::to_string(&store.context(&current).expect("read")).expect("JSON");
        let checkpoints = store.checkpoints().expect("read");
        let mut attempts = Vec::new();
        for name in ["hold-values", "split-k", "name-index"] {
            for attempt in store.attempts(1, name).expect("read") {
                let class = attempt.class.unwrap_or_default();
                attempts.push(format!("{name} {} {} {class}", attempt.pass, attempt.region));
            }
        }
        Ended {
            context,
            checkpoints: checkpoints.into_iter().map(|checkpoint| (checkpoint.name, checkpoint.context)).collect(),
            attempts,
            asked: self.asked.clone(),
            again: self.again.clone(),
        }
    }
}
