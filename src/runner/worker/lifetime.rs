//! How a worker ends by itself: its coordinator is gone, or its memory limit is reached. Never by a deadline of its own.

use super::super::protocol;
use std::io;
use std::sync::Once;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// How long a request in progress may go on after the coordinator is gone.
const ORPHAN_GRACE: Duration = Duration::from_secs(1);

/// How often the resident size is read.
const MEMORY_PERIOD: Duration = Duration::from_millis(20);

/// How the line on standard error begins that says why the worker ended itself.
pub const MEMORY_MARK: &str = "peak worker: memory limit reached:";

/// Lines of standard input, read by a thread so that its end is seen while a request is in progress.
pub fn read_stdin() -> io::Result<Receiver<Vec<u8>>> {
    let (lines, received) = channel();
    thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Ok(Some(line)) = protocol::read_line(&mut stdin) {
            if lines.send(line).is_err() {
                return;
            }
        }
        drop(lines);
        thread::sleep(ORPHAN_GRACE);
        end_now();
    })?;
    Ok(received)
}

/// Ends the process when its resident size exceeds `bytes`. An address-space limit would break GPU drivers, which
/// reserve far more than they use.
pub fn watch_memory(bytes: u64) {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let watch = move || {
            loop {
                thread::sleep(MEMORY_PERIOD);
                if let Some(resident) = resident_bytes().filter(|resident| *resident > bytes) {
                    eprintln!("{MEMORY_MARK} {resident} bytes resident, {bytes} allowed");
                    end_now();
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("memory".to_owned()).spawn(watch) {
            eprintln!("peak worker: no watch on memory: {error}");
        }
    });
}

/// Resident bytes of this process; `None` where the system does not say.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Ends without exit handlers: a driver that hangs would hang in those too.
fn end_now() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resident_size_is_known_here() {
        assert!(resident_bytes().is_some_and(|bytes| bytes > 100_000));
    }
}
