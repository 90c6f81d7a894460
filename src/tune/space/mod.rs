//! The space of configurations under requirements: counted, enumerated and sampled, pruned as soon as names are known.
//!
//! Small spaces are walked ([`Space::survey`]): parameters are assigned in order, and a requirement, a `let` or a
//! `reject when` is looked at once every name that it reads (through `let`s too) has a value. Any space is counted and
//! sampled without walking its product ([`Space::count`], [`Space::sample`]): by clauses, in components that share no
//! clause. What is valid is what [`concrete_plan`] takes. Pure: no device, no clock.

mod clause;
mod component;
mod count;
mod formula;

pub use component::{COMPONENT_VISITS_MAX, Count};
pub use count::Explanation;

use super::Rng;
use crate::context::launch::{ConcretePlan, Invalid, check_requirement, concrete_plan};
use crate::context::scope::{ContextScope, Facts};
use crate::context::{Configuration, ExecutionParameters, Inputs, KernelContext};
use indexmap::IndexMap;
use peak_grammar::ir::{Condition, Expr, PlanStatement, Requirement};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

/// Partial and whole assignments that a survey visits, at most.
pub const VISITS_MAX: u64 = 100_000;

/// The configurations of a context at given inputs on a given device.
pub struct Space<'a> {
    context: &'a KernelContext,
    inputs: &'a Inputs,
    facts: &'a Facts,
    axes: Vec<Axis>,
    /// At index `d`, what is decided once the first `d` parameters have values.
    checks: Vec<Vec<Check<'a>>>,
    clauses: OnceLock<Vec<Arc<clause::Clause>>>,
    counted: OnceLock<count::Counted>,
}

struct Axis {
    name: String,
    values: Vec<i64>,
}

enum Check<'a> {
    Requirement(&'a Requirement),
    Let { name: &'a str, value: &'a Expr },
    Reject { when: &'a Condition, why: &'a str },
}

/// What a walk through a space found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// Valid assignments, each a value a parameter, in the order of the declaration (the last parameter varies first).
    pub valid: Vec<Vec<i64>>,
    /// How many assignments each reason excluded; a reason is charged with all that it cuts off at once.
    pub excluded: IndexMap<String, u128>,
    /// Assignments in all, valid or not; saturates.
    pub product: u128,
    /// Whether the walk reached the end: otherwise the other fields are lower bounds.
    pub complete: bool,
}

impl<'a> Space<'a> {
    /// The space of `context` at `inputs` on a device with `facts`.
    #[must_use]
    pub fn new(context: &'a KernelContext, inputs: &'a Inputs, facts: &'a Facts) -> Space<'a> {
        let axes = context.tuning.iter().map(|parameter| {
            let mut seen = BTreeSet::new();
            let values = parameter.values.all().into_iter().filter(|value| seen.insert(*value)).collect();
            Axis { name: parameter.name.clone(), values }
        });
        let (clauses, counted) = (OnceLock::new(), OnceLock::new());
        let mut space = Space { context, inputs, facts, axes: axes.collect(), checks: Vec::new(), clauses, counted };
        space.checks = space.checks_by_depth();
        space
    }

    /// Assignments in all, valid or not; saturates.
    #[must_use]
    pub fn product(&self) -> u128 {
        self.below(0)
    }

    /// Walks the space, visiting at most `visits_max` assignments.
    #[must_use]
    pub fn survey(&self, visits_max: u64) -> Survey {
        let mut survey = Survey { product: self.product(), complete: true, ..Survey::default() };
        let mut visits_left = visits_max;
        self.walk(&mut Vec::new(), &mut survey, &mut visits_left);
        survey
    }

    fn walk(&self, values: &mut Vec<i64>, survey: &mut Survey, visits_left: &mut u64) {
        let Some(left) = visits_left.checked_sub(1) else {
            survey.complete = false;
            return;
        };
        *visits_left = left;
        if let Err(invalid) = self.check_last(values) {
            let count = survey.excluded.entry(invalid.reason()).or_default();
            *count = count.saturating_add(self.below(values.len()));
            return;
        }
        let Some(axis) = self.axes.get(values.len()) else {
            survey.valid.push(values.clone());
            return;
        };
        for value in &axis.values {
            values.push(*value);
            self.walk(values, survey, visits_left);
            values.pop();
        }
    }

    /// How many configurations are valid: exactly where every component is small, else an estimate. Counted once.
    #[must_use]
    pub fn count(&self) -> Count {
        self.counted().total()
    }

    /// Why nothing is valid: what each reason excludes alone, and reasons that cannot be met together.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        count::explain(&self.domains(), self.clauses(), self.product())
    }

    /// One valid configuration, each equally likely; `None` where none was met: `tries` draws of each component that is
    /// too large to be counted.
    pub fn sample(&self, rng: &mut Rng, tries: u32) -> Option<Configuration> {
        let values = self.counted().sample(rng, tries, self.axes.len())?;
        let configuration = self.configuration(&values);
        // The plan has the last word on what is valid.
        self.plan(&configuration).ok().map(|_| configuration)
    }

    fn counted(&self) -> &count::Counted {
        self.counted.get_or_init(|| count::Counted::new(&self.domains(), self.clauses()))
    }

