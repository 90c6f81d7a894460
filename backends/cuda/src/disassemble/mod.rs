//! Artifacts as text: PTX is text already, machine code goes through `nvdisasm`. Counts nothing.

mod nvdisasm;
mod ptx;
mod sass;
mod sass_kinds;

use peak_backend_api::{Artifact, ArtifactKind, CodeLanguage, CompileError, Disassembly};

/// The code of an artifact of this backend.
///
/// # Errors
/// Machine code without `nvdisasm`, or one that it refuses.
pub(crate) fn disassemble(artifact: &Artifact) -> Result<Disassembly, CompileError> {
    match artifact.kind {
        ArtifactKind::Ptx => {
            let text = String::from_utf8_lossy(&artifact.bytes);
            let compiler = artifact.compiler.split(" --").next().unwrap_or_default().to_owned();
            Ok(Disassembly { language: CodeLanguage::Ptx, tool: compiler, lines: ptx::lines(&text) })
        }
        ArtifactKind::Cubin => {
            let (text, tool) = nvdisasm::text(&artifact.bytes)?;
            Ok(Disassembly { language: CodeLanguage::Sass, tool, lines: sass::lines(&text) })
        }
        other => Err(crate::error::internal("the disassembler", &format!("{other:?} is no code of CUDA"))),
    }
}

/// The piece of source, or the header, that a path in debug information names: its last component.
fn piece(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Whether a path is a header's: then a place where it was inlined says more.
fn is_header(path: &str) -> bool {
    path.contains("/include/")
}
