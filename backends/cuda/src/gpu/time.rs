//! Times a sequence with events on the stream; short ones as graphs, since launching them takes longer than they do.

use super::context::Context;
use super::gate::{Gate, QUEUED_MAX};
use super::memory::Buffer;
use crate::error::check;
use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUgraph, CUgraphExec, CUstreamCaptureMode};
use peak_backend_api::{Caches, RuntimeError};
use std::rc::Rc;

/// Below this a sequence is timed as a graph of copies, in nanoseconds.
const SHORT_NS: u64 = 20_000;
/// Copies in such a graph: what it costs to start one is spread over them.
const COPIES: u32 = 20;
/// Bytes that are written over before a run with cold caches, as a multiple of the second-level cache.
const EVICTED_CACHES: u64 = 2;
/// Bytes that are written over at least.
const EVICTED_LEAST: u64 = 64 << 20;
/// What is written over them.
const EVICTED: [u8; 4] = [0; 4];

/// What to time: `queue` queues one run of `steps` steps.
pub(super) struct Timed<'a> {
    pub context: &'a Rc<Context>,
    pub steps: usize,
    pub queue: &'a dyn Fn() -> Result<(), RuntimeError>,
}

impl Timed<'_> {
    /// The device time of each of `repeats` runs, in nanoseconds, at least 1.
    ///
    /// More than one repeat with warm caches begins with a run that is not counted; of a short sequence each repeat is then
    /// the mean over twenty runs in a row. A caller whose inputs a run changes asks for one repeat at a time, and gets
    /// exactly that run.
    ///
    /// # Errors
    /// As `queue`, and a fault of a kernel.
    pub fn times(&self, repeats: u32, caches: Caches) -> Result<Vec<u64>, RuntimeError> {
        let clock = Clock { gate: Gate::new(self.context)?, context: self.context };
        match caches {
            Caches::Cold => self.cold(&clock, repeats),
            Caches::Warm if repeats > 1 => self.warm(&clock, repeats),
            Caches::Warm => clock.times(1, self.steps, &|| Ok(()), self.queue),
        }
    }

    fn warm(&self, clock: &Clock<'_>, repeats: u32) -> Result<Vec<u64>, RuntimeError> {
        (self.queue)()?;
        let first = clock.times(1, self.steps, &|| Ok(()), self.queue)?;
        if first.first().is_some_and(|time| *time >= SHORT_NS) {
            // Each run follows another without a pause; the first is not counted.
            let once = std::cell::Cell::new(true);
            let lead = || if once.replace(false) { (self.queue)() } else { Ok(()) };
            return clock.times(repeats, self.steps, &lead, self.queue);
        }
        let graph = Graph::record(self.context, self.queue)?;
        let copies = || graph.launch();
        clock.times(1, 1, &|| Ok(()), &copies)?;
        let times = clock.times(repeats, 1, &|| Ok(()), &copies)?;
        Ok(times.into_iter().map(|time| (time / u64::from(COPIES)).max(1)).collect())
    }

    fn cold(&self, clock: &Clock<'_>, repeats: u32) -> Result<Vec<u64>, RuntimeError> {
        let bytes = EVICTED_LEAST.max(EVICTED_CACHES * self.context.fact("l2", 0));
        let evicted = Buffer::new(self.context, "what empties the caches", bytes)?;
        clock.times(repeats, self.steps + 1, &|| evicted.queue_fill(EVICTED), self.queue)
    }
}

struct Clock<'c> {
    gate: Gate,
    context: &'c Rc<Context>,
}

impl Clock<'_> {
    /// Runs `before` and `queue` that often, and waits; nanoseconds that each `queue` took. All of a batch is queued before
    /// its first event passes, so that no launch waits for the host.
    fn times(
        &self,
        repeats: u32,
        steps: usize,
        before: &dyn Fn() -> Result<(), RuntimeError>,
        queue: &dyn Fn() -> Result<(), RuntimeError>,
    ) -> Result<Vec<u64>, RuntimeError> {
        // Two events and a wait beside the steps.
        let commands = steps.saturating_add(3);
        let batch = u32::try_from((QUEUED_MAX / commands).max(1)).unwrap_or(1);
        let mut times = Vec::new();
        while (times.len() as u64) < u64::from(repeats) {
            let left = repeats.saturating_sub(u32::try_from(times.len()).unwrap_or(u32::MAX));
            // Nothing of another run is still under way.
            self.context.wait()?;
            let shut = (commands <= QUEUED_MAX).then(|| self.gate.shut()).transpose()?;
            let mut stamps = Vec::new();
            for _ in 0..batch.min(left) {
                before()?;
                let pair = Stamps { start: Event::new(self.context)?, stop: Event::new(self.context)? };
                pair.start.record(self.context)?;
                queue()?;
                pair.stop.record(self.context)?;
                stamps.push(pair);
            }
            drop(shut);
            self.context.wait()?;
            for pair in &stamps {
                times.push(pair.between()?);
            }
        }
        Ok(times)
    }
}

struct Stamps {
    start: Event,
    stop: Event,
}

impl Stamps {
    /// Nanoseconds between the events, which the stream has passed.
    fn between(&self) -> Result<u64, RuntimeError> {
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
