//! The provider and the prompt templates of a session.

use crate::error::Result;
use crate::library::{STANDARD_PREFIX, Standard};
use crate::lowering::{AnswerFormat, Templates};
use crate::provider::{
    DEFAULT_PROVIDER, EmbeddedSource, FolderSource, Provider, ProviderOptions, Record, Recorded, RecordingSource,
    Scrubber, open,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a project's own recordings lie, below its folder.
pub const PROJECT_RECORDINGS: &str = "recordings";

/// Where a mailbox lies where nothing is said, below the project's folder.
const PROJECT_MAILBOX: &str = ".peak/mailbox";

/// Where prompts of recorded completions are kept, below the project's folder.
const PROJECT_PROMPTS: &str = ".peak/prompts";

/// Who is asked for completions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderChoice {
    /// Its name.
    pub name: String,
    /// Where completions are recorded, if they are.
    pub record: Option<PathBuf>,
    /// The mailbox's folder.
    pub mailbox: Option<PathBuf>,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// Who answers, where the provider cannot know.
    pub model: Option<String>,
    /// The command line that records what is missing, where there is a better one than `peak lower`.
    pub record_command: Option<String>,
    /// How a model is asked to answer, by its name: what the configuration says of models.
    pub formats: BTreeMap<String, AnswerFormat>,
}

impl ProviderChoice {
    /// How the model that answers is asked: as the configuration says, the whole region where it says nothing.
    #[must_use]
    pub fn format(&self) -> AnswerFormat {
        self.model.as_ref().and_then(|model| self.formats.get(model)).copied().unwrap_or_default()
    }
}

impl Default for ProviderChoice {
    fn default() -> Self {
        ProviderChoice {
            name: DEFAULT_PROVIDER.to_owned(),
            record: None,
            mailbox: None,
            timeout: Duration::from_secs(3600),
            model: None,
            record_command: None,
            formats: BTreeMap::new(),
        }
    }
}

/// Opens the provider; with `record`, what is recorded already is not asked again.
///
/// # Errors
/// An unknown name, or recordings of the library that cannot be read.
pub fn open_provider(choice: &ProviderChoice, project: &Path, standard: &Standard) -> Result<Box<dyn Provider>> {
    let options = ProviderOptions {
        sources: sources(choice, project, standard)?,
        mailbox: choice.mailbox.clone().unwrap_or_else(|| project.join(PROJECT_MAILBOX)),
        timeout: choice.timeout,
        model: choice.model.clone(),
        record_command: choice.record_command.clone(),
    };
    let inner = open(&choice.name, options)?;
    let Some(folder) = choice.record.as_ref().filter(|_| choice.name != DEFAULT_PROVIDER) else { return Ok(inner) };
    let known = Recorded::new(sources(choice, project, standard)?);
    let record = Record::new(inner, folder, Scrubber::from_environment());
    Ok(Box::new(record.with_prompts(project.join(PROJECT_PROMPTS)).reusing(known)))
}

/// Where recordings lie: the folder that is named, the project's own, the library's.
pub(super) fn sources(
    choice: &ProviderChoice,
    project: &Path,
    standard: &Standard,
) -> Result<Vec<Box<dyn RecordingSource>>> {
    let mut sources: Vec<Box<dyn RecordingSource>> = Vec::new();
    if let Some(folder) = &choice.record {
        sources.push(Box::new(FolderSource::new(folder)));
    }
    sources.push(Box::new(FolderSource::new(project.join(PROJECT_RECORDINGS))));
    let prefix = "recordings/";
    let mut files = Vec::new();
    let (answers, decisions) = (standard.paths("md")?, standard.paths("toml")?);
    for path in answers.into_iter().chain(decisions) {
        if let Some(below) = path.strip_prefix(prefix) {
            files.push((below.to_owned(), Cow::Owned(standard.text(&path)?)));
        }
    }
    sources.push(Box::new(EmbeddedSource::new(&format!("{STANDARD_PREFIX}recordings"), files)));
    Ok(sources)
}

/// The prompt templates of the library.
///
/// # Errors
/// A template that is missing or does not parse.
pub fn templates(standard: &Standard) -> Result<Templates> {
    let mut files = Vec::new();
    for path in standard.paths("j2")? {
        if let Some(name) = path.strip_prefix("prompts/") {
            files.push((name.to_owned(), standard.text(&path)?));
        }
    }
    Ok(Templates::new(files)?)
}
