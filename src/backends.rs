//! The backends and runtimes of this build, one line each behind its Cargo feature. Never knows what is inside them.

use peak_backend_api::{Backend, Runtime};

/// Makes a backend; cheap, and touches neither compiler nor driver.
pub type MakeBackend = fn() -> Box<dyn Backend>;

/// Makes a runtime; as cheap.
pub type MakeRuntime = fn() -> Box<dyn Runtime>;

/// Every backend of this build, by name.
pub const BACKENDS: &[MakeBackend] = &[
    #[cfg(feature = "cuda")]
    peak_backend_cuda::backend,
    #[cfg(feature = "hlsl")]
    peak_backend_hlsl::backend,
];

/// Runtimes that belong to no backend: each runs what any backend makes of the kinds that it accepts. Their devices come
/// after all others.
pub const RUNTIMES: &[MakeRuntime] = &[
    #[cfg(feature = "sim")]
    peak_backend_sim::runtime,
];

/// The language whose devices any machine can have, with a software one at least: what is meant where neither a device nor
/// a backend is named.
const EVERYWHERE: &str = "hlsl";

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

/// The name of the backend that is meant where nothing says which; `None` in a build without any.
#[must_use]
pub fn default_backend() -> Option<&'static str> {
    let names = || BACKENDS.iter().map(|make| make().name());
    names().find(|name| *name == EVERYWHERE).or_else(|| names().next())
}

/// Where a backend's artifacts run, preferred first: its own runtimes, then those of [`RUNTIMES`] that take them.
#[must_use]
pub fn runtimes(backend: &dyn Backend) -> Vec<Box<dyn Runtime>> {
    paired(backend, RUNTIMES)
}

fn paired(backend: &dyn Backend, others: &[MakeRuntime]) -> Vec<Box<dyn Runtime>> {
    let takes = |runtime: &dyn Runtime| backend.artifacts().iter().any(|kind| runtime.accepts(*kind));
    let others = others.iter().map(|make| make()).filter(|runtime| takes(runtime.as_ref()));
    backend.runtimes().into_iter().chain(others).collect()
}

/// Whether a runtime of that name is one of [`RUNTIMES`].
#[must_use]
pub fn stands_apart(runtime: &str) -> bool {
    RUNTIMES.iter().any(|make| make().name() == runtime)
}

#[cfg(test)]
mod tests {
    use super::*;
    use peak_backend_api::{ArtifactKind, Device, DeviceInfo, RuntimeError};

    struct TakesPtx;

    impl Runtime for TakesPtx {
        fn name(&self) -> &'static str {
            "takes-ptx"
        }

        fn accepts(&self, kind: ArtifactKind) -> bool {
            kind == ArtifactKind::Ptx
        }

        fn devices(&self) -> Result<Vec<DeviceInfo>, RuntimeError> {
            Ok(Vec::new())
        }

        fn open(&self, index: usize) -> Result<Box<dyn Device>, RuntimeError> {
            Err(RuntimeError::NoDevice { index, count: 0 })
        }
    }

    #[test]
    fn a_runtime_is_paired_with_what_it_takes() {
        let others: &[MakeRuntime] = &[|| Box::new(TakesPtx)];
        for make in BACKENDS {
            let backend = make();
            let names: Vec<&str> = paired(backend.as_ref(), others).iter().map(|runtime| runtime.name()).collect();
            let own = backend.runtimes().len();
            let expected: &[&str] = if backend.artifacts().contains(&ArtifactKind::Ptx) { &["takes-ptx"] } else { &[] };
            assert_eq!(&names[own..], expected, "{}", backend.name());
        }
        assert_eq!(
            default_backend(),
            if cfg!(feature = "hlsl") { Some("hlsl") } else { BACKENDS.first().map(|it| it().name()) }
        );
    }
}
