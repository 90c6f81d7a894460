//! A wrapper of a run's provider: an answer is in the store before anybody uses it, and what was answered before a kill
//! is not asked again. It answers for one step of one run, and never for another.

use crate::provider::{Completion, CompletionRequest, Provider, ProviderError, Usage};
use crate::store::{AnswerPlace, NewAnswer, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Answers from the store, else from another provider.
pub(super) struct Remembered<'a> {
    inner: &'a dyn Provider,
    answers: &'a Mutex<Store>,
    run: i64,
    step: u32,
    /// How often each key was asked for in this step.
    asked: Mutex<BTreeMap<String, u32>>,
    recalled: AtomicUsize,
}

impl<'a> Remembered<'a> {
    /// For a step of a run. `answers` is a connection of its own.
    pub fn new(inner: &'a dyn Provider, answers: &'a Mutex<Store>, run: i64, step: usize) -> Remembered<'a> {
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        Remembered { inner, answers, run, step, asked: Mutex::default(), recalled: AtomicUsize::new(0) }
    }

    /// Answers that came from the store.
    pub fn recalled(&self) -> usize {
        self.recalled.load(Ordering::Relaxed)
    }

    /// Which request of this key it is, from 0.
    fn number(&self, key: &str) -> u32 {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let next = asked.entry(key.to_owned()).or_default();
        *next += 1;
        *next - 1
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // Each call of the store is one transaction: a panic elsewhere leaves nothing half done.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Provider for Remembered<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        let place =
            AnswerPlace { run: self.run, step: self.step, key: &request.key, number: self.number(&request.key) };
        if let Some(kept) = self.store().answer(&place).map_err(|error| unkept(&error))? {
            self.recalled.fetch_add(1, Ordering::Relaxed);
            return Ok(Completion { text: kept.completion, model: kept.model, usage: None });
        }
        // Nothing is locked while somebody thinks.
        let Completion { text, model, usage } = self.inner.complete(request)?;
        let answer = NewAnswer {
            prompt: &request.prompt,
            completion: &text,
            provider: self.inner.name(),
            model: model.as_deref(),
        };
        let mut store = self.store();
        store.put_answer(&place, &answer).map_err(|error| unkept(&error))?;
        // What goes on is what was kept: without secrets, and the same when the run goes on.
        let kept = store.answer(&place).map_err(|error| unkept(&error))?;
        Ok(Completion { text: kept.map_or(text, |kept| kept.completion), model, usage })
    }

    fn about(&self) -> String {
        self.inner.about()
    }

    fn refuses(&self) -> Option<String> {
        self.inner.refuses()
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }
}

fn unkept(error: &StoreError) -> ProviderError {
    ProviderError::File { what: "cannot keep the answer in", path: "the store".to_owned(), reason: error.to_string() }
}
