//! `peak run`: carries out a workflow, and ends with a table of its steps.

use super::check::load_clean;
use super::output::App;
use super::providers::{ProviderArguments, hear, stop_on_interrupt};
use super::{counted, quoted};
use crate::error::{Class, Error, Result};
use crate::report::{Progress as Bar, StepRow, steps, units};
use crate::runner::load;
use crate::session::{MachineOptions, PROJECT_RECORDINGS, ProviderChoice, Session, SessionOptions, failure_class};
use crate::workflow::{
    Answer, BASELINE, Finished, Observer, Options, Outcome, Progress, Question, Row, SAME_SHARE, inputs_words,
};
use peak_backend_api::DeviceKind;
use serde_json::json;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Carries out a workflow on this machine's device.
///
/// Each step is applied, validated and tuned; what was measured and answered before is reused. Ends with a table of the
/// steps and the checkpoint that is best.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak run matmul-f32                                the workflow for this machine's device\n  \
    peak run matmul-f32 --backend cuda --tune 24       another language, fewer configurations\n  \
    peak run mine --use mine.peak --provider mailbox   your workflow; answer in a folder\n  \
    peak run matmul-f32 --resume                       go on with the newest run, after an interrupt or a kill")]
pub struct Arguments {
    /// The workflow's name: `matmul-f32`.
    workflow: String,
    /// A `.peak` file whose declarations are used too; may be given again.
    #[arg(long = "use", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The device: a piece of its name, its index in `peak doctor`, or a device of the library.
    #[arg(long)]
    device: Option<String>,
    /// The backend: cuda or hlsl.
    #[arg(long)]
    backend: Option<String>,
    /// Configurations to try after each step, in place of the workflow's number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    tune: Option<u32>,
    /// Seed of tuning and of validation data.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Measure and validate anew what the store already knows.
    #[arg(long)]
    fresh: bool,
    /// Tell the model what the kernel executes, line by line, where the device counts it (the simulator does). Recorded
    /// answers are found all the same.
    #[arg(long)]
    counters: bool,
    /// Go on with the newest run of this workflow on this device, or with run N: what was answered is not asked again.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, conflicts_with_all = ["tune", "seed", "fresh", "counters", "decisions"])]
    resume: Option<Option<i64>>,
    /// What decides where times do: `measured`, or `recorded` as an earlier run with `--record` decided.
    #[arg(long, value_name = "WHENCE", default_value = "measured", value_parser = ["measured", "recorded"])]
    decisions: String,
    #[command(flatten)]
    provider: ProviderArguments,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let loaded = load_clean(app, &self.files)?;
        let (stop, bar) = (stop_on_interrupt(), Arc::new(Bar::new(app.quiet || app.json)));
        let heard_on = Arc::clone(&bar);
        self.provider.choice(None).check(&app.project)?;
        let options = SessionOptions {
            workflow: &self.workflow,
            project: &app.project,
            machine: MachineOptions {
                device: self.device.clone(),
                languages: Vec::new(),
                backend: self.backend.clone(),
                artifacts: Some(app.project.join(crate::store::FOLDER).join("artifacts")),
                quiet: app.quiet,
                worker: None,
            },
            provider: ProviderChoice {
                stop: Arc::clone(&stop),
                listener: Arc::new(move |heard| hear(&heard_on, heard)),
                ..self.provider.choice(Some(self.record_command()))
            },
        };
        let mut session = Session::open(loaded, &options)?;
        introduce(app, &session);
        let mut watcher = Watcher { app, bar, doing: String::new(), cancelled: Arc::clone(&stop) };
        let run_options = self.run_options(app, &session)?;
        let outcome = session.run(run_options, &mut watcher);
        watcher.bar.finish();
        let outcome = outcome?;
        if outcome.failure.is_none()
            && let Some(file) = session.record_decisions(outcome.finished.run)?
        {
            app.say(&format!("decisions recorded in {file}"));
        }
        conclude(app, &outcome)
    }
}

impl Arguments {
    /// What is asked for beyond the workflow: here, or when the run was started that is to go on.
    fn run_options(&self, app: &App, session: &Session) -> Result<Options> {
        if let Some(wanted) = self.resume {
            match session.resumable(wanted)? {
                Some(run) => {
                    app.say(&format!("going on with run {}, started {}", run.id, run.started_at));
                    return Ok(Options::of_run(&run));
                }
                None => app.say("there is no run to go on with yet: a new one starts"),
            }
        }
        let decisions = (self.decisions == "recorded").then(|| session.recorded_decisions()).transpose()?;
        let Arguments { tune, seed, fresh, counters, .. } = *self;
        Ok(Options { tune_budget: tune, seed, fresh, counters, decisions, resume: None })
    }

