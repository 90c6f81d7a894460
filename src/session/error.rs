//! What a session cannot be opened for, each with its class.

use crate::error::{Class, Classified};
use crate::lowering::TemplateError;
use crate::oracle::OracleError;
use crate::plan::NotApplicable;
use crate::preferences::PreferencesError;
use crate::provider::{AskError, ProviderError};
use crate::runner::{RunnerError, SelectionError, is_environment};
use crate::workflow::WorkflowError;
use miette::Diagnostic;
use peak_grammar::ir::Library;
use thiserror::Error;

/// Why a session does not open.
#[derive(Debug, Error, Diagnostic)]
pub enum SessionError {
    /// No declaration of that name.
    #[error("there is no {kind} `{name}`")]
    #[diagnostic(code("peak::unknown-name"), help("{help}"))]
    UnknownName {
        /// `workflow`, `kernel`, `transformation`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest name, and where to look.
        help: String,
    },
    /// The transformation has no such pass.
    #[error("`{transformation}` has no pass `{name}`")]
    #[diagnostic(
        code("peak::unknown-pass"),
        help("its passes are: {known}; a region is named as PASS.macros, PASS.device-code or PASS.host-code")
    )]
    UnknownPass {
        /// What was asked for.
        name: String,
        /// The transformation.
        transformation: String,
        /// Its passes.
        known: String,
    },
    /// The kernel has no code for the backend.
    #[error("kernel `{kernel}` has no device code for {backend}")]
    #[diagnostic(code("peak::no-device-code"), help("it has code for: {known}; choose one with `--backend`"))]
    NoDeviceCode {
        /// The kernel.
        kernel: String,
        /// The backend.
        backend: String,
        /// Backends that it has code for.
        known: String,
    },
    /// This build has no such backend.
    #[error("this build of Peak has no backend `{name}`")]
    #[diagnostic(code("peak::unknown-backend"), help("it has: {known}"))]
    UnknownBackend {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// There is no device for the backend.
    #[error("no device was found that runs {backend}{}", if .missing.is_empty() { String::new() } else { format!(" ({missing})") })]
    #[diagnostic(
        code("peak::no-device"),
        help("what mends it: {mend}\n`peak doctor` shows all that is there and all that is missing")
    )]
    NoDevice {
        /// The backend.
        backend: String,
        /// What its runtimes say.
        missing: String,
        /// The command that mends it.
        mend: String,
    },
    /// A toolchain of the backend is missing.
    #[error("the {backend} backend lacks {name}: looked for it at {place}")]
    #[diagnostic(code("peak::missing-toolchain"), help("what installs it, in Peak's own folder: {mend}"))]
    MissingToolchain {
        /// The backend.
        backend: String,
        /// The toolchain.
        name: String,
        /// Where it was looked for.
        place: String,
        /// The command that mends it.
        mend: String,
    },
    /// Nothing serves as worker.
    #[error("no program serves as Peak's worker: compilers and kernels never run in this one")]
    #[diagnostic(
        code("peak::no-worker-program"),
        help(
            "let `main` begin with `if let Some(code) = peak::worker() {{ return code; }}`, so that this program can start itself as one, or name a `peak` program: `Session::builder().worker(PATH)`"
        )
    )]
    NoWorkerProgram,
    /// Packs contradict one another.
    #[error("{message}")]
    #[diagnostic(code("peak::pack-conflict"), help("let one pack extend the other, or narrow its `for devices`"))]
    Specialize {
        /// What is wrong.
        message: String,
    },
}

impl SessionError {
    /// No workflow of that name, with the nearest.
    #[must_use]
    pub fn unknown_workflow(library: &Library, name: &str) -> SessionError {
        let packs = library.packs.values().flat_map(|pack| pack.workflows.values().map(|own| own.name.as_str()));
        let known = library.workflows.iter().map(|workflow| workflow.name.as_str()).chain(packs);
        SessionError::unknown("workflow", name, known)
    }

    /// Nothing of that name among those known.
    pub fn unknown<'a>(kind: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> SessionError {
        let nearest = known
            .map(|known| (strsim::damerau_levenshtein(known, name), known))
            .min()
            .filter(|(distance, known)| *distance <= known.len().max(name.len()) / 2)
            .map(|(_, known)| format!("did you mean `{known}`? "))
            .unwrap_or_default();
        let help = format!(
            "{nearest}`peak list` shows what there is; files of your own are named: `peak run --use FILE`, `peak lower FILE`"
        );
        SessionError::UnknownName { kind, name: name.to_owned(), help }
    }
}

impl Classified for SessionError {
    fn class(&self) -> Class {
        match self {
            SessionError::NoDevice { .. } | SessionError::MissingToolchain { .. } | SessionError::NoWorkerProgram => {
                Class::Environment
            }
            _ => Class::Input,
        }
    }
}

impl Classified for RunnerError {
    fn class(&self) -> Class {
        Class::Environment
    }
}

impl Classified for SelectionError {
    fn class(&self) -> Class {
        match self {
            SelectionError::None => Class::Environment,
            _ => Class::Input,
        }
    }
}

impl Classified for ProviderError {
    fn class(&self) -> Class {
        match self {
            ProviderError::Unknown { .. } => Class::Usage,
            ProviderError::Ask(error) => error.class(),
            _ => Class::Provider,
        }
    }
}

impl Classified for AskError {
    fn class(&self) -> Class {
        match self {
            AskError::Stopped { .. } => Class::Interrupted,
            _ => Class::Provider,
        }
    }
}

impl Classified for PreferencesError {
    fn class(&self) -> Class {
        Class::Input
    }
}

impl Classified for TemplateError {
    fn class(&self) -> Class {
        Class::Input
    }
}

impl Classified for OracleError {
    fn class(&self) -> Class {
        Class::Input
    }
}

impl Classified for NotApplicable {
    fn class(&self) -> Class {
        Class::Input
    }
}

impl Classified for WorkflowError {
    fn class(&self) -> Class {
        match self {
            WorkflowError::Baseline { failure } if is_environment(failure) => Class::Environment,
            WorkflowError::Baseline { .. } => Class::Validation,
            WorkflowError::Interrupted => Class::Interrupted,
            WorkflowError::Store(error) => error.class(),
            _ => Class::Input,
        }
    }
}
