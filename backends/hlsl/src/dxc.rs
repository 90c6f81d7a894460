//! DXC, loaded once from the toolchain folder: text in, SPIR-V or the compiler's words out.
//!
//! It gets its source from memory and no include handler, so no file of the machine can reach a kernel.

use crate::error;
use hassle_rs::{DxcBlob, DxcBlobEncoding, HassleError};
use peak_backend_api::{CompileError, Toolchain, toolchain_folder};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Every flag that DXC gets, the entry and profile aside. Part of [`peak_backend_api::Artifact::compiler`].
pub(crate) const FLAGS: &[&str] = &[
    "-spirv",
    "-fspv-target-env=vulkan1.3",
    // Without it DXC emits a vendor's capability that others' drivers reject.
    "-fspv-extension=KHR",
    // Strides and offsets are then the ones the host computes: no padding of three-component vectors.
    "-fvk-use-scalar-layout",
    // An argument that is declared and unused stays visible to the interface check.
    "-fspv-preserve-bindings",
    // `register(t0)` and `register(u0)` are different places in HLSL, and one place in Vulkan unless moved apart.
    "-fvk-t-shift",
    "100",
    "all",
    "-fvk-u-shift",
    "200",
    "all",
    "-fvk-b-shift",
    "300",
    "all",
    "-enable-16bit-types",
    "-HV",
    "2021",
    "-O3",
    // The module names the source line of each instruction; the code is the same.
    "-fspv-debug=line",
    // spirv-val of the toolchain validates: newer than the one inside DXC.
    "-Vd",
];

/// The shader model: 16-bit types, wave operations, 64-bit atomics.
pub(crate) const PROFILE: &str = "cs_6_6";

/// Stack of the thread that DXC runs on, in bytes: deep expressions and large unrolled loops recurse.
const STACK_BYTES: usize = 64 << 20;

const MEND: &str = "scripts/setup";

/// What DXC made of a source.
pub(crate) enum Outcome {
    /// A SPIR-V module.
    Module(Vec<u32>),
    /// It refused, with these words.
    Rejected(String),
}

/// Compiles one entry point.
///
/// # Errors
/// A missing compiler, or one that fails without a word about the source.
pub(crate) fn compile(source: &str, entry: &str) -> Result<Outcome, CompileError> {
    let dxc = loaded()?;
    let mut arguments = FLAGS.to_vec();
    // Names the module's entry point as the source does, whatever DXC would call it.
    let name = format!("-fspv-entrypoint-name={entry}");
    arguments.push(&name);
    on_large_stack(|| dxc.compile(source, entry, &arguments))?
}

/// DXC's version, as `1.8.0.4597`.
///
/// # Errors
/// A missing compiler.
pub(crate) fn version() -> Result<&'static str, CompileError> {
    loaded().map(|dxc| dxc.version.as_str())
}

/// The line of `peak doctor`.
pub(crate) fn toolchain() -> Toolchain {
    let (found, version, place) = match loaded() {
        Ok(dxc) => (true, Some(dxc.version.clone()), dxc.place.display().to_string()),
        Err(_) => (false, None, places_looked_at()),
    };
    Toolchain { name: "dxc".to_owned(), found, version, place, mend: MEND.to_owned() }
}

/// The library in the folder of toolchains.
const OWN: &str = "dxc/lib/libdxcompiler.so";
/// The library that the system's loader may know.
const SYSTEM: &str = "libdxcompiler.so";

struct Dxc {
    library: hassle_rs::Dxc,
    place: PathBuf,
    version: String,
}

fn loaded() -> Result<&'static Dxc, CompileError> {
    static DXC: OnceLock<Result<Dxc, String>> = OnceLock::new();
    DXC.get_or_init(Dxc::load).as_ref().map_err(|reason| CompileError::Toolchain {
        name: "dxc".to_owned(),
        reason: reason.clone(),
        mend: MEND.to_owned(),
    })
}

/// Where it was looked for, in words.
fn places_looked_at() -> String {
    let own = toolchain_folder().map(|folder| format!("{}, then as ", folder.join(OWN).display()));
    format!("{}{SYSTEM} on the system's library path", own.unwrap_or_default())
}

/// The project's own DXC, else whatever the system's loader finds.
fn expected_place() -> PathBuf {
    toolchain_folder()
        .map(|folder| folder.join(OWN))
        .filter(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(SYSTEM))
}

impl Dxc {
    fn load() -> Result<Dxc, String> {
        let place = expected_place();
        let library = hassle_rs::Dxc::new(Some(place.clone())).map_err(|error| match error {
            HassleError::LoadLibraryError { inner, .. } => inner.to_string(),
            other => other.to_string(),
        })?;
        let mut dxc = Dxc { library, place, version: String::new() };
        dxc.version = on_large_stack(|| dxc.read_version())
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        Ok(dxc)
    }

    fn read_version(&self) -> hassle_rs::Result<String> {
        let macros = "__DXC_VERSION_MAJOR.__DXC_VERSION_MINOR.__DXC_VERSION_RELEASE.__DXC_VERSION_COMMITS";
        let text = macros.replace('.', " . ");
        let compiler = self.library.create_compiler()?;
        let blob = self.library.create_library()?.create_blob_with_encoding_from_str(&text)?;
        let expanded = match compiler.preprocess(&blob, "version", &[], None, &[]) {
            Ok(result) => text_of(result.get_result()?),
            Err((_, code)) => return Err(HassleError::Win32Error(code)),
        };
        let line = expanded.lines().find(|line| !line.starts_with('#') && !line.trim().is_empty()).unwrap_or_default();
        Ok(line.split_whitespace().collect())
    }

    fn compile(&self, source: &str, entry: &str, arguments: &[&str]) -> Result<Outcome, CompileError> {
        let internal = |error: HassleError| error::internal("dxc", &error.to_string());
        let compiler = self.library.create_compiler().map_err(internal)?;
        let library = self.library.create_library().map_err(internal)?;
        let blob = library.create_blob_with_encoding_from_str(source).map_err(internal)?;
        match compiler.compile(&blob, "source", entry, PROFILE, arguments, None, &[]) {
            Ok(result) => Ok(Outcome::Module(result.get_result().map_err(internal)?.to_vec::<u32>())),
            Err((result, _)) => Ok(Outcome::Rejected(encoded_text(result.get_error_buffer().map_err(internal)?))),
        }
    }
}

fn encoded_text(blob: DxcBlobEncoding) -> String {
    text_of(blob.into())
}

/// Lossy: DXC cuts a quoted line of source anywhere.
fn text_of(blob: DxcBlob) -> String {
    String::from_utf8_lossy(&blob.to_vec::<u8>()).trim_end_matches('\0').to_owned()
}

/// Runs `work` on a thread of its own; a panic of the bindings (a null where DXC promised an object) is an error.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, CompileError> {
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().name("dxc".to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) => Err(error::internal("dxc", "it gave neither code nor a message")),
            Err(error) => Err(error::internal("dxc", &format!("no thread for it: {error}"))),
        }
    })
}
