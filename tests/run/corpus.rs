//! The corpus of CUDA kernels in `tests/suite/run`: what is known of each, how it runs, what is right. Shared by the test
//! `run` and the program `examples/corpus.rs`; reads the folder, and never judges by one device what another should give.

pub mod device;
pub mod judge;
pub mod references;
pub mod table;

use indexmap::IndexMap;
use peak::context::launch::{ConcretePlan, concrete_plan};
use peak::context::scope::Facts;
use peak::context::{Configuration, ExecutionParameters, KernelContext};
use peak::library::{Standard, load};
use peak::oracle::Oracle;
use peak::session::start_context;
use peak::validate::outputs::plan::{Check, CheckPlan, checks};
use std::path::{Path, PathBuf};
use table::Entry;

/// Sizes of a kernel that are checked, at most.
const SIZES: usize = 8;

/// A kernel of the corpus.
pub struct Subject {
    /// As its file declares it.
    pub context: KernelContext,
    /// What the table says of it.
    pub entry: Entry,
    /// Its `computes`, compiled, where it has one.
    pub oracle: Option<Oracle>,
}

/// Every kernel of a folder, by name.
///
/// # Errors
/// Words: what cannot be read, or what the folder and its table disagree on.
pub fn subjects(folder: &Path) -> Result<Vec<Subject>, String> {
    let loaded = load(&files(folder)?, Standard::from_environment());
    if let Some(error) = loaded.errors().next() {
        return Err(format!("{:?}", loaded.report(error)));
    }
    let own = loaded.ir.kernels.values().filter(|kernel| Path::new(&kernel.origin.file).starts_with(folder));
    let mut entries = table::read(folder)?;
    let mut subjects = Vec::new();
    for kernel in own {
        let name = &kernel.name;
        let entry = entries.shift_remove(name).ok_or_else(|| format!("corpus.toml says nothing of {name}"))?;
        if kernel.computes.is_some() == entry.reference.is_some() {
            return Err(format!("{name} needs one judge: `computes` in its file, or `reference` in corpus.toml"));
        }
        let oracle = kernel.computes.as_ref().map(|_| Oracle::compile(kernel)).transpose();
        let oracle = oracle.map_err(|error| format!("{name}: {error}"))?;
        let context = start_context(&loaded, name, "cuda").map_err(|error| format!("{name}: {error}"))?;
        subjects.push(Subject { context, entry, oracle });
    }
    match entries.first() {
        Some((name, _)) => Err(format!("corpus.toml speaks of {name}, which {} has not", folder.display())),
        None => Ok(subjects),
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "peak"));
    files.sort();
    if files.is_empty() { Err(format!("{} holds no .peak files", folder.display())) } else { Ok(files) }
}

impl Subject {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.context.kernel.name
    }

    /// Every tuning parameter at its first value, and every one at its last.
    pub fn configurations(&self) -> Vec<Configuration> {
        let all = |pick: fn(Vec<i64>) -> Option<i64>| -> Configuration {
            let values = |parameter: &peak_grammar::ir::TuningParameter| pick(parameter.values.all());
            self.context.tuning.iter().filter_map(|it| Some((it.name.clone(), values(it)?))).collect()
        };
        let (first, last) = (all(|values| values.first().copied()), all(|values| values.last().copied()));
        if first == last { vec![first] } else { vec![first, last] }
    }

    /// The runs: every checked size, with several kinds of data and seeds, without those that the table leaves out.
    pub fn checks(&self) -> Vec<Check> {
        let plan = CheckPlan { sizes: SIZES, ..CheckPlan::default() };
        let mut checks = checks(&self.context.kernel, &plan);
        checks.retain(|check| !self.entry.without.contains(&check.fill.distribution));
        checks
    }

    /// The launches of a run.
    ///
    /// # Errors
    /// Words why the size is none for this configuration.
    pub fn plan(&self, configuration: &Configuration, check: &Check, facts: &Facts) -> Result<ConcretePlan, String> {
        let parameters = ExecutionParameters { inputs: check.inputs(), configuration: configuration.clone() };
        concrete_plan(&self.context, &parameters, facts).map_err(|invalid| invalid.to_string())
    }
}

/// `m = 3, n = 40`.
pub fn words<'a>(values: impl IntoIterator<Item = (&'a String, &'a i64)>) -> String {
    values.into_iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The bytes of each output, by name.
pub type Outputs = IndexMap<String, Vec<u8>>;
