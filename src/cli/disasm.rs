//! `peak disasm`: the compiled code of a kernel, with the source lines that it was made from where that is asked for.

use super::kernel::{KernelArguments, Shown};
use super::output::App;
use crate::error::{Class, Error, Result};
use crate::inspect::listing;
use peak_backend_api::CodeLine;
use serde_json::json;
use std::path::PathBuf;

/// Shows the compiled code of a kernel: PTX or machine code of CUDA, SPIR-V of HLSL.
///
/// It is compiled for a device and a configuration; no device is opened, and nothing runs.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak disasm matmul-f32 --backend cuda --device nvidia-h200 --source   the PTX of a kernel, between its lines\n  \
    peak disasm thread-tiling -o kernel.ptx                               that of a checkpoint, to a file")]
pub struct Arguments {
    #[command(flatten)]
    kernel: KernelArguments,
    /// Puts each source line before the code that was made from it.
    #[arg(long, visible_alias = "annotate")]
    source: bool,
    /// Where the text is written; else it is printed.
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let shown = self.kernel.open(app)?;
        app.say(&shown.words());
        let sources = self.source.then_some(shown.compiled.request.pieces.as_slice());
        let text = listing(&shown.code, shown.entry.as_deref(), sources);
        match &self.output {
            Some(path) => std::fs::write(path, &text).map_err(|error| {
                let message = format!("{} cannot be written: {error}", path.display());
                Error::plain(Class::Environment, "peak::cannot-write", message, "choose another file: -o FILE")
            })?,
            None => app.print(&text),
        }
        let mut fields = shown.fields();
        fields["file"] = json!(self.output);
        fields["lines"] = shown.lines().map(line_fields).collect();
        app.event("disassembly", fields);
        Ok(())
    }
}

impl Shown {
    /// The lines that are meant.
    fn lines(&self) -> impl Iterator<Item = &CodeLine> {
        let wanted = self.entry.as_deref();
        self.code.lines.iter().filter(move |line| wanted.is_none() || line.function.as_deref() == wanted)
    }
}

fn line_fields(line: &CodeLine) -> serde_json::Value {
    json!({
        "text": line.text,
        "function": line.function,
        "piece": line.at.as_ref().map(|at| &at.piece),
        "line": line.at.as_ref().map(|at| at.line),
        "opcode": line.instruction.as_ref().map(|found| &found.opcode),
        "kind": line.instruction.as_ref().map(|found| found.kind),
        "bytes": line.instruction.as_ref().and_then(|found| found.bytes),
    })
}
