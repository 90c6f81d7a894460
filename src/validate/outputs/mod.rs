//! The `outputs` validator: does a candidate compute what it should?
//!
//! The truth comes first (the oracle in double precision, or a run of the reference context where there is none), then
//! the candidate runs on poisoned outputs, then every element is compared. At timed sizes every element is compared with
//! the reference, all of a product by Freivalds' check, and some with the oracle. One run is repeated to see whether its results change. A check that a kernel
//! without work would pass is rejected. A failure says what the error looks like ([`pattern`]).

pub mod compare;
pub mod freivalds;
pub mod pattern;
pub mod plan;
mod report;
mod runs;
mod tally;
mod timed;
pub mod tolerance;
mod truths;
mod vacuous;

pub use plan::CheckPlan;

use super::{Candidate, Validator, ValidatorEntry, Verified};
use crate::context::launch::ConcretePlan;
use crate::context::{Configuration, Inputs, KernelContext};
use crate::oracle::{MAX_READS, Oracle, OracleError};
use crate::runner::{Compile, Distribution, Execute, Failure, FailureClass, Fill, RunOutcome};
use indexmap::IndexMap;
use plan::{Check, checks, timed_checks};
use report::WrongRun;
use runs::{Bench, Subject};
use std::sync::Arc;
use tally::{BY_ORACLE, BY_PRODUCT, BY_REFERENCE, BY_SAMPLES, Tally};
use timed::{Judges, LargeCase, LargeCases};
use truths::{Case, Cases};

/// How it is asked for.
pub const ENTRY: ValidatorEntry = ValidatorEntry {
    name: "outputs",
    title: "compares outputs with the oracle and the reference context",
    build: |reference, configuration, plan| Ok(Box::new(OutputsValidator::new(reference, configuration, plan)?)),
};

/// The `outputs` validator. Make one for a workflow and keep it: it remembers what outputs should hold.
#[derive(Debug)]
pub struct OutputsValidator {
    reference: KernelContext,
    configuration: Configuration,
    oracle: Option<Oracle>,
    plan: CheckPlan,
    checks: Vec<Check>,
    cases: Cases,
    large: LargeCases,
}

impl OutputsValidator {
    /// For candidates made from `reference`, the initial context, which runs in `configuration` where it is asked.
    ///
    /// # Errors
    /// A `computes` that does not compile; a kernel without one has the reference only.
    pub fn new(
        reference: &KernelContext,
        configuration: &Configuration,
        plan: CheckPlan,
    ) -> Result<OutputsValidator, OracleError> {
        let oracle = reference.kernel.computes.as_ref().map(|_| Oracle::compile(&reference.kernel)).transpose()?;
        Ok(OutputsValidator {
            checks: checks(&reference.kernel, &plan),
            reference: reference.clone(),
            configuration: configuration.clone(),
            oracle,
            plan,
            cases: Cases::default(),
            large: LargeCases::default(),
        })
    }

    /// The compiled oracle, if the kernel states what it computes.
    #[must_use]
    pub fn oracle(&self) -> Option<&Oracle> {
        self.oracle.as_ref()
    }
}

impl Validator for OutputsValidator {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn validate(
        &mut self,
        candidate: &Candidate<'_>,
        compile: &dyn Compile,
        execute: &mut dyn Execute,
    ) -> Result<Verified, Failure> {
        let mut bench = Bench { candidate, compile, execute };
        let mut tally = Tally::default();
        for configuration in candidate.configurations {
            let mut subject = Subject::new(candidate.context, configuration);
            let before = tally.samples;
            self.check_small(&mut subject, &mut bench, &mut tally)?;
            self.check_timed(&mut subject, &mut bench, &mut tally)?;
            if tally.samples == before {
                return Err(tally.nothing_checked(configuration));
            }
        }
        match tally.samples {
            0 => Err(Failure::new(FailureClass::Results, "nothing was verified: there was no configuration to check")),
            _ => Ok(tally.verified()),
        }
    }
}

/// A check that ran.
struct Finished {
    check: Check,
    plan: ConcretePlan,
    case: Arc<Case>,
    outcome: RunOutcome,
}

impl OutputsValidator {
    /// Judges outputs that a timed run left behind: the same data, compared as those of a validated run at this size.
    ///
    /// # Errors
    /// What differs; nothing to compare with is no error.
    pub fn judge_timed(
        &mut self,
        candidate: &Candidate<'_>,
        compile: &dyn Compile,
        execute: &mut dyn Execute,
        plan: &ConcretePlan,
        (inputs, fill): (&Inputs, Fill),
        outputs: IndexMap<String, Vec<u8>>,
    ) -> Result<f64, Failure> {
        let mut bench = Bench { candidate, compile, execute };
        let inputs = inputs.iter().map(|(name, value)| (name.clone(), *value)).collect();
        let check = Check { inputs, fill };
        let case = self.large_case(&check, plan, &mut bench)?;
        let outcome = RunOutcome { outputs, ..RunOutcome::default() };
        match case.judge(self.oracle.as_ref(), plan, &check, &outcome)? {
            Ok(share) => Ok(share),
            Err(differs) => {
                let message = format!("wrong results in {} after the timed runs", differs.output);
                Err(Failure::new(FailureClass::Results, message).with_fact(differs.numbers()))
            }
        }
    }

