//! `peak recordings`: what is recorded, what of it still answers, and what can go. Asks nobody and runs nothing.

use super::check::load_clean;
use super::counted;
use super::output::App;
use crate::error::{Class, Error, Result};
use crate::provider::RecordingHead;
use crate::report::columns;
use crate::session::{ProviderChoice, RecordingFile, RecordingState, Survey};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Lists, checks and prunes recorded answers of models.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak recordings list                            what is recorded, by whom\n  \
    peak recordings check --use mine.peak           which prompts are answered, which recordings answer nothing, and why\n  \
    peak recordings prune --use mine.peak --dry-run what would be removed")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Lists every recording: the project's own, then the standard library's.
    List(Where),
    /// Walks every workflow for which there are recordings, on every device of the library, without a device at hand:
    /// says which prompts nothing answers, and which recordings answer nothing, with the word why.
    Check(Where),
    /// Removes recordings that answer nothing any more, of folders only: those whose place is asked for by other words or
    /// about other code.
    Prune {
        #[command(flatten)]
        place: Where,
        /// Only says what would be removed.
        #[arg(long)]
        dry_run: bool,
        /// Removes those too that no workflow of the library and of `--use` comes to.
        #[arg(long)]
        unreached: bool,
    },
}

/// Which recordings, and by which declarations.
#[derive(clap::Args)]
struct Where {
    /// A `.peak` file whose declarations are used too; may be given again.
    #[arg(long = "use", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A folder of recordings beside the project's own and the library's.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Where {
    fn survey(&self, app: &App, walks: bool) -> Result<Survey> {
        let loaded = load_clean(app, &self.files)?;
        let choice = ProviderChoice { record: self.folder.clone(), ..ProviderChoice::default() };
        match walks {
            true => Survey::of(&loaded, &choice, &app.project),
            false => Survey::listed(&loaded, &choice, &app.project),
        }
    }
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        match self.action {
            Action::List(place) => {
                list(app, &place.survey(app, false)?);
                Ok(())
            }
            Action::Check(place) => check(app, &place.survey(app, true)?),
            Action::Prune { place, dry_run, unreached } => prune(app, &place.survey(app, true)?, dry_run, unreached),
        }
    }
}

fn list(app: &App, survey: &Survey) {
    let mut rows = Vec::new();
    for file in &survey.files {
        app.event("recording", fields(survey, file, false));
        match &file.head {
            Ok(head) => rows.push(vec![
                format!("{} {}", head.kernel, head.backend),
                if head.applied.is_empty() { "start".to_owned() } else { head.applied.join("+") },
                format!("{}.{}", head.transformation, head.pass),
                subject(head),
                head.model.clone(),
                head.recorded.get(..10).unwrap_or(&head.recorded).to_owned(),
                survey.sources[file.source].clone(),
            ]),
            Err(problem) => app.say(&format!("{}/{}: {problem}", survey.sources[file.source], file.path)),
        }
    }
    if !rows.is_empty() {
        app.print(&columns(&["kernel", "after", "pass", "region", "model", "recorded", "from"], &rows));
    }
    app.say(&counted(survey.files.len(), "recording"));
}

fn subject(head: &RecordingHead) -> String {
    let repair = if head.attempt > 0 { format!(", repair {}", head.attempt) } else { String::new() };
    format!("{}{repair}", head.region)
}

fn check(app: &App, survey: &Survey) -> Result<()> {
    for walked in &survey.walks {
        let answered = walked.asked.iter().filter(|asked| asked.answer.is_some()).count();
        app.print(&format!(
            "{} in {} on {}: {} of {} answered",
            walked.workflow,
            walked.backend,
            walked.device,
            answered,
            counted(walked.asked.len(), "prompt")
        ));
        for asked in &walked.asked {
            let (id, problem) = (&asked.identity, asked.problem.as_deref());
            if asked.answer.is_none() {
                app.print(&format!("  no answer: {} after {}{}", id.stem(), after(&id.applied), said(problem)));
            }
            app.event(
                "prompt",
                json!({
                    "workflow": walked.workflow, "device": walked.device, "backend": walked.backend,
                    "kernel": id.kernel, "applied": id.applied, "transformation": id.transformation, "pass": id.pass,
                    "region": id.subject(), "attempt": id.repair, "key": asked.key,
                    "prompt_sha256": asked.prompt_sha256, "prompt_bytes": asked.prompt.len(),
                    "answered_by": asked.answer.as_ref().map(|(source, path)| place(survey, *source, path)),
                    "same_prompt": asked.same_prompt, "problem": problem,
                }),
            );
        }
        walked.failures.iter().for_each(|failure| app.print(&format!("  {failure}")));
    }
    survey.files.iter().for_each(|file| app.event("recording", fields(survey, file, true)));
    tell_states(app, survey);
    let unanswered = survey.unanswered().count();
    let unreadable = survey.files.iter().filter(|file| file.head.is_err()).count();
    match unanswered + unreadable {
        0 => Ok(()),
        _ => Err(Error::told(Class::Provider)),
    }
}

