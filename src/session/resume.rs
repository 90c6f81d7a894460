//! Going on with a run, and with the decisions of one: which run is meant, where decisions lie. Reads the store and the
//! folders of recordings; runs nothing.

use super::Session;
use super::providers::sources;
use crate::error::{Class, Error, Result};
use crate::provider::write_recording;
use crate::store::Run;
use crate::workflow::{Decision, Decisions, decisions};

impl Session {
    /// The run to go on with: the one of that number, else the newest of this workflow on this device; `None` where there
    /// is none yet.
    ///
    /// # Errors
    /// No run of that number, or one of another workflow or device.
    pub fn resumable(&self, wanted: Option<i64>) -> Result<Option<Run>> {
        let Some(id) = wanted else {
            return Ok(self.store.runs()?.into_iter().rev().find(|run| self.other_than(run).is_none()));
        };
        let Some(run) = self.store.run(id)? else {
            let help = "`peak log` lists the runs; `--resume` alone takes the newest of this workflow";
            return Err(Error::plain(Class::Input, "peak::cannot-resume", format!("there is no run {id}"), help));
        };
        match self.other_than(&run) {
            None => Ok(Some(run)),
            Some(what) => {
                let message = format!("run {id} is of {what}");
                let help = "name its workflow, `--backend` and `--device`, or leave the number out";
                Err(Error::plain(Class::Input, "peak::cannot-resume", message, help))
            }
        }
    }

    /// What a run is of, where that is not what this session is for.
    fn other_than(&self, run: &Run) -> Option<String> {
        let (of, info) = (&run.of, self.machine.info());
        match () {
            () if of.workflow != self.workflow.name => Some(format!("the workflow `{}`", of.workflow)),
            () if of.backend != info.backend => Some(format!("the language `{}`", of.backend)),
            () if (&of.runtime, &of.device) != (&info.runtime, &info.name) => {
                Some(format!("the device {} ({})", of.device, of.runtime))
            }
            () => None,
        }
    }

    /// The decisions that are recorded for this workflow, the project's own first.
    ///
    /// # Errors
    /// There are none, or the file cannot be read.
    pub fn recorded_decisions(&self) -> Result<Vec<Decision>> {
        let path = self.decisions_path();
        let sources = sources(self.choice.record.as_deref(), &self.project, self.loaded.standard())?;
        let found = sources.iter().find_map(|source| Some((source.name(), source.read(&path)?.into_owned())));
        let Some((place, text)) = found else {
            let places: Vec<String> = sources.iter().map(|source| source.name()).collect();
            let message = format!("no decisions are recorded for `{}`: there is no {path}", self.workflow.name);
            let help = format!(
                "`--record DIR` writes them at the end of a run that went by times. Looked in {}",
                places.join(", ")
            );
            return Err(Error::plain(Class::Provider, "peak::decision-missing", message, help));
        };
        let read: std::result::Result<Decisions, toml::de::Error> = toml::from_str(&text);
        read.map(|decisions| decisions.decision).map_err(|error| {
            let message = format!("the decisions in {place}/{path} cannot be read: {}", error.message());
            Error::plain(Class::Provider, "peak::recording-malformed", message, "record them again with `--record`")
        })
    }

    /// Writes the decisions of a run beside the recordings, where there is a folder for them; gives the file's path.
    ///
    /// # Errors
    /// The store cannot be read, or the file not written.
    pub fn record_decisions(&self, run: i64) -> Result<Option<String>> {
        let Some(folder) = &self.choice.record else { return Ok(None) };
        let made = Decisions { device: self.machine.info().name.clone(), decision: decisions(&self.store, run)? };
        let path = folder.join(self.decisions_path());
        let text = toml::to_string(&made).map_err(|error| {
            let message = format!("the decisions of run {run} cannot be written: {error}");
            Error::plain(Class::Bug, "peak::recording-malformed", message, "report this: they are plain text")
        })?;
        write_recording(&path, &text)?;
        Ok(Some(path.display().to_string()))
    }

    fn decisions_path(&self) -> String {
        Decisions::path(&self.workflow.kernel, self.machine.backend().name(), &self.workflow.name)
    }
}
