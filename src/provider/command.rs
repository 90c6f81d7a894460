//! `command`: a program. It reads the prompt on its standard input, and what it writes to its standard output is the
//! completion.
//!
//! No shell is between, and the prompt is in no argument. The program runs in a process group of its own, which is
//! killed whole where it is late, writes too much, or is not wanted any more.

use super::conduct::{Reception, TICK};
use super::{
    AskError, Completion, CompletionRequest, Conduct, MAX_COMPLETION_BYTES, Provider, ProviderError, ProviderOptions,
};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of what it writes to standard error that are kept: the last.
const MAX_ERROR_BYTES: usize = 4 << 10;

/// How long its output may stay open once it has ended: something that it started may hold it.
const GRACE: Duration = Duration::from_secs(2);

pub(super) fn open(options: ProviderOptions) -> Result<Box<dyn Provider>, ProviderError> {
    let ProviderOptions { name, settings, model, conduct, .. } = options;
    let Some(program) = settings.program.filter(|program| !program.is_empty()) else {
        return Err(AskError::NotReady {
            lacks: "no program is named".to_owned(),
            mend: format!(
                "name it with its arguments in your own peak.toml, below [providers.{name}]: program = [\"my-model\", \"--quiet\"]"
            ),
            provider: name,
        }
        .into());
    };
    Ok(Box::new(Program { model: model.or(settings.model), name, program, conduct }))
}

struct Program {
    name: String,
    program: Vec<String>,
    model: Option<String>,
    conduct: Conduct,
}

impl Provider for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        let text = self.run(&request.prompt)?;
        Ok(Completion { text, model: self.model.clone(), usage: None })
    }

    fn about(&self) -> String {
        self.conduct.scrubber.line(&self.program.join(" "))
    }
}

impl Program {
    fn run(&self, prompt: &str) -> Result<String, AskError> {
        let mut started = Started::new(&self.program, prompt).map_err(|error| {
            let help = "check its name and that it may be executed: `program` in peak.toml";
            self.failed(format!("it does not start ({error})"), help)
        })?;
        let mut reception = Reception::new(&self.conduct, &self.name, self.model.as_deref().unwrap_or_default());
        let status = loop {
            let bytes = started.output.len();
            reception.at(bytes as u64);
            if self.conduct.is_stopped() {
                return Err(AskError::Stopped { place: self.place() });
            }
            if bytes > MAX_COMPLETION_BYTES {
                return Err(AskError::TooLong { place: self.place(), limit: MAX_COMPLETION_BYTES });
            }
            if reception.is_late() {
                let seconds = self.conduct.timeout.as_secs();
                return Err(AskError::Timeout { place: self.place(), seconds, bytes: bytes as u64 });
            }
            match started.ended() {
                Ok(Some(status)) => break status,
                Ok(None) => std::thread::sleep(TICK),
                Err(error) => return Err(self.failed(format!("it cannot be waited for ({error})"), "")),
            }
        };
        self.answer(status, started)
    }

    fn answer(&self, status: ExitStatus, mut started: Started) -> Result<String, AskError> {
        let (bytes, errors) = started.collected();
        let said = self.conduct.scrubber.last_line(&String::from_utf8_lossy(&errors));
        if !status.success() {
            let how = match (status.code(), status.signal()) {
                (Some(code), _) => format!("it ended with exit code {code}"),
                (None, signal) => format!("it was killed by signal {}", signal.unwrap_or(0)),
            };
            let how = if said.is_empty() { how } else { format!("{how}, and said: {said}") };
            return Err(self.failed(how, "run it by hand, with a prompt on its standard input"));
        }
        if bytes.len() > MAX_COMPLETION_BYTES {
            return Err(AskError::TooLong { place: self.place(), limit: MAX_COMPLETION_BYTES });
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            self.failed("its output is not UTF-8".to_owned(), "only the completion belongs on its standard output")
        })?;
        if text.trim().is_empty() {
            let why = if said.is_empty() { said } else { format!("; on standard error: {said}") };
            return Err(AskError::Empty { place: self.place(), why });
        }
        // It may print its surroundings.
        Ok(self.conduct.scrubber.scrub(&text).0)
    }

    fn place(&self) -> String {
        format!("the program {}", self.shown())
    }

    fn shown(&self) -> String {
        self.program.first().map(|program| self.conduct.scrubber.line(program)).unwrap_or_default()
    }

    fn failed(&self, how: String, help: &str) -> AskError {
        AskError::Program { program: self.shown(), how, help: help.to_owned() }
    }
}

/// A program that runs. Its process group is killed where it is dropped before it ended.
struct Started {
    child: Child,
    over: bool,
    output: Kept,
    errors: Kept,
    readers: Vec<JoinHandle<()>>,
}

impl Started {
    fn new(program: &[String], prompt: &str) -> std::io::Result<Started> {
        let (name, arguments) = program.split_first().ok_or_else(|| std::io::Error::other("it has no name"))?;
        let mut child = Command::new(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let prompt = prompt.to_owned();
            // A program need not read its prompt to the end; then the pipe breaks, which is no failure.
            std::thread::spawn(move || stdin.write_all(prompt.as_bytes()));
        }
        let output = Kept::first(MAX_COMPLETION_BYTES + 1);
        let errors = Kept::last(MAX_ERROR_BYTES);
        let mut readers = Vec::new();
        readers.extend(child.stdout.take().map(|from| output.read(from)));
        readers.extend(child.stderr.take().map(|from| errors.read(from)));
        Ok(Started { child, over: false, output, errors, readers })
    }

    fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        let status = self.child.try_wait()?;
        self.over = status.is_some();
        Ok(status)
    }

    /// What it wrote, once it has ended.
    fn collected(&mut self) -> (Vec<u8>, Vec<u8>) {
        let ended = Instant::now();
        while !self.readers.iter().all(JoinHandle::is_finished) && ended.elapsed() < GRACE {
            std::thread::sleep(TICK / 4);
        }
        (self.output.taken(), self.errors.taken())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if !self.over {
            let group = rustix::process::Pid::from_child(&self.child);
            // Where it ended in between there is nobody to kill.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Bytes that a thread reads: the first or the last so many. The rest is not kept, and not read past the first.
#[derive(Clone)]
struct Kept {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    limit: usize,
    last: bool,
}

impl Kept {
    fn first(limit: usize) -> Kept {
        Kept { bytes: Arc::default(), limit, last: false }
    }

    fn last(limit: usize) -> Kept {
        Kept { bytes: Arc::default(), limit, last: true }
    }

    fn len(&self) -> usize {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn taken(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }

    fn read(&self, mut from: impl Read + Send + 'static) -> JoinHandle<()> {
        let kept = self.clone();
        std::thread::spawn(move || {
            let mut piece = [0; 8192];
            loop {
                match from.read(&mut piece) {
                    Ok(0) => return,
                    Ok(count) if !kept.take(&piece[..count]) => return,
                    Ok(_) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        })
    }

    /// Keeps a piece; whether more is wanted.
    fn take(&self, piece: &[u8]) -> bool {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if self.last {
            bytes.extend(piece);
            let over = bytes.len().saturating_sub(self.limit);
            bytes.drain(..over);
            return true;
        }
        let left = self.limit - bytes.len();
        bytes.extend(&piece[..piece.len().min(left)]);
        bytes.len() < self.limit
    }
}
