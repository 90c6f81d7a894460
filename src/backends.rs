//! The backends of this build, one line each behind its Cargo feature. Never knows what is inside them.

use peak_backend_api::Backend;

/// Makes a backend; cheap, and touches neither compiler nor driver.
pub type MakeBackend = fn() -> Box<dyn Backend>;

/// Every backend of this build, by name.
pub const BACKENDS: &[MakeBackend] = &[
    #[cfg(feature = "hlsl")]
    peak_backend_hlsl::backend,
];

/// The backend of that name, if this build has it.
#[must_use]
pub fn backend(name: &str) -> Option<Box<dyn Backend>> {
    find(BACKENDS, name)
}

/// The backend of that name in a list.
#[must_use]
pub fn find(backends: &[MakeBackend], name: &str) -> Option<Box<dyn Backend>> {
    backends.iter().map(|make| make()).find(|backend| backend.name() == name)
}
