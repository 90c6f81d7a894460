//! Compiles in worker processes, as many at a time as there are cores. Equal requests share one artifact.
//!
//! A compiler that hangs, crashes or eats memory costs its request and one process. Nothing is compiled here.

use super::super::protocol::{Fault, Limits, Reply, Request};
use super::super::worker::Mode;
use super::super::{Compile, Failure, FailureClass, artifact_file};
use super::error::RunnerError;
use super::gate::Gate;
use super::link::{Greeted, Link, LinkError, unexpected};
use super::program::{WorkerProgram, default_limits};
use super::words::{fault_failure, is_environment, link_failure};
use peak_backend_api::{Artifact, CompileRequest, Disassembly};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long one compilation may take unless somebody says otherwise.
const COMPILE_DEADLINE: Duration = Duration::from_secs(60);

/// What a compiler may hold, at least.
const MEMORY_BYTES_LEAST: u64 = 1 << 30;

/// Results kept in memory, at most.
const KEPT_MAX: usize = 4096;

/// How to compile.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Processes at most.
    pub workers: usize,
    /// How long one compilation may take.
    pub deadline: Duration,
    /// What each process may use.
    pub limits: Limits,
    /// Where artifacts outlive this process, if they do.
    pub cache_folder: Option<PathBuf>,
    /// Versions of the toolchains, in words: part of the key of kept artifacts.
    pub toolchain: String,
}

impl Default for PoolOptions {
    /// As many processes as there are cores, which share the memory that one worker may hold.
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let limits = default_limits();
        let memory_bytes = (limits.memory_bytes / workers as u64).max(MEMORY_BYTES_LEAST);
        PoolOptions {
            workers,
            deadline: COMPILE_DEADLINE,
            limits: Limits { memory_bytes, ..limits },
            cache_folder: None,
            toolchain: String::new(),
        }
    }
}

/// Worker processes that compile for one backend, started as they are needed.
pub struct WorkerPool {
    program: WorkerProgram,
    backend: String,
    options: PoolOptions,
    gate: Arc<Gate>,
    folder: tempfile::TempDir,
    workers: Mutex<Workers>,
    worker_free: Condvar,
    kept: Mutex<HashMap<String, Kept>>,
    kept_changed: Condvar,
}

#[derive(Default)]
struct Workers {
    idle: Vec<Link>,
    /// Idle and busy.
    live: usize,
}

enum Kept {
    InProgress,
    Done(Result<Arc<Artifact>, Failure>),
}

impl WorkerPool {
    /// A pool for `backend`. No process starts before the first request.
    ///
    /// # Errors
    /// No temporary folder.
    pub fn new(
        program: WorkerProgram,
        backend: &str,
        options: PoolOptions,
        gate: Arc<Gate>,
    ) -> Result<WorkerPool, RunnerError> {
        if let Some(folder) = &options.cache_folder {
            std::fs::create_dir_all(folder)?;
        }
        Ok(WorkerPool {
            program,
            backend: backend.to_owned(),
            options,
            gate,
            folder: tempfile::Builder::new().prefix("peak-compile-").tempdir()?,
            workers: Mutex::default(),
            worker_free: Condvar::new(),
            kept: Mutex::default(),
            kept_changed: Condvar::new(),
        })
    }

    /// The content address of a request under this pool's toolchain.
    #[must_use]
    pub fn key(&self, request: &CompileRequest) -> String {
        crate::hash::hex(serde_json::json!([self.backend, self.options.toolchain, request]).to_string().as_bytes())
    }

    /// The kept result, or `None` where this caller is the one to make it.
    fn kept_or_claimed(&self, key: &str) -> Option<Result<Arc<Artifact>, Failure>> {
        let mut kept = lock(&self.kept);
        loop {
            match kept.get(key) {
                Some(Kept::Done(result)) => return Some(result.clone()),
                Some(Kept::InProgress) => {
                    kept = self.kept_changed.wait(kept).unwrap_or_else(PoisonError::into_inner);
                }
                None => {
                    if kept.len() >= KEPT_MAX {
                        kept.retain(|_, known| matches!(known, Kept::InProgress));
                    }
                    kept.insert(key.to_owned(), Kept::InProgress);
                    return None;
                }
            }
        }
    }

    fn compile_new(&self, key: &str, request: &CompileRequest) -> Result<Arc<Artifact>, Failure> {
        let cached = self.options.cache_folder.as_ref().map(|folder| folder.join(format!("{key}.artifact")));
        // A file that is missing, damaged or of another version is made anew.
        if let Some(artifact) = cached.as_ref().and_then(|path| artifact_file::read(path).ok()) {
            return Ok(Arc::new(artifact));
        }
        let artifact = self.gate.compiling(|| self.compile_in_worker(key, request))?;
        if let Some(path) = cached {
            // The next run compiles again where the disk is full: no reason to fail this one.
            let _ = artifact_file::write(&path, &artifact);
        }
        Ok(Arc::new(artifact))
    }

