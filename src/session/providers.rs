//! The provider and the prompt templates of a session.

use crate::error::{Class, Error, Result};
use crate::library::{STANDARD_PREFIX, Standard};
use crate::lowering::{AnswerFormat, Templates};
use crate::preferences::{Budget, Preferences, ProviderSettings};
use crate::provider::{
    Ahead, AskError, Budgeted, CompletionRequest, Conduct, DEFAULT_PROVIDER, EmbeddedSource, FolderSource, Heard,
    KeyParts, Keys, Listener, PROVIDERS, Provider, ProviderError, ProviderOptions, Record, Recorded, RecordingSource,
    RequestIdentity, Scrubber, Usage, open,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Where a project's own recordings lie, below its folder.
pub const PROJECT_RECORDINGS: &str = "recordings";

/// Where a mailbox lies where nothing is said, below the project's folder.
const PROJECT_MAILBOX: &str = ".peak/mailbox";

/// Where prompts of recorded completions are kept, below the project's folder.
const PROJECT_PROMPTS: &str = ".peak/prompts";

/// Who is asked for completions.
#[derive(Clone)]
pub struct ProviderChoice {
    /// Its name; that of `peak.toml`, else [`DEFAULT_PROVIDER`], where nothing is said.
    pub name: Option<String>,
    /// Where completions are recorded, if they are.
    pub record: Option<PathBuf>,
    /// The mailbox's folder.
    pub mailbox: Option<PathBuf>,
    /// How long to wait for an answer.
    pub timeout: Option<Duration>,
    /// The model, or who answers where the provider cannot know.
    pub model: Option<String>,
    /// The server's address.
    pub url: Option<String>,
    /// Tokens of an answer, at most, over what `peak.toml` says.
    pub max_output_tokens: Option<u64>,
    /// What may be asked, over what `peak.toml` says.
    pub budget: Budget,
    /// The command line that records what is missing, where there is a better one than `peak lower`.
    pub record_command: Option<String>,
    /// Set by somebody else to stop.
    pub stop: Arc<AtomicBool>,
    /// Hears of requests under way.
    pub listener: Listener,
    /// How a model is asked to answer, by its name: what the configuration says of models.
    pub formats: BTreeMap<String, AnswerFormat>,
}

impl Default for ProviderChoice {
    fn default() -> Self {
        ProviderChoice {
            name: None,
            record: None,
            mailbox: None,
            timeout: None,
            model: None,
            url: None,
            max_output_tokens: None,
            budget: Budget::default(),
            record_command: None,
            formats: BTreeMap::new(),
            stop: Arc::new(AtomicBool::new(false)),
            listener: Arc::new(|_: &Heard<'_>| {}),
        }
    }
}

impl std::fmt::Debug for ProviderChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderChoice").field("name", &self.name).field("model", &self.model).finish_non_exhaustive()
    }
}

impl ProviderChoice {
    /// How the model that answers is asked: as the configuration says, the whole region where it says nothing.
    #[must_use]
    pub fn format(&self) -> AnswerFormat {
        self.model.as_ref().and_then(|model| self.formats.get(model)).copied().unwrap_or_default()
    }

    /// The provider's name, where nothing else is said that of the preferences.
    #[must_use]
    pub fn name<'a>(&'a self, preferences: &'a Preferences) -> &'a str {
        self.name.as_deref().or(preferences.provider.as_deref()).unwrap_or(DEFAULT_PROVIDER)
    }

    /// The provider's name in a project.
    ///
    /// # Errors
    /// A `peak.toml` that cannot be read.
    pub fn usual_name(&self, project: &Path) -> Result<String> {
        Ok(self.name(&Preferences::load(project)?).to_owned())
    }

    /// Whether only recordings answer, as far as can be told.
    #[must_use]
    pub fn asks_nobody(&self, project: &Path) -> bool {
        Preferences::load(project).is_ok_and(|preferences| self.name(&preferences) == DEFAULT_PROVIDER)
    }

