//! A test that can't run here: a counted line past the harness, or a failure where `PEAK_REQUIRE` names its backend.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Says why.
///
/// # Panics
/// Where `PEAK_REQUIRE` holds `backend`.
pub fn skip(backend: &str, why: &str) {
    let required = std::env::var("PEAK_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == backend), "PEAK_REQUIRE names {backend}: {why}");
    let skipped = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    let thread = std::thread::current();
    let line = format!("skipped ({skipped}): {}: {why}\n", thread.name().unwrap_or("a test"));
    // The harness shows only what failures print to its own streams.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