    fn compile_in_worker(&self, key: &str, request: &CompileRequest) -> Result<Artifact, Failure> {
        let output = self.folder.path().join(format!("{key}.artifact"));
        let wire = Request::Compile {
            backend: self.backend.clone(),
            request: Box::new(request.clone()),
            output: output.clone(),
        };
        self.ask(&wire, "compiling", Some(request), |reply| matches!(reply, Reply::Compiled))?;
        let artifact = artifact_file::read(&output);
        let _ = std::fs::remove_file(&output);
        artifact
            .map_err(|error| fault_failure(Fault::File { message: error.to_string() }, "compiling", Some(request), &[]))
    }

    /// An artifact's code as text, in a worker: what a compiler made of hostile text is read there.
    ///
    /// # Errors
    /// Class `compile` where a tool is missing or refuses the code, `timeout` or `crash`.
    pub fn disassemble(&self, artifact: &Artifact) -> Result<Disassembly, Failure> {
        let what = "showing the code";
        let failed = |error: std::io::Error| fault_failure(Fault::File { message: error.to_string() }, what, None, &[]);
        let address = artifact_file::address(artifact);
        let [input, output] =
            ["artifact", "json"].map(|kind| self.folder.path().join(format!("{address}.shown.{kind}")));
        artifact_file::write(&input, artifact).map_err(failed)?;
        let wire = Request::Disassemble {
            backend: self.backend.clone(),
            artifact_file: input.clone(),
            output: output.clone(),
        };
        let asked = self.ask(&wire, what, None, |reply| matches!(reply, Reply::Disassembled));
        let text = asked.and_then(|()| std::fs::read(&output).map_err(failed));
        let _ = (std::fs::remove_file(&input), std::fs::remove_file(&output));
        serde_json::from_slice(&text?).map_err(|error| failed(error.into()))
    }

    /// Asks a worker, and a fresh one where that died of an earlier request.
    fn ask(
        &self,
        wire: &Request,
        what: &str,
        request: Option<&CompileRequest>,
        is_answer: impl Fn(&Reply) -> bool,
    ) -> Result<(), Failure> {
        let fail = |fault, words: &[String]| Err(fault_failure(fault, what, request, words));
        loop {
            let mut place = self.place();
            let used = place.link.is_some();
            let link = place.link()?;
            match link.call(wire.clone(), self.options.deadline) {
                Ok(reply) if is_answer(&reply) => return Ok(()),
                Ok(Reply::Failed { fault: fault @ (Fault::Panicked { .. } | Fault::Protocol { .. }) }) => {
                    let words = link.last_words();
                    place.link = None;
                    return fail(fault, &words);
                }
                Ok(Reply::Failed { fault }) => return fail(fault, &[]),
                Ok(other) => {
                    place.link = None;
                    return fail(unexpected(&other), &[]);
                }
                Err(error) => {
                    place.link = None;
                    // It may have died of an earlier request: a fresh worker decides.
                    if !(used && matches!(error, LinkError::Died { .. })) {
                        return Err(link_failure(error, what));
                    }
                }
            }
        }
    }

    /// A worker's place, with an idle worker if there is one. Waits while all are busy.
    fn place(&self) -> Place<'_> {
        let mut workers = lock(&self.workers);
        loop {
            if let Some(link) = workers.idle.pop() {
                return Place { pool: self, link: Some(link) };
            }
            if workers.live < self.options.workers.max(1) {
                workers.live += 1;
                return Place { pool: self, link: None };
            }
            workers = self.worker_free.wait(workers).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Compile for WorkerPool {
    fn compile(&self, request: &CompileRequest) -> Result<Arc<Artifact>, Failure> {
        let key = self.key(request);
        if let Some(result) = self.kept_or_claimed(&key) {
            return result;
        }
        let mut claim = Claim { pool: self, key: &key, result: None };
        let result = self.compile_new(&key, request);
        // A source error stays one; what the machine did may not happen again.
        let lasting = match &result {
            Ok(_) => true,
            Err(failure) => failure.class == FailureClass::Compile && !is_environment(failure),
        };
        claim.result = lasting.then(|| result.clone());
        result
    }
}

/// The right to make one result; others wait until it is dropped.
struct Claim<'a> {
    pool: &'a WorkerPool,
    key: &'a str,
    result: Option<Result<Arc<Artifact>, Failure>>,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut kept = lock(&self.pool.kept);
        match self.result.take() {
            Some(result) => kept.insert(self.key.to_owned(), Kept::Done(result)),
            None => kept.remove(self.key),
        };
        self.pool.kept_changed.notify_all();
    }
}

/// One of the pool's places, given back when dropped: with its worker, or empty where that died.
struct Place<'a> {
    pool: &'a WorkerPool,
    link: Option<Link>,
}

impl Place<'_> {
    fn link(&mut self) -> Result<&mut Link, Failure> {
        if self.link.is_none() {
            let started = Link::start(&self.pool.program, &Mode::Compile, self.pool.options.limits);
            let Greeted { link, device } = started.map_err(|error| link_failure(error, "starting"))?;
            device.map_err(|fault| fault_failure(fault, "starting", None, &[]))?;
            self.link = Some(link);
        }
        self.link.as_mut().ok_or_else(|| Failure::new(FailureClass::Crash, "no worker"))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut workers = lock(&self.pool.workers);
        match self.link.take() {
            Some(link) => workers.idle.push(link),
            None => workers.live -= 1,
        }
        self.pool.worker_free.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
