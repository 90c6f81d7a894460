//! From assembled source to an artifact: one SPIR-V module an entry, validated, reflected and checked against its launch.

use crate::reflect::Reflection;
use crate::{container, dxc, error, interface, messages, reflect, resources, validate};
use peak_backend_api::{
    Artifact, ArtifactKind, CompileError, CompileRequest, EntryArgumentKind, EntryRequest, assemble,
};

/// The longest source that is compiled, in bytes.
const SOURCE_BYTES_MAX: usize = 1 << 20;

/// Compiles every entry of a request. All interface mismatches of all entries are reported together.
pub(crate) fn compile(request: &CompileRequest) -> Result<Artifact, CompileError> {
    let source = assemble(&request.pieces);
    check_text(&source, request)?;
    resources::check_blocks(request)?;
    let mut modules = Vec::new();
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for entry in &request.entries {
        match module(&source, entry, request)? {
            Ok(module) => {
                let reflection = reflect::reflect(&module, &entry.name)?;
                problems.extend(interface::mismatches(entry, &reflection));
                found.push(bound(reflection, entry));
                modules.push(module);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(CompileError::Interface(problems));
    }
    resources::check_shared(request, &found)?;
    modules.iter().try_for_each(|module| validate::validate(module))?;
    Ok(Artifact {
        kind: ArtifactKind::Spirv,
        bytes: container::join(&modules),
        resources: resources::of(&found),
        entries: found.into_iter().map(|reflection| reflection.entry).collect(),
        compiler: compiler()?,
    })
}

/// What DXC's bindings could not take.
fn check_text(source: &str, request: &CompileRequest) -> Result<(), CompileError> {
    if source.len() > SOURCE_BYTES_MAX {
        let used = source.len() as u64;
        return Err(CompileError::OverLimit {
            resource: "bytes of source".to_owned(),
            used,
            limit: SOURCE_BYTES_MAX as u64,
        });
    }
    if source.contains('\0') {
        return Err(CompileError::Source(messages::parse("error: the source holds a NUL byte", &request.pieces)));
    }
    let plain =
        |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    match request.entries.iter().find(|entry| !plain(&entry.name)) {
        Some(entry) => {
            Err(CompileError::Interface(vec![format!("`{}` is not a name in HLSL", entry.name.escape_debug())]))
        }
        None => Ok(()),
    }
}

/// The inner error is a mismatch with the launch.
fn module(
    source: &str,
    entry: &EntryRequest,
    request: &CompileRequest,
) -> Result<Result<Vec<u32>, String>, CompileError> {
    match dxc::compile(source, &entry.name)? {
        dxc::Outcome::Module(module) if module.is_empty() => Err(error::internal("dxc", "it gave an empty module")),
        dxc::Outcome::Module(module) => Ok(Ok(module)),
        dxc::Outcome::Rejected(words) if words.contains("missing entry point definition") => {
            let name = &entry.name;
            Ok(Err(format!(
                "the launch calls `{name}`, and the code defines no function of that name: keep the kernel's name"
            )))
        }
        dxc::Outcome::Rejected(words) => Err(CompileError::Source(messages::parse(&words, &request.pieces))),
    }
}

/// Keeps the buffers and scalars that the launch binds: another entry of the source may declare more.
fn bound(mut found: Reflection, request: &EntryRequest) -> Reflection {
    let is_array = |kind| matches!(kind, EntryArgumentKind::Array { .. });
    let passed = |name: &str, array| request.arguments.iter().any(|it| it.name == name && is_array(it.kind) == array);
    found.entry.buffers.retain(|buffer| passed(&buffer.name, true));
    found.entry.scalars.retain(|scalar| passed(&scalar.name, false));
    found
}

fn compiler() -> Result<String, CompileError> {
    let validator = validate::version().unwrap_or("of unknown version");
    Ok(format!("DXC {} -T {} {}; spirv-val {validator}", dxc::version()?, dxc::PROFILE, dxc::FLAGS.join(" ")))
}
