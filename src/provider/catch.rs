//! A wrapper that keeps one request from being sent, so that its prompt can be shown. What is asked before it goes on to
//! another provider; nothing is asked after it.

use super::{Completion, CompletionRequest, Provider, ProviderError, Usage};
use std::sync::{Mutex, PoisonError};

/// Hands requests on until the one that is wanted.
pub struct Catch<'a> {
    inner: &'a dyn Provider,
    applied: &'a [String],
    transformation: &'a str,
    pass: Option<&'a str>,
    caught: Mutex<Option<CompletionRequest>>,
}

impl<'a> Catch<'a> {
    /// Wants the first request of `transformation` after `applied`; with `PASS` or `PASS.REGION`, the first of that pass
    /// or region.
    #[must_use]
    pub fn new(
        inner: &'a dyn Provider,
        applied: &'a [String],
        transformation: &'a str,
        pass: Option<&'a str>,
    ) -> Catch<'a> {
        Catch { inner, applied, transformation, pass, caught: Mutex::new(None) }
    }

    /// The request that was kept back, if it came.
    #[must_use]
    pub fn caught(&self) -> Option<CompletionRequest> {
        self.held().clone()
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<CompletionRequest>> {
        // The request is written whole or not at all, so a panic elsewhere leaves nothing half done.
        self.caught.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants(&self, request: &CompletionRequest) -> bool {
        let id = &request.identity;
        let of_pass =
            |wanted: &str| wanted == id.pass || wanted.strip_prefix(&format!("{}.", id.pass)) == Some(id.subject());
        id.applied == self.applied && id.transformation == self.transformation && self.pass.is_none_or(of_pass)
    }
}

impl Provider for Catch<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn refuses(&self) -> Option<String> {
        self.inner.refuses()
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        if !self.wants(request) {
            return self.inner.complete(request);
        }
        *self.held() = Some(request.clone());
        Err(ProviderError::NotSent)
    }
}
