//! Walks a workflow without a device: every prompt that it can come to, whatever times would decide. Answers come from
//! recordings alone and are checked, not compiled; where one is missing, that way ends.

use crate::backends::backend;
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::library::Loaded;
use crate::lowering::{AnswerFormat, Choosing, Templates, Unjudged, choose};
use crate::provider::{Completion, CompletionRequest, KeyParts, Provider, ProviderError, Recorded, RequestIdentity};
use crate::session::context::start_context;
use crate::workflow::{Workshop, known_facts, timed_sizes};
use indexmap::IndexMap;
use peak_backend_api::Backend;
use peak_grammar::ir::{Application, Device, Workflow, WorkflowStep};
use peak_grammar::specialize;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Contexts that a walk follows at once, at most: each `try` doubles them.
const MAX_CONTEXTS: usize = 64;

/// Rounds of a `repeat` that are walked, at most.
const MAX_ROUNDS: u32 = 4;

/// One prompt of a walk.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What it is for.
    pub identity: RequestIdentity,
    /// Its key.
    pub key: String,
    /// The parts of the key.
    pub parts: KeyParts,
    /// SHA-256 of the prompt, in hex.
    pub prompt_sha256: String,
    /// The prompt.
    pub prompt: String,
    /// Source and path of the recording that answers it.
    pub answer: Option<(usize, String)>,
    /// Whether the recording is an answer to just these bytes.
    pub same_prompt: bool,
    /// Why there is no answer.
    pub problem: Option<String>,
}

/// What a workflow came to on a device.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The workflow's name.
    pub workflow: String,
    /// The kernel's.
    pub kernel: String,
    /// The language.
    pub backend: String,
    /// The device of the library.
    pub device: String,
    /// Every prompt, in order, each once.
    pub asked: Vec<Asked>,
    /// Transformations applied and the hash of the context, for each context that it came to, in order.
    pub contexts: Vec<(Vec<String>, String)>,
    /// Transformations that did not apply, or whose recorded answers are rejected, in words.
    pub failures: Vec<String>,
}

impl Walked {
    /// Every prompt.
    #[must_use]
    pub fn asked(&self) -> &[Asked] {
        &self.asked
    }
}

/// Walks every workflow of these kernels and languages, on every device that speaks the language.
pub fn every(
    loaded: &Loaded,
    recorded: &Recorded,
    templates: &Templates,
    places: &BTreeSet<(String, String)>,
) -> Vec<Walked> {
    let packs = loaded.ir.packs.values().flat_map(|pack| pack.workflows.values());
    let names: BTreeSet<&str> =
        loaded.ir.workflows.iter().chain(packs).map(|workflow| workflow.name.as_str()).collect();
    let mut walks = Vec::new();
    for device in loaded.ir.devices.values() {
        for language in device.speaks.keys() {
            for name in &names {
                let found = specialize::workflow(&loaded.ir, name, Some(&device.name), Some(language));
                let Ok(workflow) = found else { continue };
                if !places.contains(&(workflow.kernel.clone(), language.clone())) {
                    continue;
                }
                walks.extend(one(loaded, recorded, templates, workflow, device, language));
            }
        }
    }
    walks
}

fn one(
    loaded: &Loaded,
    recorded: &Recorded,
    templates: &Templates,
    workflow: &Workflow,
    device: &Device,
    language: &str,
) -> Option<Walked> {
    let backend = backend(language)?;
    // Sources that are missing are told of where files are checked.
    let start = start_context(loaded, &workflow.kernel, language).ok()?;
    let facts = device.facts_for(language);
    let sizes = timed_sizes(&start.kernel, &workflow.time_at);
    let known = known_facts(&start.kernel, &sizes, Some(device));
    let watched = Watched { recorded, asked: Mutex::default() };
    let mut walk = Walk {
        loaded,
        backend: backend.as_ref(),
        device,
        facts: &facts,
        watched: &watched,
        templates,
        known,
        repairs: workflow.on_failure.retries,
        named: IndexMap::new(),
        failures: Vec::new(),
        contexts: vec![start.clone()],
        full: false,
    };
    walk.steps(&workflow.steps, vec![start]);
    let Walk { failures, contexts, .. } = walk;
    let contexts = contexts.into_iter().map(|context| (context.applied.clone(), context.hash())).collect();
    let (kernel, backend, device) = (workflow.kernel.clone(), language.to_owned(), device.name.clone());
    let asked = watched.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
    Some(Walked { workflow: workflow.name.clone(), kernel, backend, device, asked, contexts, failures })
}

struct Walk<'w> {
    loaded: &'w Loaded,
    backend: &'w dyn Backend,
    device: &'w Device,
    facts: &'w Facts,
    watched: &'w Watched<'w>,
    templates: &'w Templates,
    known: Vec<String>,
    repairs: u32,
    named: IndexMap<String, Vec<KernelContext>>,
    failures: Vec<String>,
    contexts: Vec<KernelContext>,
    full: bool,
}

