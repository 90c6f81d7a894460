//! Times a sequence with events on the stream; short ones as graphs, since launching them takes longer than they do.

use super::context::Context;
use crate::error::check;
use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUgraph, CUgraphExec, CUstreamCaptureMode};
use peak_backend_api::RuntimeError;
use std::rc::Rc;

/// Below this a sequence is timed as a graph of copies, in nanoseconds.
const SHORT_NS: u64 = 20_000;
/// Copies in such a graph: what it costs to start one is spread over them.
const COPIES: u32 = 20;

/// The device time of each of `repeats` runs of what `queue` queues, in nanoseconds, at least 1.
///
/// More than one repeat of a short sequence gives, for each repeat, the mean over twenty runs in a row: a caller whose
/// inputs a run changes asks for one repeat at a time, and gets exactly that run.
///
/// # Errors
/// As `queue`, and a fault of a kernel.
pub(super) fn time(
    context: &Rc<Context>,
    repeats: u32,
    queue: &dyn Fn() -> Result<(), RuntimeError>,
) -> Result<Vec<u64>, RuntimeError> {
    let stamps = Stamps { start: Event::new(context)?, stop: Event::new(context)? };
    if repeats > 1 {
        // The first run is slower: code and tables are fetched. The second one tells how long it takes.
        stamps.around(context, queue)?;
        if stamps.around(context, queue)? < SHORT_NS {
            let graph = Graph::record(context, queue)?;
            let copies = || graph.launch();
            stamps.around(context, &copies)?;
            let mean = || stamps.around(context, &copies).map(|time| (time / u64::from(COPIES)).max(1));
            return (0..repeats).map(|_| mean()).collect();
        }
    }
    (0..repeats).map(|_| stamps.around(context, queue)).collect()
}

struct Stamps {
    start: Event,
    stop: Event,
}

impl Stamps {
    /// Runs once and waits; nanoseconds between the events before and after.
    fn around(&self, context: &Context, queue: &dyn Fn() -> Result<(), RuntimeError>) -> Result<u64, RuntimeError> {
        // Nothing of another run is still under way.
        context.wait()?;
        self.start.record(context)?;
        queue()?;
        self.stop.record(context)?;
        context.wait()?;
        let mut milliseconds = 0f32;
        // SAFETY: both events were recorded, and the stream has passed them.
        let code = unsafe { sys::cuEventElapsedTime_v2(&mut milliseconds, self.start.raw, self.stop.raw) };
        check("cuEventElapsedTime", code)?;
        Ok(nanoseconds(milliseconds))
    }
}

/// Whole nanoseconds, at least 1: the driver's clock is coarser than the shortest kernel.
fn nanoseconds(milliseconds: f32) -> u64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates, and NaN gives 0")]
    let rounded = (f64::from(milliseconds) * 1e6).round() as u64;
    rounded.max(1)
}

struct Event {
    raw: CUevent,
    // Goes after the event.
    _context: Rc<Context>,
}

impl Event {
    fn new(context: &Rc<Context>) -> Result<Event, RuntimeError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the context is current; the event is destroyed when this is dropped.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&mut raw, CUevent_flags::CU_EVENT_DEFAULT as u32) })?;
        Ok(Event { raw, _context: Rc::clone(context) })
    }

    fn record(&self, context: &Context) -> Result<(), RuntimeError> {
        // SAFETY: event and stream are of one context.
        check("cuEventRecord", unsafe { sys::cuEventRecord(self.raw, context.stream) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is live and goes once.
        let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}

/// [`COPIES`] runs in a row, ready to be launched at once.
struct Graph {
    raw: CUgraph,
    ready: CUgraphExec,
    context: Rc<Context>,
}

impl Graph {
    fn record(context: &Rc<Context>, queue: &dyn Fn() -> Result<(), RuntimeError>) -> Result<Graph, RuntimeError> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is idle, and nothing else captures it.
        check("cuStreamBeginCapture", unsafe { sys::cuStreamBeginCapture_v2(context.stream, mode) })?;
        let queued = (0..COPIES).try_for_each(|_| queue());
        let mut graph = Graph { raw: std::ptr::null_mut(), ready: std::ptr::null_mut(), context: Rc::clone(context) };
        // Capturing ends whatever became of it.
        // SAFETY: the stream is being captured.
        let ended = unsafe { sys::cuStreamEndCapture(context.stream, &mut graph.raw) };
        queued?;
        check("cuStreamEndCapture", ended)?;
        // SAFETY: the graph is complete.
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&mut graph.ready, graph.raw, 0) };
        check("cuGraphInstantiate", code)?;
        Ok(graph)
    }

    fn launch(&self) -> Result<(), RuntimeError> {
        // SAFETY: the graph is ready, and its last launch was waited for.
        check("cuGraphLaunch", unsafe { sys::cuGraphLaunch(self.ready, self.context.stream) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: no launch is under way (or the context is lost, and the calls fail).
        unsafe {
            if !self.ready.is_null() {
                let _ = sys::cuGraphExecDestroy(self.ready);
            }
            if !self.raw.is_null() {
                let _ = sys::cuGraphDestroy(self.raw);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_and_positive() {
        assert_eq!(nanoseconds(0.0), 1);
        assert_eq!(nanoseconds(0.5), 500_000);
        assert_eq!(nanoseconds(f32::NAN), 1);
        assert_eq!(nanoseconds(-1.0), 1);
    }
}
