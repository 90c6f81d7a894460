//! Compiles candidates ahead of whoever times them: threads that feed a bounded channel. Times nothing.

use super::space::Space;
use super::tuner::TuneRequest;
use crate::context::Configuration;
use crate::context::launch::ConcretePlan;
use crate::context::source::compile_request;
use crate::runner::{Compile, Failure, FailureClass};
use crossbeam_channel::bounded;
use peak_backend_api::Artifact;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Compiled candidates that wait to be timed, at most, for each thread that compiles.
const AHEAD: usize = 2;

/// A candidate with its plan and code.
pub struct Ready {
    /// Which, by index.
    pub index: usize,
    /// Its plan and artifact, or why there is none.
    pub built: Result<(ConcretePlan, Arc<Artifact>), Failure>,
}

/// Plans and compiles one configuration.
pub fn build(
    request: &TuneRequest<'_>,
    space: &Space<'_>,
    configuration: &Configuration,
    compile: &dyn Compile,
) -> Result<(ConcretePlan, Arc<Artifact>), Failure> {
    let plan = space
        .plan(configuration)
        .map_err(|invalid| Failure::new(FailureClass::Launch, format!("not a valid configuration: {invalid}")))?;
    let wanted = compile_request(request.context, configuration, &plan, request.backend, request.target, request.facts);
    Ok((plan, compile.compile(&wanted)?))
}

/// Builds `configurations` on `threads` threads and hands each to `take` on this one, as they come. Stops early where
/// `take` says so, or once `cancelled`.
pub fn build_all(
    request: &TuneRequest<'_>,
    space: &Space<'_>,
    configurations: &[(usize, Configuration)],
    compile: &dyn Compile,
    cancelled: &AtomicBool,
    threads: usize,
    mut take: impl FnMut(Ready) -> bool,
) {
    let threads = threads.clamp(1, configurations.len().max(1));
    let next = AtomicUsize::new(0);
    let (built, ready) = bounded(threads * AHEAD);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (built, next) = (built.clone(), &next);
            scope.spawn(move || {
                while let Some((index, configuration)) = configurations.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if cancelled.load(Ordering::Relaxed) {
                        return;
                    }
                    let one = Ready { index: *index, built: build(request, space, configuration, compile) };
                    if built.send(one).is_err() {
                        return;
                    }
                }
            });
        }
        drop(built);
        // Moved in, so that it is dropped, and the threads stop, where `take` has enough.
        let ready = ready;
        for one in &ready {
            if cancelled.load(Ordering::Relaxed) || !take(one) {
                break;
            }
        }
        drop(ready);
    });
}
