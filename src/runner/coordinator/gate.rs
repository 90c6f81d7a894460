//! Keeps compiling off the cores of a device that is them, while it is timed. Any number compile, or one times.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Shared by the pool and the workers of software devices. Who times goes first: compiling waits for all that asked.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    compiling: usize,
    timing: bool,
    waiting_to_time: usize,
}

impl Gate {
    /// An open gate.
    #[must_use]
    pub fn new() -> Gate {
        Gate::default()
    }

    /// Does `work` while nothing is timed.
    pub fn compiling<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut state = self.lock();
        while state.timing || state.waiting_to_time > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.compiling += 1;
        drop(state);
        let _leave = Leave(self, |state| state.compiling -= 1);
        work()
    }

    /// Does `work` while nothing compiles and nothing else is timed.
    pub fn timing<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut state = self.lock();
        state.waiting_to_time += 1;
        while state.timing || state.compiling > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting_to_time -= 1;
        state.timing = true;
        drop(state);
        let _leave = Leave(self, |state| state.timing = false);
        work()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the place back, a panic included.
struct Leave<'a>(&'a Gate, fn(&mut State));

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        (self.1)(&mut self.0.lock());
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn nothing_compiles_while_something_is_timed() {
        let (gate, compiling, overlaps) = (Gate::new(), AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        gate.compiling(|| {
                            compiling.fetch_add(1, Ordering::SeqCst);
                            thread::sleep(Duration::from_micros(200));
                            compiling.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..20 {
                    gate.timing(|| {
                        for _ in 0..20 {
                            overlaps.fetch_or(compiling.load(Ordering::SeqCst) > 0, Ordering::SeqCst);
                            thread::sleep(Duration::from_micros(10));
                        }
                    });
                }
            });
        });
        assert!(!overlaps.load(Ordering::SeqCst));
    }

    #[test]
    fn a_panic_gives_its_place_back() {
        let gate = Gate::new();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| gate.timing(|| panic!("on purpose"))));
        assert!(caught.is_err());
        assert_eq!(gate.compiling(|| 1), 1);
    }
}