    /// The command line that records what this one lacks.
    fn record_command(&self) -> String {
        let option = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!(" --{name} {}", quoted(value))).unwrap_or_default()
        };
        let files = self.files.iter().map(|file| format!(" --use {}", quoted(&file.display().to_string())));
        let files: String = files.collect();
        format!(
            "peak run {}{files}{}{} --provider mailbox --record {PROJECT_RECORDINGS}",
            self.workflow,
            option("device", &self.device),
            option("backend", &self.backend)
        )
    }
}

fn introduce(app: &App, session: &Session) {
    let workflow = session.workflow();
    let title = workflow.title.as_deref().map(|title| format!(" ({title})")).unwrap_or_default();
    let info = session.machine().info();
    app.say(&format!(
        "{}{title}: kernel {} in {} on {} ({}, {})",
        workflow.name, workflow.kernel, info.backend, info.name, info.runtime, info.driver
    ));
    if !is_here(&app.project) {
        app.say(&format!("store: {}", app.project.join(crate::store::FOLDER).display()));
    }
    if let Some(warning) = load::warning().filter(|_| info.kind == DeviceKind::Software) {
        app.say(&warning);
    }
}

fn is_here(project: &Path) -> bool {
    matches!((project.canonicalize(), Path::new(".").canonicalize()), (Ok(project), Ok(here)) if project == here)
}

/// Shows progress to people and rows to programs.
struct Watcher<'a> {
    app: &'a App,
    bar: Arc<Bar>,
    doing: String,
    cancelled: Arc<AtomicBool>,
}

