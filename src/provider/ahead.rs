//! Several requests at once: what independent branches will ask first is asked together, and fetched when they come to
//! it. Changes no answer and no order of steps.

use super::{Completion, CompletionRequest, Provider, ProviderError, Usage};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Requests under way at once, at most.
pub const MAX_PARALLEL: usize = 4;

type Kept = HashMap<String, Result<Completion, ProviderError>>;

/// A provider that can be asked ahead.
pub struct Ahead {
    inner: Box<dyn Provider>,
    kept: Mutex<Kept>,
}

impl Ahead {
    /// Around a provider that may be asked from several threads.
    #[must_use]
    pub fn new(inner: Box<dyn Provider>) -> Ahead {
        Ahead { inner, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // An entry is put in or taken out whole, so a panic elsewhere leaves nothing half done.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Equal prompts under equal keys ask the same.
fn asked(request: &CompletionRequest) -> String {
    format!("{} {}", request.key, request.prompt_sha256())
}

impl Provider for Ahead {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        let kept = self.kept().remove(&asked(request));
        kept.unwrap_or_else(|| self.inner.complete(request))
    }

    fn about(&self) -> String {
        self.inner.about()
    }

    fn ask_ahead(&self, requests: &[CompletionRequest]) {
        // One request alone gains nothing.
        if requests.len() < 2 {
            return;
        }
        for some in requests.chunks(MAX_PARALLEL) {
            std::thread::scope(|scope| {
                for request in some {
                    scope.spawn(|| {
                        let answer = self.inner.complete(request);
                        self.kept().insert(asked(request), answer);
                    });
                }
            });
        }
    }

    fn refuses(&self) -> Option<String> {
        self.inner.refuses()
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }
}
