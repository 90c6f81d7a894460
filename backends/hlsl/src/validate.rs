//! `spirv-val` of the toolchain folder, over a pipe: what DXC emitted is SPIR-V that a Vulkan 1.3 driver must take. And
//! `spirv-dis` beside it, which shows a module.

use crate::error;
use peak_backend_api::{CompileError, Toolchain, toolchain_folder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const VALIDATOR: &str = "spirv-val";
const DISASSEMBLER: &str = "spirv-dis";
const ARGUMENTS: &[&str] = &["--target-env", "vulkan1.3", "--scalar-block-layout", "-"];
const MEND: &str = "scripts/setup";

/// Validates a module.
///
/// # Errors
/// A missing validator, or a module that does not validate: a defect of the compiler, not of the kernel.
pub(crate) fn validate(module: &[u32]) -> Result<(), CompileError> {
    let output = pipe(&place(VALIDATOR), ARGUMENTS, module).map_err(|error| missing(&error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(error::internal("spirv-val", &String::from_utf8_lossy(&said)))
}

/// A module as text, and the tool with its version; `None` where there is no `spirv-dis`.
///
/// # Errors
/// A module that it refuses.
pub(crate) fn text(module: &[u32]) -> Result<Option<(String, String)>, CompileError> {
    let program = place(DISASSEMBLER);
    let Ok(output) = pipe(&program, &["--no-header", "-"], module) else { return Ok(None) };
    if !output.status.success() {
        return Err(error::internal(DISASSEMBLER, &String::from_utf8_lossy(&output.stderr)));
    }
    let version = read_version(&program).unwrap_or_else(|| "of unknown version".to_owned());
    Ok(Some((String::from_utf8_lossy(&output.stdout).into_owned(), format!("{DISASSEMBLER} {version}"))))
}

/// SPIRV-Tools' version, as `v2025.5`.
pub(crate) fn version() -> Option<&'static str> {
    static VERSION: OnceLock<Option<String>> = OnceLock::new();
    VERSION.get_or_init(|| read_version(&place(VALIDATOR))).as_deref()
}

/// The line of `peak doctor`.
pub(crate) fn toolchain() -> Toolchain {
    let version = version().map(str::to_owned);
    let place = place(VALIDATOR).display().to_string();
    Toolchain { name: "spirv-val".to_owned(), found: version.is_some(), version, place, mend: MEND.to_owned() }
}

/// The project's own tool, else the one on the search path.
fn place(tool: &str) -> PathBuf {
    toolchain_folder()
        .map(|folder| folder.join("spirv-tools/bin").join(tool))
        .filter(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(tool))
}

fn pipe(program: &Path, arguments: &[&str], module: &[u32]) -> std::io::Result<std::process::Output> {
    let mut child =
        command(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let bytes: Vec<u8> = module.iter().flat_map(|word| word.to_le_bytes()).collect();
    if let Some(mut input) = child.stdin.take() {
        // A validator that stops reading early has said why: its output counts, not the broken pipe.
        drop(input.write_all(&bytes));
    }
    child.wait_with_output()
}

/// Its shared libraries, where a build has any, lie beside it.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some(folder) = program.parent().and_then(Path::parent).filter(|folder| folder.join("lib").is_dir()) {
        command.env("LD_LIBRARY_PATH", folder.join("lib"));
    }
    command
}

fn read_version(program: &Path) -> Option<String> {
    let output = command(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next()?.split_whitespace().nth(1).map(str::to_owned)
}

fn missing(error: &std::io::Error) -> CompileError {
    CompileError::Toolchain {
        name: "spirv-val".to_owned(),
        reason: format!("{}: {error}", place(VALIDATOR).display()),
        mend: MEND.to_owned(),
    }
}
