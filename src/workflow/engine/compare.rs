//! `compare with`: a vendor's library and the kernel where the run stands, in turns, on the same operands, at every size.
//! What it comes to is a row; nothing of the run depends on it.

use super::Run;
use crate::context::Inputs;
use crate::evaluate::vendor::library_call;
use crate::report::units;
use crate::runner::paired::{Ratio, Verdict as Against, pairing};
use crate::runner::statistics::quantile;
use crate::runner::{Distribution, Failure, Fill, Job};
use crate::validate::Candidate;
use crate::workflow::judge::{RUN_DEADLINE, compile};
use crate::workflow::row::{Row, Verdict};
use crate::workflow::rows::{self, StepFacts};
use peak_backend_api::{Caches, Library};
use std::sync::Arc;
use std::time::Duration;

/// How long all turns at one size may take.
const DEADLINE: Duration = Duration::from_secs(120);

impl Run<'_, '_> {
    /// A row for each size: the library's time, and how it stands to the current kernel's.
    pub(super) fn compare_with(&mut self, name: &str) {
        let step = format!("compare with {name}");
        let Some(library) = Library::of(name) else {
            let known: Vec<&str> = Library::ALL.iter().map(|library| library.name()).collect();
            return self.skip(&step, &format!("not compared: no library `{name}` is known, only {}", known.join(", ")));
        };
        let sizes = self.sizes.clone();
        let compared: Result<Vec<Row>, String> =
            sizes.iter().map(|inputs| self.compared(library, &step, inputs)).collect();
        match compared {
            Ok(rows) => {
                self.steps += 1;
                self.tell(rows, None);
            }
            Err(why) => self.skip(&step, &format!("not compared: {why}")),
        }
    }

    fn compared(&mut self, library: Library, step: &str, inputs: &Inputs) -> Result<Row, String> {
        let point = self.line.current().clone();
        let Some(size) = point.at(inputs).filter(|_| self.environment.has_timer()) else {
            return Err(format!("{} has no time here", point.step));
        };
        let words = |failure: Failure| failure.to_string();
        let (plan, artifact) = compile(&point.context, &size.configuration, inputs, self.environment).map_err(words)?;
        let (call, call_plan) =
            library_call(library, &point.context.kernel, inputs, &plan).map_err(|why| why.to_string())?;
        let fill = Fill { seed: self.environment.options.seed, distribution: Distribution::Declared };
        let job = |artifact, plan| Job { artifact, plan, fill, deadline: DEADLINE };
        let jobs = [job(artifact, plan), job(Arc::new(call.artifact()), call_plan)];
        let how = pairing(self.environment.info.kind, Caches::Warm);
        let outcome = self.environment.execute.take_turns(&jobs, &how).map_err(words)?;
        let timed = [inputs.clone()];
        for (job, outputs) in jobs.iter().zip(outcome.outputs) {
            let candidate = Candidate {
                context: &point.context,
                configurations: &[],
                timed: &timed,
                backend: self.environment.backend,
                facts: self.environment.facts,
                deadline: RUN_DEADLINE,
            };
            let (compile, execute) = (self.environment.compile, &mut *self.environment.execute);
            let judged = self.validator.judge_timed(&candidate, compile, execute, &job.plan, (inputs, fill), outputs);
            judged.map_err(words)?;
        }
        let ratio = outcome.turns.ratio(0, 1).ok_or("there were too few rounds")?;
        let times = &outcome.turns.times_ns[1];
        let facts = StepFacts {
            index: self.steps,
            name: step,
            verdict: Verdict::Compared,
            reason: Some(reason(library, &point.step, &ratio)),
            ..StepFacts::default()
        };
        let baseline = self.line.baseline().at(inputs).and_then(|size| size.median_ns);
        let median = quantile(times, 0.5);
        Ok(Row {
            time_ns_p20: quantile(times, 0.2),
            time_ns_p80: quantile(times, 0.8),
            speedup_step: Some(1.0 / ratio.median),
            speedup_total: baseline.zip(median).map(|(baseline, median)| baseline / median),
            ..rows::compared(&facts, &point.context.kernel, inputs, median, self.environment)
        })
    }
}

/// `cublas is faster than thread-tiling: 0.38 of its time (95%: 0.379 to 0.381)`.
fn reason(library: Library, step: &str, ratio: &Ratio) -> String {
    let name = library.name();
    let words = match ratio.verdict {
        Against::Faster => format!("{name} is faster than {step}"),
        Against::Slower => format!("{name} is slower than {step}"),
        Against::Same => format!("{name} takes as long as {step}"),
        Against::Unclear => format!("{name} against {step}: unclear"),
    };
    let [median, low, high] = [ratio.median, ratio.low, ratio.high].map(units::plain);
    format!("{words}: {median} of its time (95%: {low} to {high})")
}
