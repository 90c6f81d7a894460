//! The steps of a workflow in one language on one device, from the declarations alone: whether each transformation may
//! apply where it stands.
//!
//! What a model will write, what turns out faster and what is chosen are not known here. So a walk keeps every context
//! that there may be, and says that a transformation does not apply only where it applies to none of them. Runs nothing,
//! asks nobody.

use super::written::{Role, applications};
use crate::context::KernelContext;
use crate::context::scope::Facts;
use crate::lowering::foreseen;
use crate::plan::{NotApplicable, PlannedStep, TransformationPlan};
use crate::workflow::{ApplyError, planned};
use indexmap::IndexMap;
use peak_grammar::ir::{
    Action, Application, Expr, FailurePolicy, Library, PlanStatement, Region, Workflow, WorkflowStep,
};
use peak_grammar::specialize::{self, SpecializeError};

/// Contexts that are followed at once, at most: beyond, only what no context can mend is said.
const MAX_STATES: usize = 64;
/// Rounds of a `repeat` or a `search` that are followed, at most.
const MAX_ROUNDS: usize = 8;

/// Why a transformation does not apply.
#[derive(Clone, Debug)]
pub enum Reason {
    /// Its plan says so.
    Plan(NotApplicable),
    /// It belongs to packs of other devices.
    Device(SpecializeError),
}

/// Where a workflow may run.
#[derive(Clone, Debug)]
pub struct Surroundings<'l> {
    /// The device's name; none for a device without a file.
    pub device: Option<&'l str>,
    /// `cuda`, `hlsl`, ...
    pub language: String,
    /// The facts in force.
    pub facts: Facts,
}

/// Why each application of a workflow, in the order of the text, cannot apply; none where it may.
pub fn reasons(
    library: &Library,
    workflow: &Workflow,
    start: KernelContext,
    surroundings: &Surroundings<'_>,
) -> Vec<Option<Reason>> {
    let applications = applications(&workflow.steps);
    let fates = vec![Fate::Unseen; applications.len()];
    let mut walk = Walk {
        library,
        surroundings,
        applications,
        fates,
        named: IndexMap::new(),
        seen: Vec::new(),
        asks: workflow.on_failure.then == FailurePolicy::Ask,
        cut: false,
    };
    let start = State { context: start, unknown: Vec::new(), guessed: false };
    walk.seen.push(start.clone());
    walk.steps(&workflow.steps, vec![start]);
    let cut = walk.cut;
    let told = |fate: Fate| match fate {
        Fate::Never(Reason::Plan(reason)) if cut && !reason.is_lasting() => None,
        Fate::Never(reason) => Some(reason),
        Fate::Unseen | Fate::May => None,
    };
    walk.fates.into_iter().map(told).collect()
}

/// What is known of an application.
#[derive(Clone)]
enum Fate {
    Unseen,
    May,
    Never(Reason),
}

/// A context that there may be.
#[derive(Clone, PartialEq)]
struct State {
    context: KernelContext,
    /// Regions that a model has written by then, or a step whose result is not foreseen. Their text is empty.
    unknown: Vec<Region>,
    /// A transformation that does not apply was taken to have been mended: parameters and requirements are unknown too.
    guessed: bool,
}

struct Walk<'w> {
    library: &'w Library,
    surroundings: &'w Surroundings<'w>,
    applications: Vec<(&'w Application, Role)>,
    fates: Vec<Fate>,
    named: IndexMap<&'w str, Vec<State>>,
    seen: Vec<State>,
    /// Whether a person is asked where an `apply` fails.
    asks: bool,
    /// There were more contexts than are followed.
    cut: bool,
}

impl<'w> Walk<'w> {
    fn steps(&mut self, steps: &'w [WorkflowStep], mut states: Vec<State>) -> Vec<State> {
        for step in steps {
            states = self.step(step, states);
            let seen = std::mem::take(&mut self.seen);
            self.seen = self.joined(seen, states.clone());
        }
        states
    }

    /// The contexts that there may be after a step.
    fn step(&mut self, step: &'w WorkflowStep, states: Vec<State>) -> Vec<State> {
        match step {
            WorkflowStep::Apply(application) => self.apply(application, &states),
            WorkflowStep::Try(application) => {
                let after = self.attempts(application, &states);
                self.joined(states, after)
            }
            WorkflowStep::ChooseBest(branches) => {
                let mut all = states.clone();
                for branch in branches {
                    let after = self.steps(branch, states.clone());
                    all = self.joined(all, after);
                }
                all
            }
            WorkflowStep::Repeat { times, body, .. } => {
                self.rounds(states, *times as usize, |walk, states| walk.steps(body, states))
            }
            WorkflowStep::LetModelChoose(from) => self.choice(from, states),
            WorkflowStep::Search { from, .. } => {
                self.rounds(states, from.len(), |walk, states| walk.choice(from, states))
            }
            WorkflowStep::Checkpoint(name) => {
                let held = self.named.swap_remove(name.as_str()).unwrap_or_default();
                let all = self.joined(held, states.clone());
                self.named.insert(name, all);
                states
            }
            WorkflowStep::Restore(name) => self.named.get(name.as_str()).cloned().unwrap_or(states),
            WorkflowStep::KeepBest => self.seen.clone(),
            WorkflowStep::CompareWith(_) => states,
        }
    }