impl Walk<'_> {
    /// The contexts that steps may lead to from these.
    fn steps(&mut self, steps: &[WorkflowStep], from: Vec<KernelContext>) -> Vec<KernelContext> {
        steps.iter().fold(from, |contexts, step| self.step(step, contexts))
    }

    fn step(&mut self, step: &WorkflowStep, from: Vec<KernelContext>) -> Vec<KernelContext> {
        let to = match step {
            WorkflowStep::Apply(application) => self.applied(application, &from),
            WorkflowStep::Try(application) => [from.clone(), self.applied(application, &from)].concat(),
            WorkflowStep::ChooseBest(branches) => {
                branches.iter().flat_map(|branch| self.steps(branch, from.clone())).collect()
            }
            WorkflowStep::Repeat { times, body, .. } => {
                let mut reached = from.clone();
                let mut last = from;
                for _ in 0..(*times).min(MAX_ROUNDS) {
                    last = self.steps(body, last);
                    reached.extend(last.iter().cloned());
                }
                reached
            }
            WorkflowStep::LetModelChoose(among) => self.chosen(among, from),
            WorkflowStep::Checkpoint(name) => {
                self.named.insert(name.clone(), from.clone());
                from
            }
            WorkflowStep::Restore(name) => self.named.get(name).cloned().unwrap_or(from),
            WorkflowStep::CompareWith(_) | WorkflowStep::KeepBest | WorkflowStep::Search { .. } => from,
        };
        self.distinct(to)
    }

    fn distinct(&mut self, mut contexts: Vec<KernelContext>) -> Vec<KernelContext> {
        let mut seen = BTreeSet::new();
        contexts.retain(|context| seen.insert((context.hash(), context.applied.clone())));
        if contexts.len() > MAX_CONTEXTS && !std::mem::replace(&mut self.full, true) {
            self.failures.push(format!("more than {MAX_CONTEXTS} contexts: not every way was walked"));
        }
        contexts.truncate(MAX_CONTEXTS);
        contexts
    }

    fn workshop(&self) -> Workshop<'_> {
        Workshop {
            library: &self.loaded.ir,
            backend: self.backend,
            device: Some(self.device),
            facts: self.facts,
            provider: self.watched,
            templates: self.templates,
            repairs: self.repairs,
            format: AnswerFormat::default(),
        }
    }

    fn applied(&mut self, application: &Application, from: &[KernelContext]) -> Vec<KernelContext> {
        let mut to = Vec::new();
        for context in from {
            let mut judge = Unjudged { known: self.known.clone() };
            let step = self.workshop().apply(application, context, &mut judge, &mut |_| {});
            match step.result {
                Ok(after) => {
                    if self.contexts.iter().all(|known| known.hash() != after.hash()) {
                        self.contexts.push(after.clone());
                    }
                    to.push(after);
                }
                // What nothing answers is told of by its prompt.
                Err((failure, _)) if failure.class == crate::runner::FailureClass::Provider => {}
                Err((failure, _)) => {
                    let line = format!("{}: {failure}", application.transformation);
                    if !self.failures.contains(&line) {
                        self.failures.push(line);
                    }
                }
            }
        }
        to
    }

    /// Where a model chooses: what it chose, and what it stood at, since the choice may not be kept.
    fn chosen(&mut self, among: &[Application], from: Vec<KernelContext>) -> Vec<KernelContext> {
        let mut to = from.clone();
        for context in from {
            let workshop = self.workshop();
            let planned = among.iter().filter_map(|one| Some((one, workshop.plan(one, &context).ok()?)));
            let (applications, plans): (Vec<&Application>, Vec<_>) = planned.unzip();
            let chosen = match applications.as_slice() {
                [] => None,
                [only] => Some(*only),
                _ => {
                    let choice = choose(&Choosing {
                        context: &context,
                        candidates: &plans,
                        provider: self.watched,
                        templates: self.templates,
                        surroundings: workshop.surroundings(),
                        known: &self.known,
                        repairs: self.repairs,
                    });
                    choice.chosen.ok().map(|index| applications[index])
                }
            };
            if let Some(application) = chosen {
                to.extend(self.applied(application, &[context]));
            }
        }
        to
    }
}

/// Answers from recordings, and keeps what was asked.
struct Watched<'r> {
    recorded: &'r Recorded,
    asked: Mutex<Vec<Asked>>,
}

impl Provider for Watched<'_> {
    fn name(&self) -> &str {
        self.recorded.name()
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        let found = self.recorded.find_at(request);
        let prompt_sha256 = request.prompt_sha256();
        let head = found.as_ref().ok().and_then(Option::as_ref).map(|found| &found.recording.head);
        let asked = Asked {
            identity: request.identity.clone(),
            key: request.key.clone(),
            parts: request.parts.clone(),
            same_prompt: head.is_some_and(|head| head.prompt_sha256 == prompt_sha256),
            prompt: request.prompt.clone(),
            prompt_sha256,
            answer: found.as_ref().ok().and_then(Option::as_ref).map(|found| (found.source, found.path.clone())),
            problem: found.as_ref().err().map(ToString::to_string),
        };
        // Each entry is whole: a panic elsewhere leaves nothing half done.
        let mut known = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().all(|other| (&other.key, &other.identity) != (&asked.key, &asked.identity)) {
            known.push(asked);
        }
        drop(known);
        match found? {
            Some(found) => {
                let (text, model) = (found.recording.completion, Some(found.recording.head.model));
                Ok(Completion { text, model, usage: None })
            }
            None => self.recorded.complete(request),
        }
    }
}
