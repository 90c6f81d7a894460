//! Artifacts as text: each SPIR-V module through `spirv-dis`, or through `rspirv` where that is not there. Counts nothing.

mod kinds;
mod text;

use crate::{container, error, validate};
use peak_backend_api::{Artifact, CodeLanguage, CompileError, Disassembly};
use rspirv::binary::Disassemble;

/// The code of an artifact of this backend, one module after the other.
///
/// # Errors
/// Bytes that are no modules, or a tool that fails.
pub(crate) fn disassemble(artifact: &Artifact) -> Result<Disassembly, CompileError> {
    let modules = container::split(&artifact.bytes)
        .ok_or_else(|| error::internal("the disassembler", "these bytes are no SPIR-V of this backend"))?;
    let mut lines = Vec::new();
    let mut tool = String::new();
    for (index, module) in modules.iter().enumerate() {
        let (text, by) = match validate::text(module)? {
            Some(text) => text,
            None => (plain(module)?, "rspirv".to_owned()),
        };
        tool = by;
        let entry = artifact.entries.get(index).map_or("", |entry| entry.name.as_str());
        lines.extend(text::lines(&text, entry));
    }
    Ok(Disassembly { language: CodeLanguage::Spirv, tool, lines })
}

/// With numbers in place of names.
fn plain(module: &[u32]) -> Result<String, CompileError> {
    let module = rspirv::dr::load_words(module).map_err(|failure| error::internal("rspirv", &failure.to_string()))?;
    Ok(module.disassemble())
}