impl Observer for Watcher<'_> {
    fn progress(&mut self, progress: &Progress) {
        let doing = format!("{}: {}", progress.step, progress.doing);
        let total = progress.total.and_then(|total| u64::try_from(total).ok());
        if doing != self.doing {
            self.bar.stage(&doing, total);
            self.doing = doing;
        }
        self.bar.done(u64::try_from(progress.done).unwrap_or(0));
        if let Some(best) = progress.best_ns {
            self.bar.best(&format!("best {}", units::time(best)));
        }
    }

    fn rows(&mut self, rows: &[Row]) {
        for row in rows {
            self.app.event("step", serde_json::to_value(row).unwrap_or_default());
            self.bar.note(&line(row));
        }
    }

    fn note(&mut self, note: &str) {
        self.bar.note(note);
    }

    fn ask(&mut self, question: &Question<'_>) -> Answer {
        let person = !self.app.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        self.bar.note(&format!("{} failed: {}", question.step, question.failure));
        if !person {
            self.bar.note(&format!("nobody is there to ask: the run ends at `{}`", question.standing));
            return Answer::Stop;
        }
        self.bar.finish();
        asked(&mut std::io::stdin().lock(), question.step)
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// What a person answers: the first letter of a word counts, and no more input is `stop`.
fn asked(input: &mut dyn BufRead, step: &str) -> Answer {
    loop {
        eprint!("{step}: retry, skip, or stop? ");
        let mut line = String::new();
        if !matches!(input.read_line(&mut line), Ok(1..)) {
            return Answer::Stop;
        }
        match line.trim().to_lowercase().as_str() {
            "r" | "retry" => return Answer::Retry,
            "s" | "skip" => return Answer::Skip,
            "q" | "stop" => return Answer::Stop,
            other => eprintln!("`{other}` is none of them: r (retry), s (skip) or q (stop)"),
        }
    }
}

/// A row in one line, as it comes.
fn line(row: &Row) -> String {
    let time = match (row.time_ns_median, row.speedup_total) {
        (Some(ns), Some(total)) => format!(": {}, {} over baseline", units::time(ns), units::times(total)),
        _ => String::new(),
    };
    let reason = row.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{} at {}: {}{time}{reason}", row.name, inputs_words(&row.inputs), row.verdict.name())
}

fn conclude(app: &App, outcome: &Outcome) -> Result<()> {
    app.print(&table(outcome));
    if let Some(noise) = noise(&outcome.rows) {
        app.say(&noise);
    }
    if let (Some(failure), false) = (&outcome.failure, outcome.interrupted) {
        app.event("stopped", json!({ "failure_class": failure.class, "message": failure.message }));
    }
    app.event("finished", serde_json::to_value(&outcome.finished).unwrap_or_default());
    app.print(&summary(&outcome.finished));
    for (step, error) in &outcome.diagnostics {
        app.say(&format!("\n{step} was not applied:"));
        app.report(error);
    }
    match &outcome.failure {
        None => Ok(()),
        Some(_) if outcome.interrupted => {
            app.say("\nThe run was stopped on request; the same command with `--resume` goes on with it.");
            Err(Error::told(Class::Interrupted))
        }
        Some(failure) => {
            app.say(&format!("\nThe run ended early: {}: {}", failure.class, failure.message));
            Err(Error::told(if outcome.diagnostics.is_empty() { Class::Validation } else { failure_class(failure) }))
        }
    }
}

fn table(outcome: &Outcome) -> String {
    let best = &outcome.finished.best.checkpoint;
    let rows: Vec<StepRow> = outcome.rows.iter().map(|row| step_row(row, best)).collect();
    steps(&rows)
}

/// The step's name, and the checkpoint's where a workflow gave it another: `thread-tiling (register-tiles)`.
fn step_name(row: &Row) -> String {
    let checkpoint = row.checkpoint.as_deref().and_then(|name| name.split_once('/')).map(|(_, name)| name);
    match checkpoint.filter(|checkpoint| *checkpoint != row.name) {
        Some(checkpoint) => format!("{} ({checkpoint})", row.name),
        None => row.name.clone(),
    }
}

/// Whether the step was judged slower, and is at this size.
fn is_slower(row: &Row) -> bool {
    row.reason.is_some() && row.speedup_step.is_some_and(|speedup| speedup < 1.0 - SAME_SHARE)
}

/// One line on the rows whose times vary, if there are any.
fn noise(rows: &[Row]) -> Option<String> {
    let noisy: Vec<(&Row, f64)> = rows.iter().filter_map(|row| Some((row, row.noise()?))).collect();
    let most = noisy.iter().map(|(_, spread)| *spread).reduce(f64::max)?;
    let mut names: Vec<&str> = noisy.iter().map(|(row, _)| row.name.as_str()).collect();
    names.dedup();
    Some(format!(
        "\ntimes of {} vary by {}: something else uses this device; they are not kept, `--fresh` measures everything anew",
        names.join(", "),
        units::percent(most)
    ))
}

fn step_row(row: &Row, best: &str) -> StepRow {
    StepRow {
        name: step_name(row),
        inputs: inputs_words(&row.inputs),
        verdict: row.verdict.name().to_owned(),
        reason: row
            .failure_class
            .map(|class| class.name().to_owned())
            .or_else(|| is_slower(row).then(|| "slower".to_owned())),
        time_ns: row.time_ns_median.zip(row.time_ns_p20).zip(row.time_ns_p80).map(|((a, b), c)| (a, b, c)),
        flops_per_second: row.flops,
        share_of_peak: row.peak_share,
        speedup_total: row.speedup_total,
        speedup_step: row.speedup_step,
        verified_by: row.verified_by.clone(),
        best: row.checkpoint.as_deref() == Some(best),
    }
}

fn summary(finished: &Finished) -> String {
    let best = &finished.best;
    let speed = match (best.time_ns_median, best.speedup_total) {
        (Some(ns), Some(total)) => format!(
            ": {} at {}, {} over the baseline",
            units::time(ns),
            inputs_words(&best.inputs),
            units::times(total)
        ),
        _ => String::new(),
    };
    let reused = finished.reused;
    let took = finished.usage.map(|usage| format!("\nanswers took: {usage}")).unwrap_or_default();
    let earlier = match reused.steps {
        0 => String::new(),
        steps => format!("{} of before, ", counted(steps, "step")),
    };
    let baseline = format!("{}/{BASELINE}", finished.run);
    let mut next = vec![("peak log".to_owned(), "the checkpoints of this run")];
    if best.checkpoint != baseline {
        let best = quoted(&best.checkpoint);
        next.push((format!("peak diff {baseline} {best}"), "what the words changed"));
        next.push((format!("peak restore {best} --to out"), "write the kernel's files"));
    }
    format!(
        "\nbest: {}{speed}\nreused (unless `--fresh`): {earlier}{}, {}, {}; new: {} measured, {} validated, {} asked{took}\n\n{}",
        best.checkpoint,
        counted(reused.measurements, "measurement"),
        counted(reused.validations, "validation"),
        counted(reused.completions, "recorded answer"),
        reused.measured,
        reused.validated,
        reused.asked,
        next_lines(&next),
    )
}

/// Commands to go on with, what they do in one column.
fn next_lines(next: &[(String, &str)]) -> String {
    let width = next.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let lines = next.iter().enumerate().map(|(index, (command, does))| {
        let lead = if index == 0 { "next:" } else { "     " };
        format!("{lead} {command:<width$}   {does}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_until_the_answer_is_one() {
        let say = |words: &str| asked(&mut words.as_bytes(), "tiling");
        assert_eq!(say("what\nskip\n"), Answer::Skip);
        assert_eq!((say("R\n"), say("q\n"), say("")), (Answer::Retry, Answer::Stop, Answer::Stop));
    }

    #[test]
    fn commands_are_explained_in_one_column() {
        let next = [("peak log".to_owned(), "the checkpoints"), ("peak diff 1/a 1/b".to_owned(), "what changed")];
        assert_eq!(
            next_lines(&next),
            "next: peak log            the checkpoints\n      peak diff 1/a 1/b   what changed"
        );
    }
}
