//! `nvdisasm`, NVIDIA's disassembler, run on a file of its own: machine code in, text with source lines out.

use crate::{error, places};
use peak_backend_api::CompileError;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Code alone, with the source lines that it was made from.
const ARGUMENTS: &[&str] = &["--print-code", "--print-line-info-inline"];

const NAME: &str = "nvdisasm";

/// The text of a cubin, and the tool with its version.
///
/// # Errors
/// [`CompileError::Toolchain`] where the tool is not there, [`CompileError::Internal`] where it fails.
pub(super) fn text(cubin: &[u8]) -> Result<(String, String), CompileError> {
    let (program, version) = found()?;
    let failed = |problem: String| error::internal(NAME, &problem);
    let mut file = tempfile::Builder::new()
        .prefix("peak-")
        .suffix(".cubin")
        .tempfile()
        .map_err(|error| failed(format!("no file for the code: {error}")))?;
    file.write_all(cubin).map_err(|error| failed(format!("no file for the code: {error}")))?;
    let output = run(&program, &[ARGUMENTS, &[&*file.path().to_string_lossy()]].concat());
    let output = output.map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => Ok((String::from_utf8_lossy(&output.stdout).into_owned(), version)),
        false => Err(failed(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())),
    }
}

fn run(program: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(program).args(arguments).stdin(Stdio::null()).output()
}

/// The first program that starts: beside NVRTC, of an installation, on the search path.
fn found() -> Result<(PathBuf, String), CompileError> {
    let places = places::programs(NAME);
    let starts = |place: &PathBuf| {
        let output = run(place, &["--version"]).ok().filter(|output| output.status.success())?;
        Some((place.clone(), version(&String::from_utf8_lossy(&output.stdout))))
    };
    places.iter().find_map(starts).ok_or_else(|| {
        let tried: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        CompileError::Toolchain {
            name: NAME.to_owned(),
            reason: format!("it shows machine code; tried {}", tried.join(", ")),
            mend: "install a CUDA toolkit and put its `bin` on the search path; PTX needs no tool: leave out `--form sass`"
                .to_owned(),
        }
    })
}

/// `nvdisasm 13.2`, of `... release 13.2, V13.2.51`.
fn version(text: &str) -> String {
    let release = text.split_once("release ").and_then(|(_, rest)| rest.split([',', '\n']).next());
    format!("{NAME} {}", release.unwrap_or("of unknown version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        assert_eq!(version("Cuda compilation tools, release 13.2, V13.2.51\n"), "nvdisasm 13.2");
        assert_eq!(version(""), "nvdisasm of unknown version");
    }
}
