//! Recordings as a whole: every file, every prompt that a workflow comes to, and which answers which. Runs nothing, asks
//! nobody and needs no device; only [`Survey::prune`] removes files, and only those of folders.

mod stale;
mod walk;

pub use walk::{Asked, Walked};

use crate::error::Result;
use crate::library::Loaded;
use crate::provider::{Recorded, Recording, RecordingError, RecordingHead};
use crate::session::providers::{ProviderChoice, sources, templates};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file of recordings.
#[derive(Debug)]
pub struct RecordingFile {
    /// Which source, in the order in which they are looked in.
    pub source: usize,
    /// Its path in there.
    pub path: String,
    /// What it answers; else why it cannot be read.
    pub head: std::result::Result<RecordingHead, RecordingError>,
    /// What it is good for.
    pub state: State,
}

/// What a recording is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It answers a prompt; whether on some device the prompt is the one that it was recorded for, byte for byte.
    Answers {
        /// The same bytes.
        same_prompt: bool,
    },
    /// It repairs an answer that only a device finds wrong: what it is good for cannot be told here.
    Repairs,
    /// Its place is asked for, and by another key: what changed, in words.
    Stale(String),
    /// No workflow comes to its place: why, in words.
    Unreached(String),
    /// It cannot be read.
    Unreadable,
}

/// Every recording, and every prompt.
pub struct Survey {
    /// Names of the sources.
    pub sources: Vec<String>,
    /// The folders of the sources that are folders.
    folders: Vec<Option<PathBuf>>,
    /// Every file, by source and path.
    pub files: Vec<RecordingFile>,
    /// What each workflow came to on each device.
    pub walks: Vec<Walked>,
}

impl Survey {
    /// Lists the recordings, and walks every workflow for which there are any.
    ///
    /// # Errors
    /// The library's files cannot be read.
    pub fn of(loaded: &Loaded, choice: &ProviderChoice, project: &Path) -> Result<Survey> {
        let mut survey = Survey::listed(loaded, choice, project)?;
        let recorded = Recorded::new(sources(choice.record.as_deref(), project, loaded.standard())?);
        let templates = templates(loaded.standard())?;
        let places: BTreeSet<(String, String)> =
            survey.heads().map(|head| (head.kernel.clone(), head.backend.clone())).collect();
        survey.walks = walk::every(loaded, &recorded, &templates, &places);
        survey.judge(loaded);
        Ok(survey)
    }

    /// Only lists the recordings.
    ///
    /// # Errors
    /// The library's files cannot be read.
    pub fn listed(loaded: &Loaded, choice: &ProviderChoice, project: &Path) -> Result<Survey> {
        let sources = sources(choice.record.as_deref(), project, loaded.standard())?;
        let mut files = Vec::new();
        for (source, from) in sources.iter().enumerate() {
            for path in from.list("").into_iter().filter(|path| path.contains('/')) {
                let text = from.read(&path).unwrap_or_default();
                let head = Recording::parse(&text).map(|recording| recording.head);
                files.push(RecordingFile { source, path, head, state: State::Unreadable });
            }
        }
        let names = sources.iter().map(|source| source.name()).collect();
        let folders = sources.iter().map(|source| source.folder().map(Path::to_owned)).collect();
        Ok(Survey { sources: names, folders, files, walks: Vec::new() })
    }

    fn heads(&self) -> impl Iterator<Item = &RecordingHead> {
        self.files.iter().filter_map(|file| file.head.as_ref().ok())
    }

    /// Prompts that no recording answers.
    pub fn unanswered(&self) -> impl Iterator<Item = (&Walked, &Asked)> {
        let each = |walked| Walked::asked(walked).iter().map(move |asked| (walked, asked));
        self.walks.iter().flat_map(each).filter(|(_, asked)| asked.answer.is_none())
    }

    fn judge(&mut self, loaded: &Loaded) {
        for file in &mut self.files {
            let Ok(head) = &file.head else { continue };
            // By its key: where an earlier source holds the same recording, this one would answer without it.
            let asked = self.walks.iter().flat_map(|walked| &walked.asked).filter(|asked| asked.key == head.key);
            let same: Vec<bool> = asked.map(|asked| asked.prompt_sha256 == head.prompt_sha256).collect();
            file.state = match same.is_empty() {
                false => State::Answers { same_prompt: same.contains(&true) },
                true => stale::state(head, &self.walks, loaded),
            };
        }
    }

    /// The files that `prune` would remove: those that are stale, with `unreached` those that no workflow comes to; of
    /// folders only.
    #[must_use]
    pub fn prunable(&self, unreached: bool) -> Vec<(&RecordingFile, PathBuf)> {
        let goes = |file: &&RecordingFile| match &file.state {
            State::Stale(_) => true,
            State::Unreached(_) => unreached,
            _ => false,
        };
        let path = |file: &RecordingFile| Some(self.folders.get(file.source)?.as_ref()?.join(&file.path));
        self.files.iter().filter(goes).filter_map(|file| Some((file, path(file)?))).collect()
    }
}