/// The recordings that answer nothing, and how many do.
fn tell_states(app: &App, survey: &Survey) {
    let count = |test: fn(&RecordingState) -> bool| survey.files.iter().filter(|file| test(&file.state)).count();
    let answers = count(|state| matches!(state, RecordingState::Answers { .. }));
    let other = count(|state| matches!(state, RecordingState::Answers { same_prompt: false }));
    let idle: Vec<&RecordingFile> =
        survey.files.iter().filter(|file| !matches!(file.state, RecordingState::Answers { .. })).collect();
    if !idle.is_empty() {
        app.print("\nrecordings that answer nothing here:");
        idle.iter().for_each(|file| app.print(&format!("  {}: {}", place(survey, file.source, &file.path), why(file))));
    }
    app.print(&format!(
        "\n{answers} of {} answer{}",
        counted(survey.files.len(), "recording"),
        match other {
            0 => String::new(),
            other => format!(
                "; {other} of them a prompt that reads otherwise than when it was recorded: its template, what is known of \
                 the device, or its facts changed"
            ),
        }
    ));
}

fn why(file: &RecordingFile) -> String {
    match (&file.state, &file.head) {
        (_, Err(problem)) => format!("it cannot be read: {problem}"),
        (RecordingState::Repairs, _) => "it repairs what only a device finds wrong".to_owned(),
        (RecordingState::Stale(why) | RecordingState::Unreached(why), _) => why.clone(),
        _ => String::new(),
    }
}

fn prune(app: &App, survey: &Survey, dry_run: bool, unreached: bool) -> Result<()> {
    let going = survey.prunable(unreached);
    for (file, path) in &going {
        if !dry_run {
            std::fs::remove_file(path).map_err(|error| {
                let message = format!("cannot remove {}: {error}", path.display());
                let help = "check that the folder can be written, then prune again: the others are as they were";
                Error::plain(Class::Environment, "peak::recording-not-removed", message, help)
            })?;
        }
        let verb = if dry_run { "would remove" } else { "removed" };
        app.print(&format!("{verb} {}: {}", path.display(), why(file)));
        app.event("pruned", json!({ "file": path, "why": why(file), "removed": !dry_run }));
    }
    let kept = survey.prunable(true).len() - going.len();
    app.say(&format!("{} {}", counted(going.len(), "recording"), if dry_run { "would go" } else { "removed" }));
    if kept > 0 {
        app.say(&format!(
            "kept {} that no workflow comes to: name its files with `--use`, or remove them too with `--unreached`",
            counted(kept, "recording")
        ));
    }
    Ok(())
}

fn place(survey: &Survey, source: usize, path: &str) -> String {
    format!("{}/{path}", survey.sources.get(source).map_or("", String::as_str))
}

fn after(applied: &[String]) -> String {
    if applied.is_empty() { "nothing".to_owned() } else { applied.join(", ") }
}

fn said(problem: Option<&str>) -> String {
    problem.map(|problem| format!(": {problem}")).unwrap_or_default()
}

/// A recording for programs; with what it is good for where that was looked at.
fn fields(survey: &Survey, file: &RecordingFile, judged: bool) -> Value {
    let mut fields = match &file.head {
        Ok(head) => serde_json::to_value(head).unwrap_or_default(),
        Err(problem) => json!({ "problem": problem.to_string() }),
    };
    fields["file"] = json!(place(survey, file.source, &file.path));
    if judged {
        fields["state"] = json!(match (&file.head, &file.state) {
            (Err(_), _) | (_, RecordingState::Unreadable) => "unreadable",
            (_, RecordingState::Answers { .. }) => "answers",
            (_, RecordingState::Repairs) => "repairs",
            (_, RecordingState::Stale(_)) => "stale",
            (_, RecordingState::Unreached(_)) => "unreached",
        });
        fields["same_prompt"] = json!(file.state == RecordingState::Answers { same_prompt: true });
        fields["why"] = json!(Some(why(file)).filter(|why| !why.is_empty()));
    }
    fields
}
