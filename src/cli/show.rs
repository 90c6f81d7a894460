//! `peak show`: one checkpoint, with its regions, tuning parameters and requirements.

use super::output::App;
use crate::context::KernelContext;
use crate::error::{Class, Error, Result};
use crate::report::units;
use crate::store::{Attempt, Checkpoint, CheckpointResult, Store};
use peak_grammar::ir::Region;
use serde_json::json;

/// Shows a checkpoint: results, tuning parameters, requirements and the text of its regions.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak show                            the current checkpoint\n  \
    peak show thread-tiling --attempts   what the model answered on the way to it\n  \
    peak show 3/tb-tiling --attempts     likewise of a step of run 3 that failed")]
pub struct Arguments {
    /// NAME, RUN/NAME, a number, or six or more digits of a hash; else the current checkpoint.
    name: Option<String>,
    /// Shows what the model answered on the way to it, for every transformation from the baseline on, failures included.
    #[arg(long)]
    attempts: bool,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let store = app.store()?;
        if self.attempts {
            return show_attempts(app, &store, self.name.as_deref());
        }
        let checkpoint = find(&store, self.name.as_deref())?;
        let context = store.context(&checkpoint)?;
        app.print(&text(&checkpoint, &context));
        let is_current = store.current()? == Some(checkpoint.id);
        let mut fields = super::log::fields(&store, &checkpoint, is_current)?;
        fields["tuning"] = json!(context.tuning);
        fields["requirements"] = context
            .requirements
            .iter()
            .map(|requirement| json!({"name": requirement.name, "condition": requirement.condition.to_string()}))
            .collect();
        fields["regions"] =
            Region::ALL.iter().map(|region| (region.slug().to_owned(), json!(context.regions.get(*region)))).collect();
        app.event("checkpoint", fields);
        Ok(())
    }
}

/// The checkpoint of a name, or the current one.
pub(super) fn find(store: &Store, name: Option<&str>) -> Result<Checkpoint> {
    if let Some(name) = name {
        return Ok(store.resolve(name)?);
    }
    let current = store.current()?.map(|id| store.checkpoint(id)).transpose()?.flatten();
    current.ok_or_else(|| {
        let help = "name one (`peak log` lists them), or make one current with `peak restore NAME`";
        Error::plain(Class::Input, "peak::unknown-checkpoint", "there is no current checkpoint", help)
    })
}

fn text(checkpoint: &Checkpoint, context: &KernelContext) -> String {
    let run = &checkpoint.run.of;
    let mut text = format!(
        "{}  {}\nkernel {} for {} on {} ({})\n",
        checkpoint.full_name(),
        checkpoint.short_hash(),
        context.kernel.name,
        run.backend,
        run.device,
        run.runtime
    );
    let history = context.applied.join(", then ");
    text.push_str(&format!(
        "applied: {}\n",
        if history.is_empty() { "nothing, this is the baseline" } else { &history }
    ));
    let verified = checkpoint.verified_by.join(", ");
    text.push_str(&format!("{}, verified by: {}\n", checkpoint.verdict, or_nothing(&verified)));
    for result in &checkpoint.results {
        text.push_str(&format!("{}\n", result_line(result)));
    }
    text.push_str("\ntuning parameters\n");
    for parameter in &context.tuning {
        let winning = checkpoint.results.first().and_then(|result| result.configuration.get(&parameter.name));
        let winning = winning.map(|value| format!(" = {value}")).unwrap_or_default();
        text.push_str(&format!("  {}{winning}, of {}\n", parameter.name, parameter.values));
    }
    text.push_str("\nrequirements\n");
    if context.requirements.is_empty() {
        text.push_str("  nothing\n");
    }
    for requirement in &context.requirements {
        text.push_str(&format!("  {}: {}\n", requirement.name, requirement.condition));
    }
    for region in Region::ALL {
        let body = context.regions.get(region);
        text.push_str(&format!("\n--- {region}\n{}\n", or_nothing(body.trim_end())));
    }
    text
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

fn result_line(result: &CheckpointResult) -> String {
    let inputs: Vec<String> = result.inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let inputs = inputs.join(", ");
    let Some(median) = result.time_ns_median else { return format!("{inputs}: not timed") };
    let speedup = result.speedup_total.map(|x| format!(", {} of the baseline's speed", units::times(x)));
    format!("{inputs}: {}{}", units::time(median), speedup.unwrap_or_default())
}

/// The transformations that led to a checkpoint, each with its run, from the first to the last.
fn chain(store: &Store, checkpoint: &Checkpoint) -> Result<Vec<(i64, String)>> {
    let mut steps = Vec::new();
    let mut at = Some(checkpoint.clone());
    while let Some(checkpoint) = at {
        let step = checkpoint.transformation.map(|transformation| (checkpoint.run.id, transformation));
        // Applied twice, its attempts are listed once: they are kept by its name.
        steps.extend(step.filter(|step| !steps.contains(step)));
        at = checkpoint.parent.map(|parent| store.checkpoint(parent)).transpose()?.flatten();
    }
    steps.reverse();
    Ok(steps)
}

/// Attempts on the way to a checkpoint; those at a transformation where it made none: the step failed.
fn show_attempts(app: &App, store: &Store, name: Option<&str>) -> Result<()> {
    let (steps, full_name) = match find(store, name) {
        Ok(checkpoint) => (chain(store, &checkpoint)?, checkpoint.full_name()),
        Err(error) => match name.map(|name| store.attempted(name)).transpose()?.flatten() {
            Some((run, transformation)) => (vec![(run, transformation.clone())], format!("{run}/{transformation}")),
            None => return Err(error),
        },
    };
    let mut attempts = Vec::new();
    for (run, transformation) in steps {
        attempts.extend(store.attempts(run, &transformation)?);
    }
    if attempts.is_empty() {
        app.say(&format!("no model was asked on the way to {full_name}"));
    }
    for attempt in &attempts {
        let completion = attempt.completion.as_deref().map(|hash| store.text(hash)).transpose()?.flatten();
        app.print(&attempt_text(attempt, completion.as_deref()));
        app.event("attempt", attempt_fields(attempt, completion.as_deref()));
    }
    Ok(())
}

fn attempt_text(attempt: &Attempt, completion: Option<&str>) -> String {
    let outcome = match &attempt.class {
        None => "accepted".to_owned(),
        Some(class) => {
            let code = attempt.code.as_ref().map(|code| format!(", {code}")).unwrap_or_default();
            format!("failed ({class}{code}): {}", attempt.message)
        }
    };
    let facts: String = attempt.facts.iter().map(|fact| format!("known of it: {fact}\n")).collect();
    format!(
        "--- {}, pass {}, {}, attempt {} by {}: {outcome}\n{facts}{}\n",
        attempt.transformation,
        attempt.pass,
        attempt.region,
        attempt.number,
        attempt.provider,
        or_nothing(completion.unwrap_or_default().trim_end())
    )
}

fn attempt_fields(attempt: &Attempt, completion: Option<&str>) -> serde_json::Value {
    json!({
        "transformation": attempt.transformation,
        "pass": attempt.pass,
        "region": attempt.region,
        "number": attempt.number,
        "failure_class": attempt.class,
        "code": attempt.code,
        "message": attempt.message,
        "facts": attempt.facts,
        "provider": attempt.provider,
        "usage": attempt.usage,
        "completion": completion,
        "created_at": attempt.created_at,
    })
}