    /// Refuses what would silently be of no effect.
    ///
    /// # Errors
    /// An option of a provider that asks somebody, where the provider asks nobody; a file that cannot be read.
    pub fn check(&self, project: &Path) -> Result<()> {
        let preferences = Preferences::load(project)?;
        let name = self.name(&preferences);
        let given = [
            ("--mailbox", self.mailbox.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--model", self.model.is_some()),
            ("--url", self.url.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) if name == DEFAULT_PROVIDER => {
                let message = format!("`{option}` is of no use with `--provider {name}`: nobody is asked");
                let asks = match option {
                    "--mailbox" | "--timeout" => "mailbox",
                    _ => "openai",
                };
                let help = format!("say `--provider {asks}` too, or leave it out");
                Err(Error::plain(Class::Usage, "peak::usage", message, help))
            }
            _ => Ok(()),
        }
    }
}

/// Opens the provider; with `record`, what is recorded already is not asked again.
///
/// # Errors
/// An unknown name, what the provider lacks, a `peak.toml` or recordings of the library that cannot be read.
pub fn open_provider(choice: &ProviderChoice, project: &Path, standard: &Standard) -> Result<Box<dyn Provider>> {
    let preferences = Preferences::load(project)?;
    let name = choice.name(&preferences).to_owned();
    let settings = preferences.settings(&name);
    let price = settings.price;
    let sources_here = sources(choice.record.as_deref(), project, standard)?;
    let inner = open(options(choice, &name, settings, project, sources_here))?;
    // Who asks nobody spends nothing.
    if name == DEFAULT_PROVIDER {
        return Ok(inner);
    }
    let budget = preferences.budget.overlaid(choice.budget);
    let inner: Box<dyn Provider> = Box::new(Budgeted::new(Box::new(Ahead::new(inner)), budget, price)?);
    let Some(folder) = &choice.record else { return Ok(inner) };
    let known = Recorded::new(sources(choice.record.as_deref(), project, standard)?);
    let record = Record::new(inner, folder, Scrubber::from_environment());
    Ok(Box::new(record.with_prompts(project.join(PROJECT_PROMPTS)).reusing(known)))
}

fn options(
    choice: &ProviderChoice,
    name: &str,
    mut settings: ProviderSettings,
    project: &Path,
    sources: Vec<Box<dyn RecordingSource>>,
) -> ProviderOptions {
    let mut keys = Keys::of_system();
    if let Some(url) = choice.url.as_ref().filter(|url| settings.url.as_ref() != Some(*url)) {
        // A key that was meant for another address does not go to this one.
        settings.key_variable = None;
        keys = Keys::given([]);
        settings.url = Some(url.clone());
    }
    settings.max_output_tokens = choice.max_output_tokens.or(settings.max_output_tokens);
    ProviderOptions {
        name: name.to_owned(),
        settings,
        keys,
        conduct: Conduct {
            stop: Arc::clone(&choice.stop),
            listener: Arc::clone(&choice.listener),
            ..Conduct::default()
        },
        sources,
        mailbox: choice.mailbox.clone().unwrap_or_else(|| project.join(PROJECT_MAILBOX)),
        timeout: choice.timeout,
        model: choice.model.clone(),
        record_command: choice.record_command.clone(),
    }
}

/// What a call of one token came to.
pub struct Called {
    /// Who was asked.
    pub about: String,
    /// How long it took.
    pub seconds: f64,
    /// Who answered.
    pub model: Option<String>,
    /// What it took.
    pub usage: Option<Usage>,
}

/// Asks a provider for one token, to see that it answers.
///
/// # Errors
/// One that asks nobody, what it lacks, or why no answer came.
pub fn call_provider(choice: &ProviderChoice, project: &Path) -> Result<Called> {
    let preferences = Preferences::load(project)?;
    let name = choice.name(&preferences).to_owned();
    if [DEFAULT_PROVIDER, "mailbox"].contains(&name.as_str()) {
        let message = format!("`{name}` is no provider to be called: no model answers at once");
        return Err(Error::plain(Class::Usage, "peak::usage", message, "name one that asks a model: `peak doctor`"));
    }
    let choice = ProviderChoice { max_output_tokens: Some(1), ..choice.clone() };
    let provider = open(options(&choice, &name, preferences.settings(&name), project, Vec::new()))?;
    let identity = RequestIdentity {
        kernel: "doctor".to_owned(),
        backend: String::new(),
        applied: Vec::new(),
        transformation: "call".to_owned(),
        pass: "call".to_owned(),
        region: None,
        repair: 0,
    };
    let prompt = "Answer with one word: ready".to_owned();
    let started = Instant::now();
    let answered =
        provider.complete(&CompletionRequest { prompt, identity, key: String::new(), parts: KeyParts::default() });
    let (model, usage) = match answered {
        Ok(completion) => (completion.model, completion.usage),
        // One token may go into reasoning: that the model was reached is what was asked.
        Err(ProviderError::Ask(error)) if matches!(*error, AskError::Empty { .. }) => (None, None),
        Err(error) => return Err(error.into()),
    };
    Ok(Called { about: provider.about(), seconds: started.elapsed().as_secs_f64(), model, usage })
}

/// A provider as it stands on this machine.
pub struct Standing {
    /// Its name.
    pub name: String,
    /// What it is, in one line.
    pub summary: String,
    /// The provider, ready to be asked; else what it lacks.
    pub provider: Result<Box<dyn Provider>>,
}

/// Every provider of the list, and those that `peak.toml` names, as they stand. Asks nobody.
///
/// # Errors
/// A `peak.toml` that cannot be read.
pub fn standing_providers(choice: &ProviderChoice, project: &Path) -> Result<Vec<Standing>> {
    let preferences = Preferences::load(project)?;
    let listed = PROVIDERS.iter().map(|entry| (entry.name.to_owned(), entry.summary.to_owned()));
    let is_listed = |name: &str| PROVIDERS.iter().any(|entry| entry.name == name);
    let own = preferences.providers.iter().filter(|(name, _)| !is_listed(name));
    let own = own.map(|(name, settings)| {
        let kind = settings.kind.as_deref().unwrap_or("no kind");
        (name.clone(), format!("of peak.toml ({kind})"))
    });
    let stands = |(name, summary): (String, String)| {
        let provider = open(options(choice, &name, preferences.settings(&name), project, Vec::new()));
        Standing { name, summary, provider: provider.map_err(Error::from) }
    };
    Ok(listed.chain(own).map(stands).collect())
}

/// Where recordings lie: the folder that is named, the project's own, the library's.
pub(super) fn sources(
    record: Option<&Path>,
    project: &Path,
    standard: &Standard,
) -> Result<Vec<Box<dyn RecordingSource>>> {
    let mut sources: Vec<Box<dyn RecordingSource>> = Vec::new();
    if let Some(folder) = record {
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
