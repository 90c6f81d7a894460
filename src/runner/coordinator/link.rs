//! One worker process and its pipes: a request goes down, its reply comes up or the worker is dead.
//!
//! Threads move the bytes, so that no deadline waits for a pipe. A link that failed once is never used again.

use super::super::protocol::{self, Envelope, Limits, PROTOCOL_VERSION, Reply, Request};
use super::super::worker::Mode;
use super::program::WorkerProgram;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use peak_backend_api::DeviceInfo;
use std::collections::VecDeque;
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a worker may take to start and open its device.
const HELLO_DEADLINE: Duration = Duration::from_secs(60);

/// How long a dead worker's exit status and last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Lines of standard error kept.
const STDERR_LINES: usize = 20;

/// Bytes kept of each line of standard error.
const STDERR_LINE_BYTES: usize = 400;

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// The program does not start.
    Start(String),
    /// Not done by its deadline; the worker was killed.
    Timeout(Duration),
    /// The worker died.
    Died {
        /// In words: `killed by signal 6 (SIGABRT)`.
        how: String,
        /// Its last lines on standard error.
        stderr: Vec<String>,
    },
}

/// A living worker.
pub struct Link {
    child: Child,
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<Envelope<Reply>>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    stderr_end: Receiver<()>,
    next_id: u64,
}

/// A worker that was greeted.
pub struct Greeted {
    /// The worker.
    pub link: Link,
    /// The device that it opened, if it was to open one; or its refusal.
    pub device: Result<Option<Box<DeviceInfo>>, protocol::Fault>,
}

impl Link {
    /// Starts a worker and greets it.
    pub fn start(program: &WorkerProgram, mode: &Mode, limits: Limits) -> Result<Greeted, LinkError> {
        let mut link = Link::spawn(program, mode).map_err(|error| {
            LinkError::Start(format!("the worker {} does not start: {error}", program.path.display()))
        })?;
        let hello = Request::Hello { version: PROTOCOL_VERSION, limits };
        let device = match link.call(hello, HELLO_DEADLINE)? {
            Reply::Ready { version: PROTOCOL_VERSION, device } => Ok(device),
            Reply::Ready { version, .. } => {
                Err(protocol::Fault::Protocol { message: format!("the worker speaks protocol {version}") })
            }
            Reply::Failed { fault } => Err(fault),
            other => Err(unexpected(&other)),
        };
        Ok(Greeted { link, device })
    }

    fn spawn(program: &WorkerProgram, mode: &Mode) -> io::Result<Link> {
        let mut child = program.command(mode).spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let child_stderr = child.stderr.take().ok_or_else(missing)?;
        let (requests, to_write) = unbounded::<Vec<u8>>();
        let (to_reply, replies) = unbounded();
        let (stderr_open, stderr_end) = bounded(0);
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&stderr);
        let threads = (|| {
            on_thread("requests", move || write_requests(stdin, &to_write))?;
            on_thread("replies", move || read_replies(BufReader::new(stdout), &to_reply))?;
            on_thread("errors", move || {
                keep_last_lines(child_stderr, &kept);
                drop(stderr_open);
            })
        })();
        if let Err(error) = threads {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        Ok(Link { child, requests: Some(requests), replies, stderr, stderr_end, next_id: 1 })
    }

    /// Sends a request and waits for its reply, until `deadline` from now.
    ///
    /// # Errors
    /// The worker is dead then.
    pub fn call(&mut self, request: Request, deadline: Duration) -> Result<Reply, LinkError> {
        let id = self.next_id;
        self.next_id += 1;
        let end = Instant::now() + deadline;
        let mut line = Vec::new();
        protocol::write_message(&mut line, &Envelope { id, body: &request })
            .map_err(|error| LinkError::Start(format!("a request does not serialize: {error}")))?;
        if self.requests.as_ref().is_none_or(|requests| requests.send(line).is_err()) {
            return Err(self.died());
        }
        loop {
            match self.replies.recv_deadline(end) {
                Ok(reply) if reply.id == id => return Ok(reply.body),
                // The worker could not read the request (number 0), or a stray line looked like a reply.
                Ok(Envelope { id: 0, body: body @ Reply::Failed { .. } }) => return Ok(body),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    return Err(LinkError::Timeout(deadline));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            }
        }
    }