    /// Every check at the kernel's checked sizes.
    fn check_small(
        &mut self,
        subject: &mut Subject<'_>,
        bench: &mut Bench<'_>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let mut to_repeat: Option<Finished> = None;
        let mut passed: Option<String> = None;
        for check in self.checks.clone() {
            let plan = match subject.plan(&check, bench.candidate) {
                Ok(plan) => plan,
                Err(invalid) => {
                    tally.skip(&check, &invalid.to_string());
                    continue;
                }
            };
            if self.too_large(&check)? {
                self.check_large(&check, &plan, subject, bench, tally)?;
                continue;
            }
            let case = self.case(&check, &plan, bench)?;
            if let Some(why) = &case.vacuous {
                tally.reject(&check, why);
                continue;
            }
            let outcome = subject.run(&plan, check.fill, bench);
            let outcome = outcome.map_err(|failure| report::seen_at(failure, &check, subject.configuration))?;
            let share = compare_all(&case, &outcome);
            let finished = Finished { check, plan, case, outcome };
            let (Some(share), true) = (share, finished.outcome.changed_inputs.is_empty()) else {
                return Err(self.explain(&finished, passed, subject, bench));
            };
            let check = &finished.check;
            tally.count(check, share, if self.oracle.is_some() { BY_ORACLE } else { BY_REFERENCE });
            passed = Some(report::parameters(check, subject.configuration));
            if check.fill.distribution == Distribution::ExactIntegers {
                to_repeat = Some(finished);
            }
        }
        match to_repeat {
            Some(finished) => self.repeat(&finished, subject, bench, tally),
            None => Ok(()),
        }
    }

