//! `peak log`: runs and their checkpoints, newest run first.

use super::output::App;
use crate::error::Result;
use crate::report::units;
use crate::store::{Attempt, Checkpoint, Run, Store};
use serde_json::json;

/// Lists runs and their checkpoints, newest run first.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak log        the last ten runs\n  \
    peak log -n 1   the last one")]
pub struct Arguments {
    /// Runs at most.
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    runs: usize,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let store = app.store()?;
        let current = store.current()?;
        let checkpoints = store.checkpoints()?;
        let mut shows_current = false;
        for run in store.runs()?.iter().rev().take(self.runs) {
            app.print(&run_line(run));
            for checkpoint in checkpoints.iter().filter(|checkpoint| checkpoint.run.id == run.id) {
                let is_current = current == Some(checkpoint.id);
                app.print(&checkpoint_line(checkpoint, is_current));
                shows_current |= is_current;
                app.event("checkpoint", fields(&store, checkpoint, is_current)?);
            }
            for attempt in store.failed_steps(run.id)? {
                app.print(&failed_line(&attempt));
            }
        }
        if shows_current {
            app.print(
                "* is the current checkpoint: what `peak show` shows without a name, and `peak restore NAME` changes",
            );
        }
        Ok(())
    }
}

fn run_line(run: &Run) -> String {
    let of = &run.of;
    format!(
        "run {}  {}  {} on {} ({})  {}  {}",
        run.id,
        of.workflow,
        of.backend,
        of.device,
        of.runtime,
        run.started_at,
        run.status.word()
    )
}

fn checkpoint_line(checkpoint: &Checkpoint, is_current: bool) -> String {
    let first = checkpoint.results.first();
    let time = first.and_then(|result| result.time_ns_median).map_or_else(|| "not timed".to_owned(), units::time);
    let speedup = first.and_then(|result| result.speedup_total).map(units::times).unwrap_or_default();
    let marker = if is_current { '*' } else { ' ' };
    let line = format!(
        "{marker} {:<24} id {:<4} {}  {:<9} {time:>10} {speedup:>8}",
        checkpoint.full_name(),
        checkpoint.id,
        checkpoint.short_hash(),
        checkpoint.verdict
    );
    line.trim_end().to_owned()
}

/// A step that has no checkpoint.
fn failed_line(attempt: &Attempt) -> String {
    let class = attempt.class.as_deref().unwrap_or_default();
    format!("  {} failed ({class}): {}", attempt.transformation, attempt.message)
}

/// A checkpoint without its text, for programs.
pub(super) fn fields(store: &Store, checkpoint: &Checkpoint, is_current: bool) -> Result<serde_json::Value> {
    let parent = checkpoint.parent.map(|id| store.checkpoint(id)).transpose()?.flatten();
    Ok(json!({
        "checkpoint": checkpoint.full_name(),
        "id": checkpoint.id,
        "context": checkpoint.context,
        "parent": parent.map(|parent| parent.full_name()),
        "current": is_current,
        "workflow": checkpoint.run.of.workflow,
        "backend": checkpoint.run.of.backend,
        "device": checkpoint.run.of.device,
        "step": checkpoint.step,
        "transformation": checkpoint.transformation,
        "verdict": checkpoint.verdict,
        "verified_by": checkpoint.verified_by,
        "results": checkpoint.results,
        "created_at": checkpoint.created_at,
    }))
}
