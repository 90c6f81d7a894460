//! Time that an input may take: of the processor, so that a busy machine finds no hang that is none.

/// Seconds of the processor that one call may take, with coverage counters in it.
const MAX_SECONDS: f64 = 1.0;

/// Calls `work`, and panics where it took too long. (What never ends is libFuzzer's `-timeout`.)
///
/// # Panics
/// Over [`MAX_SECONDS`]; the place that is told is the caller's.
#[track_caller]
pub fn within_a_second<T>(work: impl FnOnce() -> T) -> T {
    let start = processor_seconds();
    let result = work();
    let took = processor_seconds() - start;
    assert!(took <= MAX_SECONDS, "{took:.2} seconds of the processor for one input");
    result
}

fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value of the right type, which the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