    /// Every size at which the candidate is timed.
    fn check_timed(
        &mut self,
        subject: &mut Subject<'_>,
        bench: &mut Bench<'_>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        for inputs in bench.candidate.timed {
            for check in timed_checks(inputs, &self.plan) {
                match subject.plan(&check, bench.candidate) {
                    Ok(plan) => self.check_large(&check, &plan, subject, bench, tally)?,
                    Err(invalid) => tally.skip(&check, &invalid.to_string()),
                }
            }
        }
        Ok(())
    }

    /// One check that the oracle samples.
    fn check_large(
        &mut self,
        check: &Check,
        plan: &ConcretePlan,
        subject: &mut Subject<'_>,
        bench: &mut Bench<'_>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let case = self.large_case(check, plan, bench)?;
        let Judges { reference: by_reference, samples: by_samples, product: by_product } = case.judges();
        for note in case.notes() {
            tally.note(note.clone());
        }
        if !by_reference && !by_samples && !by_product {
            tally.skip(check, "neither the reference nor an oracle is there");
            return Ok(());
        }
        let outcome = subject.run(plan, check.fill, bench);
        let outcome = outcome.map_err(|failure| report::seen_at(failure, check, subject.configuration))?;
        if !outcome.changed_inputs.is_empty() {
            return Err(inputs_changed(check, subject.configuration, &outcome));
        }
        let differs = match case.judge(self.oracle.as_ref(), plan, check, &outcome)? {
            Ok(share) => {
                let judges = [(by_reference, BY_REFERENCE), (by_product, BY_PRODUCT), (by_samples, BY_SAMPLES)];
                let mut judges = judges.into_iter().filter(|(there, _)| *there).map(|(_, words)| words);
                tally.count(check, share, judges.next().unwrap_or(BY_SAMPLES));
                judges.for_each(|words| tally.add(check, words));
                return Ok(());
            }
            Err(differs) => differs,
        };
        let parameters = report::parameters(check, subject.configuration);
        let mut failure = Failure::new(FailureClass::Results, format!("wrong results in {}", differs.output))
            .with_fact(format!("smallest failing execution parameters: {parameters}"))
            .with_fact(differs.numbers());
        if let Some(explained) = case.explained(plan, check) {
            let again = subject.run(plan, check.fill, bench).ok();
            let wrong = self.wrong_run(check, &explained, &outcome, again.as_ref(), subject);
            failure.facts.extend(wrong.pattern().into_iter().map(|sentence| format!("pattern: {sentence}")));
        }
        Err(failure.with_fact("right at every smaller size that was checked"))
    }

    /// What a large check should give.
    fn large_case(
        &mut self,
        check: &Check,
        plan: &ConcretePlan,
        bench: &mut Bench<'_>,
    ) -> Result<Arc<LargeCase>, Failure> {
        let OutputsValidator { reference, configuration, oracle, large, plan: limits, .. } = self;
        large.get(check, || {
            let mut reference_run = Subject::new(reference, configuration);
            let points = limits.points;
            LargeCase::new(&reference.kernel, oracle.as_ref(), points, &mut reference_run, plan, check, bench)
        })
    }

    /// What a check should give, computed before the candidate runs.
    fn case(&mut self, check: &Check, plan: &ConcretePlan, bench: &mut Bench<'_>) -> Result<Arc<Case>, Failure> {
        let OutputsValidator { reference, configuration, oracle, cases, .. } = self;
        cases.get(check, || match oracle {
            Some(oracle) => truths::by_oracle(&reference.kernel, oracle, plan, check),
            None => truths::by_reference((reference, configuration), check, bench),
        })
    }

    fn too_large(&self, check: &Check) -> Result<bool, Failure> {
        let work = self.oracle.as_ref().map(|oracle| oracle.work(&check.inputs())).transpose();
        Ok(work.map_err(truths::no_oracle)?.is_some_and(|work| work > MAX_READS))
    }

    /// Runs a check that passed once more: a race may lose the first time and win the second.
    fn repeat(
        &self,
        finished: &Finished,
        subject: &mut Subject<'_>,
        bench: &mut Bench<'_>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let Finished { check, plan, case, outcome } = finished;
        let again = subject.run(plan, check.fill, bench);
        let again = again.map_err(|failure| report::seen_at(failure, check, subject.configuration))?;
        if again.outputs == outcome.outputs {
            return Ok(());
        }
        if compare_all(case, &again).is_some() {
            note_changes(finished, tally);
            return Ok(());
        }
        let wrong = self.wrong_run(check, case, &again, Some(outcome), subject);
        let failure = report::failure(&wrong, None, Some("the same, one run earlier".to_owned()));
        Err(Failure { message: format!("{}, once in two runs", failure.message), ..failure })
    }

    /// The failure of a wrong run. Runs it again to see whether it changes, and once at the largest size, where the
    /// pattern tells more.
    fn explain(
        &mut self,
        finished: &Finished,
        right_before: Option<String>,
        subject: &mut Subject<'_>,
        bench: &mut Bench<'_>,
    ) -> Failure {
        let Finished { check, plan, case, outcome } = finished;
        if !outcome.changed_inputs.is_empty() {
            return inputs_changed(check, subject.configuration, outcome);
        }
        // A second failure while explaining the first adds nothing: what is known is told.
        let again = subject.run(plan, check.fill, bench).ok();
        let larger = self.larger(check, subject, bench);
        let smallest = self.wrong_run(check, case, outcome, again.as_ref(), subject);
        let larger = larger.as_ref().map(|(larger, again)| {
            self.wrong_run(&larger.check, &larger.case, &larger.outcome, again.as_ref(), subject)
        });
        let telling = larger.as_ref().filter(|larger| !larger.wrong_outputs().is_empty());
        report::failure(&smallest, telling, right_before)
    }

    /// The last check of whole numbers at another size, run twice; `None` if there is none that runs.
    fn larger(
        &mut self,
        check: &Check,
        subject: &mut Subject<'_>,
        bench: &mut Bench<'_>,
    ) -> Option<(Finished, Option<RunOutcome>)> {
        let position = self.checks.iter().position(|known| known == check)?;
        let later = self.checks[position..].iter().rev();
        let exact = later.filter(|known| known.fill.distribution == Distribution::ExactIntegers);
        let other: Vec<Check> = exact.filter(|known| known.inputs != check.inputs).cloned().collect();
        let (check, plan) = other.into_iter().find_map(|check| {
            let plan = subject.plan(&check, bench.candidate).ok()?;
            (!self.too_large(&check).ok()?).then_some((check, plan))
        })?;
        let case = self.case(&check, &plan, bench).ok()?;
        let outcome = subject.run(&plan, check.fill, bench).ok()?;
        let again = subject.run(&plan, check.fill, bench).ok();
        Some((Finished { check, plan, case, outcome }, again))
    }

    fn wrong_run<'a>(
        &'a self,
        check: &'a Check,
        case: &'a Case,
        outcome: &'a RunOutcome,
        again: Option<&'a RunOutcome>,
        subject: &'a Subject<'_>,
    ) -> WrongRun<'a> {
        let Subject { context, configuration, .. } = subject;
        WrongRun { context, configuration, check, case, oracle: self.oracle.as_ref(), outcome, again }
    }
}

/// The largest share of the allowed error; `None` if an output is wrong.
fn compare_all(case: &Case, outcome: &RunOutcome) -> Option<f64> {
    let mut share: f64 = 0.0;
    for (name, truth) in &case.truths {
        let comparison = truth.compare(&crate::data::decode(truth.element, &outcome.outputs[name]));
        if !comparison.right() {
            return None;
        }
        share = share.max(comparison.share);
    }
    Some(share)
}

/// Notes that results change although they are right, unless all of them are exact: then only a zero's sign differs.
fn note_changes(finished: &Finished, tally: &mut Tally) {
    let exact = finished.case.truths.values().all(|truth| truth.allowed.iter().all(|allowed| *allowed == 0.0));
    if !exact {
        tally.note("results change from run to run, within the tolerance".to_owned());
    }
}

fn inputs_changed(check: &Check, configuration: &Configuration, outcome: &RunOutcome) -> Failure {
    let names = outcome.changed_inputs.join(", ");
    Failure::new(FailureClass::Results, format!("the kernel writes to its inputs: {names}"))
        .with_fact(format!("execution parameters: {}", report::parameters(check, configuration)))
}