    /// The last lines on standard error so far.
    pub fn last_words(&self) -> Vec<String> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn died(&mut self) -> LinkError {
        let end = Instant::now() + LAST_WORDS;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(5)),
                _ => break None,
            }
        };
        self.kill();
        // Closed by the thread at the pipe's end; something that the worker started may hold the pipe open.
        let _ = self.stderr_end.recv_timeout(LAST_WORDS);
        let how = status.map_or_else(|| "closed its pipe and stayed".to_owned(), describe);
        LinkError::Died { how, stderr: self.last_words() }
    }

    /// Ends the worker and all that it started.
    fn kill(&mut self) {
        self.requests = None;
        // A child that was waited for has no id any more: another process may have it.
        if let Ok(None) = self.child.try_wait() {
            let group = rustix::process::Pid::from_child(&self.child);
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The fault of a reply that does not answer its request.
pub fn unexpected(reply: &Reply) -> protocol::Fault {
    let text = serde_json::to_string(reply).unwrap_or_default();
    let start: String = text.chars().take(80).collect();
    protocol::Fault::Protocol { message: format!("an answer to another question: {start}") }
}

fn on_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(format!("worker {name}")).spawn(work).map(drop)
}

fn write_requests(mut to: impl Write, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if to.write_all(&line).is_err() {
            return;
        }
    }
}

fn read_replies(mut from: BufReader<impl Read>, to: &Sender<Envelope<Reply>>) {
    while let Ok(Some(line)) = protocol::read_line(&mut from) {
        // Whatever else is printed there is no reply.
        if let Ok(reply) = serde_json::from_slice(&line)
            && to.send(reply).is_err()
        {
            return;
        }
    }
}

/// Reads to the end, however much it is and however long its lines are.
fn keep_last_lines(mut from: impl Read, kept: &Mutex<VecDeque<String>>) {
    let mut buffer = [0u8; 8192];
    let mut line = Vec::new();
    let push = |line: &mut Vec<u8>| {
        let text = String::from_utf8_lossy(line).trim_end().to_owned();
        line.clear();
        if !text.is_empty() {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_back(text);
            if kept.len() > STDERR_LINES {
                kept.pop_front();
            }
        }
    };
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        for byte in &buffer[..count] {
            match byte {
                b'\n' => push(&mut line),
                _ if line.len() < STDERR_LINE_BYTES => line.push(*byte),
                _ => {}
            }
        }
    }
    push(&mut line);
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    let name = |signal| match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    };
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("killed by signal {signal}{}", name(signal)),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_long_errors_is_kept() {
        let text: String = (0..100).map(|i| format!("line {i} {}\n", "x".repeat(1000))).collect();
        let kept = Mutex::new(VecDeque::new());
        keep_last_lines(text.as_bytes(), &kept);
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(kept.len(), STDERR_LINES);
        assert!(kept[STDERR_LINES - 1].starts_with("line 99 xxx"));
        assert!(kept.iter().all(|line| line.len() <= STDERR_LINE_BYTES));
    }

    #[test]
    fn noise_between_replies_is_ignored() {
        let mut bytes = b"llvmpipe says hello without a line end".to_vec();
        protocol::write_message(&mut bytes, &Envelope { id: 3, body: Reply::Compiled }).expect("memory takes it");
        bytes.extend(b"{\"half\": \n");
        let (to, from) = unbounded();
        read_replies(BufReader::new(bytes.as_slice()), &to);
        drop(to);
        let ids: Vec<u64> = from.iter().map(|reply: Envelope<Reply>| reply.id).collect();
        assert_eq!(ids, [3]);
    }
}
