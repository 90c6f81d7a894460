//! Which transformations apply to a kernel as it is declared, and why the others do not. Nothing is asked or run.

use crate::backends::default_backend;
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::error::Result;
use crate::library::Loaded;
use crate::plan::{PlanInputs, plan};
use crate::session::{SessionError, start_context};
use indexmap::IndexMap;
use peak_grammar::ir::{Application, Device};
use peak_grammar::specialize;

/// What transformations are looked at for.
pub(super) struct Subject<'a> {
    loaded: &'a Loaded,
    context: KernelContext,
    device: Option<&'a Device>,
    facts: Facts,
}

impl<'a> Subject<'a> {
    /// A kernel, in a language that it has code for, on a device of the library.
    ///
    /// # Errors
    /// There is no such kernel, code or device.
    pub(super) fn new(
        loaded: &'a Loaded,
        kernel: &str,
        backend: Option<&str>,
        device: Option<&str>,
    ) -> Result<Subject<'a>> {
        let known = loaded.ir.devices.keys().map(String::as_str);
        let device = device
            .map(|name| loaded.ir.devices.get(name).ok_or_else(|| SessionError::unknown("device", name, known)))
            .transpose()?;
        let languages: Vec<&str> = loaded
            .ir
            .kernels
            .get(kernel)
            .map(|kernel| kernel.code.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let spoken =
            device.and_then(|device| device.speaks.keys().map(String::as_str).find(|it| languages.contains(it)));
        let usual = default_backend().filter(|name| languages.contains(name));
        let backend = backend.or(spoken).or(usual).or(languages.first().copied()).unwrap_or_default();
        let context = start_context(loaded, kernel, backend)?;
        let facts =
            device.map(|device| specialize::with_facts(&loaded.ir, device).facts_for(backend)).unwrap_or_default();
        Ok(Subject { loaded, context, device, facts })
    }

    /// The language.
    pub(super) fn backend(&self) -> &str {
        &self.context.backend
    }

    /// Why a transformation does not apply; none where it does.
    pub(super) fn why_not(&self, name: &str) -> Option<String> {
        let device = self.device.map(|device| device.name.as_str());
        let special = match specialize::transformation(&self.loaded.ir, name, device) {
            Ok(special) => special,
            Err(error) => return Some(error.to_string()),
        };
        let application = Application {
            transformation: name.to_owned(),
            ranges: IndexMap::new(),
            settings: IndexMap::new(),
            renames: IndexMap::new(),
        };
        let inputs = PlanInputs {
            transformation: &special.transformation,
            knowledge: &special.knowledge,
            utilities: &self.loaded.ir.utilities,
            application: &application,
            facts: &self.facts,
        };
        plan(&self.context, &inputs).err().map(|error| error.to_string())
    }
}
