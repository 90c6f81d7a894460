//! One timed run at a time on a device, over all Peak processes of this user: a lock on a file named for the device.
//!
//! The system gives the lock back when its holder dies, so there are no stale locks.

use super::super::{Failure, FailureClass};
use peak_backend_api::DeviceInfo;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long the device is waited for.
const WAIT_MAX: Duration = Duration::from_secs(30 * 60);

/// How often the lock is tried.
const TRY_PERIOD: Duration = Duration::from_millis(20);

/// Does `work` while holding the device. `say` hears of it once where another process has it.
///
/// # Errors
/// Class `timeout` after half an hour, class `crash` where the lock file cannot be made.
pub fn with_device<T>(path: &Path, say: &dyn Fn(&str), work: impl FnOnce() -> T) -> Result<T, Failure> {
    let failed = |error: io::Error| {
        Failure::new(FailureClass::Crash, format!("the device's lock {} cannot be made: {error}", path.display()))
    };
    let mut lock = fd_lock::RwLock::new(open(path).map_err(failed)?);
    let end = Instant::now() + WAIT_MAX;
    let mut said = false;
    // Taken, given back and taken again: the guard of a failed try would borrow the lock across the loop.
    loop {
        match lock.try_write() {
            Ok(_guard) => return Ok(work()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(failed(error)),
        }
        if !said {
            said = true;
            say("another run of Peak is using the device; waiting for it");
        }
        if Instant::now() > end {
            let message = format!("another Peak process held the device for {} minutes", WAIT_MAX.as_secs() / 60);
            return Err(Failure::new(FailureClass::Timeout, message));
        }
        thread::sleep(TRY_PERIOD);
    }
}

/// The lock's file, in the first of the user's runtime, cache and temporary folders that takes it. Runtimes name one
/// device alike where they can, so the name and its index decide.
#[must_use]
pub fn lock_path(device: &DeviceInfo) -> PathBuf {
    let place = serde_json::json!([device.name, device.index]).to_string();
    let file = format!("device-{}.lock", &crate::hash::hex(place.as_bytes())[..16]);
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("HOME").map(|home| home.join(".cache"));
    let bases = [set("XDG_RUNTIME_DIR"), set("XDG_CACHE_HOME"), home];
    let mut paths = bases.into_iter().flatten().map(|base| base.join("peak").join(&file));
    paths.find(|path| open(path).is_ok()).unwrap_or_else(|| std::env::temp_dir().join("peak").join(file))
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_holds_the_device_and_the_other_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("sub/device.lock");
        let (inside, told) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let hold = || {
            with_device(
                &path,
                &|_| {
                    told.fetch_add(1, Ordering::SeqCst);
                },
                || {
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold one device");
                    thread::sleep(Duration::from_millis(60));
                    inside.fetch_sub(1, Ordering::SeqCst);
                },
            )
        };
        thread::scope(|scope| {
            let both = [scope.spawn(hold), scope.spawn(hold)];
            assert!(both.into_iter().all(|one| one.join().is_ok_and(|held| held.is_ok())));
        });
        assert_eq!(told.load(Ordering::SeqCst), 1);
    }
}
