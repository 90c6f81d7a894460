//! From assembled source to an artifact: NVRTC once for all entries, then the interface and the limits are checked.

use crate::nvrtc::{self, Code, Nvrtc, Outcome};
use crate::places::MEND;
use crate::target::Target;
use crate::{cubin, includes, interface, messages, parameters, ptx, resources};
use peak_backend_api::{Artifact, ArtifactKind, CompileError, CompileRequest, ReflectedEntry, assemble};

/// The longest source that is compiled, in bytes.
const SOURCE_BYTES_MAX: usize = 1 << 20;

/// Every flag that NVRTC gets, architecture and folders of headers aside. Part of [`Artifact::compiler`].
const FLAGS: &[&str] = &[
    "--std=c++17",
    // Faults and profiles point at lines; the code is the same.
    "-lineinfo",
    // The assembler tells registers, shared memory and spills.
    "--ptxas-options=-v",
];

/// The flag, from CUDA 13 on, that keeps NVRTC from answering out of a cache: the assembler would then say nothing.
const NO_CACHE: &str = "--no-cache";

/// Compiles a request. All interface mismatches of all entries are reported together.
pub(crate) fn compile(request: &CompileRequest) -> Result<Artifact, CompileError> {
    let source = assemble(&request.pieces);
    let has_includes = check_text(&source, request)?;
    let target = Target::parse(&request.target)?;
    resources::check_blocks(request)?;
    let nvrtc = nvrtc::loaded()?;
    let version = format!("NVRTC {}", nvrtc.version);
    target.check(&nvrtc.architectures, &version)?;
    check_headers(nvrtc, has_includes)?;
    let code = code(nvrtc, &target, &source, request)?;
    let (entries, resources) = examine(request, &code)?;
    Ok(Artifact {
        kind: target.kind,
        bytes: if target.kind == ArtifactKind::Ptx { code.ptx.into_bytes() } else { code.cubin },
        entries,
        resources,
        compiler: format!("{version} --gpu-architecture={} {}", target.architecture(), FLAGS.join(" ")),
    })
}

/// Refuses what NVRTC must not see; whether anything is included otherwise.
fn check_text(source: &str, request: &CompileRequest) -> Result<bool, CompileError> {
    let (used, limit) = (source.len() as u64, SOURCE_BYTES_MAX as u64);
    if used > limit {
        return Err(CompileError::OverLimit { resource: "bytes of source".to_owned(), used, limit });
    }
    if source.contains('\0') {
        return Err(CompileError::Source(vec![messages::unplaced("the source holds a NUL byte")]));
    }
    let plain =
        |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if let Some(entry) = request.entries.iter().find(|entry| !plain(&entry.name)) {
        let problem = format!("`{}` is not a name in CUDA", entry.name.escape_debug());
        return Err(CompileError::Interface(vec![problem]));
    }
    let (has_includes, problems) = includes::check(&request.pieces);
    if problems.is_empty() { Ok(has_includes) } else { Err(CompileError::Source(problems)) }
}

fn check_headers(nvrtc: &Nvrtc, has_includes: bool) -> Result<(), CompileError> {
    if !has_includes || !nvrtc.place.includes.is_empty() {
        return Ok(());
    }
    Err(CompileError::Toolchain {
        name: "headers of CUDA".to_owned(),
        reason: format!("NVRTC is at {}, without a folder `include` beside it", nvrtc.place.library.display()),
        mend: MEND.to_owned(),
    })
}

fn code(nvrtc: &Nvrtc, target: &Target, source: &str, request: &CompileRequest) -> Result<Code, CompileError> {
    let mut options = vec![format!("--gpu-architecture={}", target.architecture())];
    options.extend(FLAGS.iter().map(|flag| (*flag).to_owned()));
    if nvrtc.version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 13) {
        options.push(NO_CACHE.to_owned());
    }
    options.extend(nvrtc.place.includes.iter().map(|folder| format!("--include-path={}", folder.display())));
    match nvrtc.compile(source, &options)? {
        Outcome::Code(code) => Ok(code),
        Outcome::Rejected(log) => {
            // The assembler refuses what no device has room for, and says no word of it but the sizes.
            let used = resources::read(&log);
            for entry in &request.entries {
                resources::check(request, entry.block, used.get(&entry.name).copied().unwrap_or_default())?;
            }
            Err(CompileError::Source(messages::parse(&log, &request.pieces)))
        }
    }
}

fn examine(
    request: &CompileRequest,
    code: &Code,
) -> Result<(Vec<ReflectedEntry>, peak_backend_api::Resources), CompileError> {
    let found = ptx::entries(&code.ptx);
    let used_by = resources::read(&code.log);
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    let declared: Vec<_> =
        request.entries.iter().map(|wanted| parameters::declared(&request.pieces, &wanted.name)).collect();
    let is_written = |array: &str| interface::is_written(&request.entries, &declared, array);
    for (wanted, declared) in request.entries.iter().zip(&declared) {
        match interface::find(&found, wanted) {
            Ok(entry) => {
                problems.extend(interface::mismatches(wanted, entry, declared.as_deref(), is_written));
                // Of an entry that the assembler does not speak of nothing is known: not that it uses nothing.
                let instructions = cubin::instructions_of(&code.cubin, &wanted.name);
                let used = resources::of(used_by.get(&wanted.name).copied(), instructions);
                entries.push(interface::reflected(wanted, entry, used));
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(CompileError::Interface(problems));
    }
    for wanted in &request.entries {
        resources::check(request, wanted.block, used_by.get(&wanted.name).copied().unwrap_or_default())?;
    }
    let resources = resources::most(&entries, cubin::instructions(&code.cubin));
    Ok((entries, resources))
}