    fn clauses(&self) -> &[Arc<clause::Clause>] {
        self.clauses.get_or_init(|| {
            let places: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
            clause::clauses(self.context, self.inputs, self.facts, &places).into_iter().map(Arc::new).collect()
        })
    }

    fn domains(&self) -> Vec<Vec<i64>> {
        self.axes.iter().map(|axis| axis.values.clone()).collect()
    }

    /// The configuration of an assignment.
    #[must_use]
    pub fn configuration(&self, values: &[i64]) -> Configuration {
        self.axes.iter().zip(values).map(|(axis, value)| (axis.name.clone(), *value)).collect()
    }

    /// The plan of a configuration, if the space holds it.
    ///
    /// # Errors
    /// A parameter without a value or with one that it may not have, or the word of [`concrete_plan`].
    pub fn plan(&self, configuration: &Configuration) -> Result<ConcretePlan, Invalid> {
        for axis in &self.axes {
            match configuration.get(&axis.name) {
                Some(value) if axis.values.contains(value) => {}
                Some(value) => return Err(Invalid::Range(format!("{} may not be {value}", axis.name))),
                None => return Err(Invalid::Range(format!("{} has no value", axis.name))),
            }
        }
        concrete_plan(self.context, &self.parameters(configuration.clone()), self.facts)
    }

    /// A configuration of another context made one of this space: what is no parameter here is left out, and a
    /// parameter that it lacks, or whose value is not allowed, gets its start. Not necessarily valid.
    #[must_use]
    pub fn adapt(&self, configuration: &Configuration) -> Configuration {
        let start = self.context.start();
        let value = |axis: &Axis| {
            let kept = configuration.get(&axis.name).filter(|value| axis.values.contains(value));
            Some((axis.name.clone(), *kept.or_else(|| start.get(&axis.name))?))
        };
        self.axes.iter().filter_map(value).collect()
    }

    /// The checks that the last value decides, or everything where all have one.
    fn check_last(&self, values: &[i64]) -> Result<(), Invalid> {
        let whole = values.len() == self.axes.len();
        let checks = self.checks.get(values.len()).map(Vec::as_slice).unwrap_or_default();
        if checks.is_empty() && !whole {
            return Ok(());
        }
        let parameters = self.parameters(self.configuration(values));
        let scope = ContextScope::new(self.context, &parameters, self.facts);
        checks.iter().try_for_each(|check| run_check(check, &scope))?;
        if whole { concrete_plan(self.context, &parameters, self.facts).map(drop) } else { Ok(()) }
    }

    fn parameters(&self, configuration: Configuration) -> ExecutionParameters {
        ExecutionParameters { inputs: self.inputs.clone(), configuration }
    }

    /// Assignments of the parameters from `depth` on.
    fn below(&self, depth: usize) -> u128 {
        self.axes[depth..].iter().fold(1, |product: u128, axis| product.saturating_mul(axis.values.len() as u128))
    }

    fn checks_by_depth(&self) -> Vec<Vec<Check<'a>>> {
        let mut lets: HashMap<&str, usize> = HashMap::new();
        let mut checks: Vec<Vec<Check<'a>>> = Vec::new();
        checks.resize_with(self.axes.len() + 1, Vec::new);
        let mut rejects = Vec::new();
        for statement in &self.context.plan.statements {
            match statement {
                PlanStatement::Let { name, value } => {
                    let mut names = BTreeSet::new();
                    value.collect_names(&mut names);
                    let depth = self.depth(&names, &lets);
                    let known = lets.entry(name).or_default();
                    *known = depth.max(*known);
                    checks[depth].push(Check::Let { name, value });
                }
                PlanStatement::Reject { when, why } => rejects.push((when, why)),
                _ => {}
            }
        }
        for requirement in &self.context.requirements {
            let depth = self.condition_depth(&requirement.condition, &lets);
            checks[depth].push(Check::Requirement(requirement));
        }
        for (when, why) in rejects {
            checks[self.condition_depth(when, &lets)].push(Check::Reject { when, why });
        }
        checks
    }

    fn condition_depth(&self, condition: &Condition, lets: &HashMap<&str, usize>) -> usize {
        let mut names = BTreeSet::new();
        condition.collect_names(&mut names);
        self.depth(&names, lets)
    }

    /// How many parameters must have values before all of `names` have.
    fn depth(&self, names: &BTreeSet<String>, lets: &HashMap<&str, usize>) -> usize {
        let depth_of = |name: &String| {
            if self.inputs.contains_key(name) {
                return 0;
            }
            let axis = self.axes.iter().position(|axis| axis.name == *name).map(|index| index + 1);
            axis.or_else(|| lets.get(name.as_str()).copied()).unwrap_or(0)
        };
        names.iter().map(depth_of).max().unwrap_or(0)
    }
}

fn run_check(check: &Check<'_>, scope: &ContextScope<'_>) -> Result<(), Invalid> {
    match check {
        Check::Requirement(requirement) => check_requirement(requirement, scope),
        Check::Let { name, value } => {
            let failed = |error| Invalid::Expression { place: format!("let {name}"), error };
            value.evaluate(scope).map(drop).map_err(failed)
        }
        Check::Reject { when, why } => match when.evaluate(scope) {
            Ok(false) => Ok(()),
            Ok(true) => Err(Invalid::Rejected((*why).to_owned())),
            Err(error) => Err(Invalid::Expression { place: "reject when".to_owned(), error }),
        },
    }
}
