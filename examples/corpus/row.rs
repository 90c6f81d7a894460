//! One kernel on every runtime: a row of the table. Prints nothing.

use crate::bits::{Difference, difference};
use crate::corpus::judge::{described, judge, wanted};
use crate::corpus::{Outputs, Subject, device};
use indexmap::IndexMap;
use peak::context::launch::ConcretePlan;
use peak_backend_api::{Backend, ProgramId, Runtime};

/// What became of a kernel.
#[derive(Debug, Default)]
pub struct Row {
    /// The kernel.
    pub name: String,
    /// What kind it is.
    pub category: String,
    /// The values that each scalar input had.
    pub sizes: IndexMap<String, Vec<i64>>,
    /// Runs on each runtime.
    pub runs: usize,
    /// The first runtime's outputs against the last's.
    pub bits: Difference,
    /// The largest error on each runtime, as a share of what is allowed.
    pub errors: Vec<f64>,
    /// Why bits may differ; `None` where they are defined.
    pub differs: Option<String>,
    /// What went wrong, in words.
    pub failures: Vec<String>,
}

impl Row {
    /// Whether every result is right, and the same where it must be.
    pub fn is_right(&self) -> bool {
        self.failures.is_empty() && (self.differs.is_some() || self.bits.different == 0)
    }
}

/// Runs a kernel at all its sizes and configurations, on a fresh device of each runtime.
pub fn of(subject: &Subject, cuda: &dyn Backend, runtimes: &[Box<dyn Runtime>]) -> Row {
    let mut row = Row {
        name: subject.name().to_owned(),
        category: subject.entry.category.clone(),
        differs: subject.entry.differs.clone(),
        errors: vec![0.0; runtimes.len()],
        ..Row::default()
    };
    if let Err(words) = fill(&mut row, subject, cuda, runtimes) {
        row.failures.push(words);
    }
    row
}

fn fill(row: &mut Row, subject: &Subject, cuda: &dyn Backend, runtimes: &[Box<dyn Runtime>]) -> Result<(), String> {
    let opened = runtimes.iter().map(|runtime| device::open(runtime.as_ref()).map_err(|error| error.to_string()));
    let mut devices = opened.collect::<Result<Vec<_>, _>>()?;
    // The last is the simulator, whose limits are any newer GPU's.
    let facts = devices.last().map(|device| device::facts(device.as_ref())).unwrap_or_default();
    for configuration in subject.configurations() {
        let mut programs: Vec<ProgramId> = Vec::new();
        for check in subject.checks() {
            let of_run = |words: String| format!("{}; {words}", described(&configuration, &check));
            let plan = subject.plan(&configuration, &check, &facts).map_err(of_run)?;
            if programs.is_empty() {
                let artifact =
                    device::compile(cuda, &subject.context, &configuration, &plan, &facts).map_err(of_run)?;
                let loads = devices.iter_mut().map(|device| device.load(&artifact).map_err(|error| error.to_string()));
                programs = loads.collect::<Result<_, _>>().map_err(of_run)?;
            }
            let wanted = wanted(subject, &configuration, &plan, &check).map_err(of_run)?;
            let mut outputs = Vec::new();
            for (at, (device, program)) in devices.iter_mut().zip(&programs).enumerate() {
                let on_runtime = |words: String| of_run(format!("on {}: {words}", runtimes[at].name()));
                let ran = device::run(device.as_mut(), *program, &plan, check.fill).map_err(on_runtime)?;
                match judge(&wanted, &ran) {
                    Ok(share) => row.errors[at] = row.errors[at].max(share),
                    Err(words) => row.failures.push(on_runtime(words)),
                }
                outputs.push(ran);
            }
            let found = compared(&plan, &outputs);
            if found.different > 0 && row.differs.is_none() {
                row.failures.push(of_run(format!("{} of {} elements differ", found.different, found.elements)));
            }
            row.bits = row.bits.and(found);
            for (scalar, value) in &check.inputs {
                let values = row.sizes.entry(scalar.clone()).or_default();
                if !values.contains(value) {
                    values.push(*value);
                }
            }
            row.runs += 1;
        }
    }
    Ok(())
}

/// The first runtime's outputs against the last's; of one runtime alone, only how many elements there are.
fn compared(plan: &ConcretePlan, outputs: &[Outputs]) -> Difference {
    let (Some(first), Some(last)) = (outputs.first(), outputs.last()) else { return Difference::default() };
    let of_buffer = |(name, bytes): (&String, &Vec<u8>)| {
        let buffer = plan.buffers.iter().find(|buffer| buffer.name == *name)?;
        Some(difference(buffer.element, bytes, last.get(name)?))
    };
    first.iter().filter_map(of_buffer).fold(Difference::default(), Difference::and)
}
