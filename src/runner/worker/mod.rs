//! `peak worker`: the child process in which compilers run and candidates are loaded. Started by the coordinator.
//!
//! It answers requests of [`protocol`](super::protocol) until it is told to quit or its standard input closes, which
//! also happens when the coordinator dies. It keeps a limit on its own memory, never decides how long something may
//! take (the coordinator kills it), and writes to no folder that it was not given.

mod compiling;
mod device;
mod inputs;
mod lifetime;
mod timing;
mod turns;

pub(crate) use lifetime::MEMORY_MARK;

use super::protocol::{self, Envelope, Fault, PROTOCOL_VERSION, Reply, Request};
use crate::backends::MakeBackend;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// What a worker is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Compiles, and enumerates what is there.
    Compile,
    /// Holds one device.
    Device(DeviceAddress),
}

/// Where a device is found: `BACKEND/RUNTIME/INDEX`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceAddress {
    /// The backend's name.
    pub backend: String,
    /// The runtime's name.
    pub runtime: String,
    /// Index in the runtime's list.
    pub index: usize,
}

impl DeviceAddress {
    /// The address as an argument of the worker.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}/{}/{}", self.backend, self.runtime, self.index)
    }

    /// Reads [`DeviceAddress::text`]; `None` where it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<DeviceAddress> {
        let mut parts = text.split('/');
        let (backend, runtime, index) = (parts.next()?, parts.next()?, parts.next()?);
        let whole = parts.next().is_none() && !backend.is_empty() && !runtime.is_empty();
        let index = index.parse().ok().filter(|_| whole)?;
        Some(DeviceAddress { backend: backend.to_owned(), runtime: runtime.to_owned(), index })
    }
}

impl Mode {
    /// The mode that `--compile` or `--device BACKEND/RUNTIME/INDEX` asks for.
    ///
    /// # Errors
    /// How the worker is used, in one line.
    pub fn parse(arguments: &[String]) -> Result<Mode, String> {
        let usage = || "usage: peak worker --compile | --device BACKEND/RUNTIME/INDEX".to_owned();
        match arguments {
            [flag] if flag == "--compile" => Ok(Mode::Compile),
            [flag, address] if flag == "--device" => DeviceAddress::parse(address).map(Mode::Device).ok_or_else(usage),
            _ => Err(usage()),
        }
    }

    /// The arguments that [`Mode::parse`] reads.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        match self {
            Mode::Compile => vec!["--compile".to_owned()],
            Mode::Device(address) => vec!["--device".to_owned(), address.text()],
        }
    }
}

/// Serves until quit or the end of standard input. `arguments` are those after `worker`.
///
/// Exit codes: 0 at the end, 2 for wrong arguments, 70 where the pipes cannot be set up.
#[must_use]
pub fn serve(arguments: &[String], backends: &[MakeBackend]) -> ExitCode {
    let mode = match Mode::parse(arguments) {
        Ok(mode) => mode,
        Err(usage) => {
            eprintln!("{usage}");
            return ExitCode::from(2);
        }
    };
    match serve_mode(&mode, backends) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peak worker: {error}");
            ExitCode::from(70)
        }
    }
}

fn serve_mode(mode: &Mode, backends: &[MakeBackend]) -> io::Result<()> {
    let replies = private_stdout()?;
    let lines = lifetime::read_stdin()?;
    let mut session = Session { mode, backends, device: None };
    while let Ok(line) = lines.recv() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let (id, reply) = match serde_json::from_slice::<Envelope<Request>>(&line) {
            Ok(Envelope { id, body }) => (id, session.answer_caught(body)),
            Err(error) => (0, Reply::Failed { fault: Fault::Protocol { message: error.to_string() } }),
        };
        protocol::write_message(&replies, &Envelope { id, body: &reply })?;
        if matches!(reply, Reply::Bye) {
            return Ok(());
        }
    }
    Ok(())
}

/// The pipe to the coordinator, with standard output turned into standard error: drivers and compilers print.
fn private_stdout() -> io::Result<File> {
    let replies = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(replies))
}

struct Session<'a> {
    mode: &'a Mode,
    backends: &'a [MakeBackend],
    device: Option<device::DeviceSession>,
}

impl Session<'_> {
    fn answer_caught(&mut self, request: Request) -> Reply {
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(request)));
        let result = answer.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let message = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned();
            Err(Fault::Panicked { message })
        });
        result.unwrap_or_else(|fault| Reply::Failed { fault })
    }

    fn answer(&mut self, request: Request) -> Result<Reply, Fault> {
        match (request, self.device.as_mut()) {
            (Request::Quit, _) => Ok(Reply::Bye),
            (Request::Hello { version, limits }, _) => self.hello(version, limits),
            (Request::Run { job, folder }, Some(device)) => device.run(&job, &folder),
            (Request::Time { job, timing }, Some(device)) => device.time(&job, &timing),
            (Request::TakeTurns { jobs, how, folder }, Some(device)) => device.take_turns(&jobs, &how, &folder),
            (Request::Count { job, blocks_max, output }, Some(device)) => device.count(&job, blocks_max, &output),
            (Request::Run { .. } | Request::Time { .. } | Request::TakeTurns { .. } | Request::Count { .. }, None) => {
                Err(Fault::Protocol { message: "this worker holds no device".to_owned() })
            }
            (request, None) => compiling::answer(request, self.backends),
            (_, Some(_)) => Err(Fault::Protocol { message: "a device worker does not compile".to_owned() }),
        }
    }

    fn hello(&mut self, version: u32, limits: protocol::Limits) -> Result<Reply, Fault> {
        if version != PROTOCOL_VERSION {
            let message = format!("this worker speaks protocol {PROTOCOL_VERSION}, the coordinator {version}");
            return Err(Fault::Protocol { message });
        }
        lifetime::watch_memory(limits.memory_bytes);
        if let Mode::Device(address) = self.mode {
            self.device = Some(device::DeviceSession::open(address, self.backends, limits)?);
        }
        let device = self.device.as_ref().map(|session| Box::new(session.info().clone()));
        Ok(Reply::Ready { version: PROTOCOL_VERSION, device })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_as_they_are_written() {
        let address = DeviceAddress { backend: "hlsl".to_owned(), runtime: "vulkan".to_owned(), index: 3 };
        for mode in [Mode::Compile, Mode::Device(address)] {
            assert_eq!(Mode::parse(&mode.arguments()), Ok(mode));
        }
    }

    #[test]
    fn other_arguments_are_refused() {
        for text in [
            "",
            "--compile x",
            "--device",
            "--device hlsl/vulkan",
            "--device a/b/c",
            "--device a/b/1/2",
            "--device /b/1",
        ] {
            let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            assert!(Mode::parse(&arguments).is_err(), "{text}");
        }
    }
}