    /// An `apply` that fails ends the run, so what follows is seen from where it held; where it never does, as if it
    /// were mended. A person who is asked may go on without it.
    fn apply(&mut self, application: &'w Application, states: &[State]) -> Vec<State> {
        let after = self.attempts(application, states);
        let after = match after.is_empty() {
            true => states.iter().map(|state| state.taken_as_mended(application)).collect(),
            false => after,
        };
        match self.asks {
            true => self.joined(after, states.to_vec()),
            false => after,
        }
    }

    fn choice(&mut self, from: &'w [Application], states: Vec<State>) -> Vec<State> {
        let mut all = states.clone();
        for application in from {
            let after = self.attempts(application, &states);
            all = self.joined(all, after);
        }
        all
    }

    fn rounds(
        &mut self,
        states: Vec<State>,
        times: usize,
        mut round: impl FnMut(&mut Self, Vec<State>) -> Vec<State>,
    ) -> Vec<State> {
        let mut all = states;
        for _ in 0..times.min(MAX_ROUNDS) {
            let after = round(self, all.clone());
            let before = all.len();
            all = self.joined(all, after);
            if all.len() == before {
                return all;
            }
        }
        self.cut |= times > MAX_ROUNDS;
        all
    }

    /// The contexts after a transformation, of those to which it applies; its fate is noted.
    fn attempts(&mut self, application: &'w Application, states: &[State]) -> Vec<State> {
        let mut after = Vec::new();
        let mut why = None;
        for state in states {
            match self.attempt(application, state) {
                Ok(state) => after.push(state),
                Err(reason) => {
                    why.get_or_insert(reason);
                }
            }
        }
        let after = self.joined(Vec::new(), after);
        if let Some(at) = self.applications.iter().position(|(known, _)| std::ptr::eq(*known, application)) {
            let role = self.applications[at].1;
            let ends_there = matches!(role, Role::Apply | Role::Branch);
            let settled = ends_there && matches!(self.fates[at], Fate::Never(_));
            if settled {
                // Nothing comes after an `apply` that failed: a later round does not clear it.
            } else if !after.is_empty() {
                self.fates[at] = Fate::May;
            } else if matches!(self.fates[at], Fate::Unseen)
                && let Some(reason) = why
            {
                self.fates[at] = Fate::Never(reason);
            }
        }
        after
    }

    fn attempt(&self, application: &Application, state: &State) -> Result<State, Reason> {
        let Surroundings { device, facts, .. } = self.surroundings;
        if device.is_some()
            && let Err(error @ SpecializeError::NotFor { .. }) =
                specialize::transformation(self.library, &application.transformation, *device)
        {
            return Err(Reason::Device(error));
        }
        let mut state = state.clone();
        loop {
            match planned(self.library, *device, facts, application, &state.context).map_err(|error| *error) {
                Ok(plan) => return Ok(state.after(&plan)),
                Err(ApplyError::NotApplicable(NotApplicable::NeedsLet { name, .. }))
                    if state.unknown.contains(&Region::HostCode) =>
                {
                    state.take_let_as_written(name);
                }
                Err(ApplyError::NotApplicable(reason)) if reason.is_lasting() || !state.guessed => {
                    return Err(Reason::Plan(reason));
                }
                Err(_) => return Ok(state.taken_as_mended(application)),
            }
        }
    }

    /// Both, each context once.
    fn joined(&mut self, mut states: Vec<State>, more: Vec<State>) -> Vec<State> {
        for state in more {
            if states.contains(&state) {
                continue;
            }
            if states.len() == MAX_STATES {
                self.cut = true;
                break;
            }
            states.push(state);
        }
        states
    }
}

impl State {
    fn after(&self, plan: &TransformationPlan) -> State {
        let mut after =
            State { context: foreseen(&self.context, plan), unknown: self.unknown.clone(), guessed: self.guessed };
        for step in plan.passes.iter().flat_map(|pass| &pass.steps) {
            match step {
                PlannedStep::Request(request) => after.forget(request.region),
                PlannedStep::Mechanical { action: Action::Rename { .. }, .. } => {
                    Region::ALL.into_iter().for_each(|region| after.forget(region));
                }
                // What `set` does to the launch plan is foreseen.
                PlannedStep::Mechanical { region: Region::HostCode, .. } => {}
                PlannedStep::Mechanical { region, .. } => after.forget(*region),
            }
        }
        after
    }

    fn forget(&mut self, region: Region) {
        if !self.unknown.contains(&region) {
            self.unknown.push(region);
        }
        self.context.regions.get_mut(region).clear();
    }

    fn take_let_as_written(&mut self, name: String) {
        self.context.plan.statements.push(PlanStatement::Let { name, value: Expr::Integer(1) });
    }

    fn taken_as_mended(&self, application: &Application) -> State {
        let mut state = State { guessed: true, ..self.clone() };
        Region::ALL.into_iter().for_each(|region| state.forget(region));
        state.context.applied.push(application.transformation.clone());
        state
    }
}
