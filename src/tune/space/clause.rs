//! What a configuration has to meet, clause by clause: requirements, `let`s, `reject when`, and the numbers of launches.
//!
//! All clauses together hold exactly where [`concrete_plan`](crate::context::launch::concrete_plan) takes the
//! configuration; a property test compares the two.

use super::formula::{Bounds, Formula, Names, NoValue, Test};
use crate::context::launch::MAX_LAUNCHES;
use crate::context::scope::{ContextScope, Facts};
use crate::context::tensor_map;
use crate::context::{Configuration, ExecutionParameters, Inputs, KernelContext};
use peak_grammar::ir::{ArgumentKind, Condition, ElementType, Expr, PlanStatement, Scope};
use std::collections::BTreeSet;

/// The reason that grids, blocks and shapes are counted under, as [`crate::context::launch::Invalid::reason`] has it.
const RANGE: &str = "grid, block or shape out of range";

/// One thing that must hold.
#[derive(Clone, Debug)]
pub struct Clause {
    /// What it is counted under: several clauses may share one.
    pub reason: String,
    /// Places that it reads.
    pub places: BTreeSet<usize>,
    /// Device facts that it reads, `let`s included.
    pub facts: BTreeSet<String>,
    /// Whether bounds may decide it: not where it speaks of a fact that is not stated, and so may hold after all.
    decided_by_bounds: bool,
    need: Need,
}

#[derive(Clone, Debug)]
enum Need {
    /// It holds, or speaks of a fact that is not stated.
    Holds(Test),
    /// It has a value, and does not hold.
    Fails(Test),
    /// It has a value within bounds.
    Within(Formula, Bounds),
    /// Either the count is zero or less, or the clause holds: what stands in a `repeat`.
    Unless(Formula, Box<Need>),
    /// Launches in all, each repeated so often, are few enough.
    Launches(Vec<Vec<Formula>>),
    /// A tensor map that devices take.
    Map(Map),
    /// Nowhere: a tensor map over what is no array of the plan.
    Never,
}

/// A tensor map over an array.
#[derive(Clone, Debug)]
struct Map {
    element: ElementType,
    extents: Vec<Formula>,
    sides: Vec<Formula>,
    swizzle: u32,
}

impl Map {
    fn is_taken(&self, values: &[i64]) -> bool {
        let size = |formula: &Formula| u64::try_from(formula.value(values).ok()?).ok();
        let sizes = |formulas: &[Formula]| formulas.iter().map(size).collect::<Option<Vec<u64>>>();
        let (Some(extents), Some(sides)) = (sizes(&self.extents), sizes(&self.sides)) else { return false };
        tensor_map::checked("", self.element, &extents, &sides, self.swizzle).is_ok()
    }
}

impl Need {
    fn places(&self, into: &mut BTreeSet<usize>) {
        match self {
            Need::Holds(test) | Need::Fails(test) => test.places(into),
            Need::Within(formula, _) => formula.places(into),
            Need::Unless(count, inner) => {
                count.places(into);
                inner.places(into);
            }
            Need::Launches(launches) => launches.iter().flatten().for_each(|count| count.places(into)),
            Need::Map(map) => map.extents.iter().chain(&map.sides).for_each(|size| size.places(into)),
            Need::Never => {}
        }
    }

    fn is_met(&self, values: &[i64]) -> bool {
        match self {
            Need::Holds(test) => matches!(test.holds(values), Ok(true) | Err(NoValue::Unstated)),
            Need::Fails(test) => test.holds(values) == Ok(false),
            Need::Within(formula, (low, high)) => {
                formula.value(values).is_ok_and(|value| *low <= value && value <= *high)
            }
            Need::Unless(count, inner) => count.value(values).is_ok_and(|count| count <= 0) || inner.is_met(values),
            Need::Launches(launches) => {
                let times = |counts: &Vec<Formula>| {
                    let count = |formula: &Formula| formula.value(values).map_or(0, |count| count.max(0));
                    counts.iter().map(count).fold(1i64, i64::saturating_mul)
                };
                let most = i64::try_from(MAX_LAUNCHES).unwrap_or(i64::MAX);
                launches.iter().map(times).fold(0i64, i64::saturating_add) <= most
            }
            Need::Map(map) => map.is_taken(values),
            Need::Never => false,
        }
    }
}

impl Clause {
    fn new(reason: impl Into<String>, need: Need, facts: BTreeSet<String>, stated: &Facts) -> Clause {
        let mut places = BTreeSet::new();
        need.places(&mut places);
        let decided_by_bounds = facts.iter().all(|fact| stated.contains_key(fact));
        Clause { reason: reason.into(), places, facts, decided_by_bounds, need }
    }

    /// Whether an assignment meets it; only its own places count.
    pub fn is_met(&self, values: &[i64]) -> bool {
        self.need.is_met(values)
    }

    /// Whether nothing within the bounds can meet it.
    pub fn never(&self, open: &[Bounds]) -> bool {
        match &self.need {
            Need::Holds(test) => self.decided_by_bounds && test.never(open),
            Need::Within(formula, (low, high)) => {
                formula.bounds(open).is_some_and(|(least, most)| most < *low || *high < least)
            }
            Need::Fails(_) | Need::Unless(..) | Need::Launches(_) | Need::Map(_) => false,
            Need::Never => true,
        }
    }
}

/// Every clause of a context at given inputs on a device with `facts`. `places` are its tuning parameters, in order.
pub fn clauses(context: &KernelContext, inputs: &Inputs, facts: &Facts, places: &[&str]) -> Vec<Clause> {
    let parameters = ExecutionParameters { inputs: inputs.clone(), configuration: Configuration::new() };
    let sizes = ContextScope::new(context, &parameters, facts);
    let mut made = Maker {
        context,
        inputs,
        facts,
        places,
        sizes: &sizes,
        lets: Vec::new(),
        arrays: Vec::new(),
        clauses: Vec::new(),
    };
    made.lets();
    made.requirements();
    for argument in &context.kernel.arguments {
        if let ArgumentKind::Array { shape, element, .. } = &argument.kind {
            made.arrays.push((&argument.name, *element, shape));
            made.extents(&format!("the shape of {}", argument.name), shape, (1, i64::MAX), &[]);
        }
    }
    let mut launches = Vec::new();
    made.statements(&context.plan.statements, &mut Vec::new(), &mut launches);
    if !launches.is_empty() {
        made.push(RANGE, Need::Launches(launches), &[], &[]);
    }
    made.clauses
}

struct Maker<'a> {
    context: &'a KernelContext,
    inputs: &'a Inputs,
    facts: &'a Facts,
    places: &'a [&'a str],
    sizes: &'a ContextScope<'a>,
    /// Values of `let`s, written out, with the facts that they read.
    lets: Vec<(&'a str, Formula, BTreeSet<String>)>,
    /// Arrays that statements may name: arguments, and scratch as far as it is declared.
    arrays: Vec<(&'a str, ElementType, &'a [Expr])>,
    clauses: Vec<Clause>,
}

impl Names for Maker<'_> {
    fn name(&self, name: &str) -> Formula {
        if let Some(value) = self.inputs.get(name) {
            return Formula::Constant(*value);
        }
        if let Some(place) = self.places.iter().position(|place| *place == name) {
            return Formula::Place(place);
        }
        let known = self.lets.iter().rfind(|(own, ..)| *own == name);
        known.map_or(Formula::Missing(NoValue::Wrong), |(_, formula, _)| formula.clone())
    }

    fn fact(&self, name: &str) -> Option<i64> {
        self.facts.get(name).copied()
    }

    fn size_of(&self, what: &str) -> Option<i64> {
        self.sizes.size_of(what)
    }
}

impl<'a> Maker<'a> {
    fn lets(&mut self) {
        for statement in &self.context.plan.statements {
            let PlanStatement::Let { name, value } = statement else { continue };
            let facts = self.facts_of(&[value], &[]);
            let formula = Formula::new(value, self);
            let need = Need::Within(formula.clone(), (i64::MIN, i64::MAX));
            self.clauses.push(Clause::new(
                format!("let {name} is not a whole number"),
                need,
                facts.clone(),
                self.facts,
            ));
            // What reads a `let` without a value has none either, whatever kept it from one.
            let formula = match formula {
                Formula::Missing(_) => Formula::Missing(NoValue::Wrong),
                whole => whole,
            };
            self.lets.push((name, formula, facts));
        }
    }

    /// Requirements; one that joins several conditions is several clauses of one reason, so that they come apart.
    fn requirements(&mut self) {
        for requirement in &self.context.requirements {
            let reason = format!("requirement {}", requirement.name);
            let stated = self.facts_of(&[], &[&requirement.condition]).iter().all(|fact| self.facts.contains_key(fact));
            // One that speaks of a fact which is not stated holds as a whole: it must stay whole.
            let parts = match &requirement.condition {
                Condition::And(parts) if stated => parts.iter().collect(),
                whole => vec![whole],
            };
            for part in parts {
                self.push(&reason, Need::Holds(Test::new(part, self)), &[], &[part]);
            }
        }
    }

    /// `repeats`: counts of the `repeat`s around, outermost first.
    fn statements(
        &mut self,
        statements: &'a [PlanStatement],
        repeats: &mut Vec<&'a Expr>,
        launches: &mut Vec<Vec<Formula>>,
    ) {
        for statement in statements {
            match statement {
                PlanStatement::Let { name, value } => {
                    let formula = Formula::new(value, self);
                    let need = Need::Within(formula, (i64::MIN, i64::MAX));
                    self.guarded(&format!("let {name} is not a whole number"), need, repeats, &[value], &[]);
                }
                PlanStatement::Scratch { name, shape, element } => {
                    self.arrays.push((name, *element, shape));
                    self.extents(&format!("the shape of {name}"), shape, (1, i64::MAX), repeats);
                }
                PlanStatement::Fill { .. } => launches.push(self.counts(repeats)),
                PlanStatement::TensorMap { name, array, box_shape, swizzle } => {
                    self.tensor_map(name, array, box_shape, *swizzle, repeats);
                }
                PlanStatement::Launch(launch) => {
                    let name = &launch.kernel;
                    let whole = (1, i64::from(u32::MAX));
                    self.extents(&format!("grid of {name}"), &launch.grid, whole, repeats);
                    self.extents(&format!("block of {name}"), &launch.block, whole, repeats);
                    let cluster = launch.cluster.as_deref().unwrap_or_default();
                    self.extents(&format!("cluster of {name}"), cluster, whole, repeats);
                    let shared: Vec<Expr> = launch.shared.iter().cloned().collect();
                    self.extents("shared", &shared, (0, i64::from(u32::MAX)), repeats);
                    launches.push(self.counts(repeats));
                }
                PlanStatement::Repeat { count, body } => {
                    let need = Need::Within(Formula::new(count, self), (i64::MIN, i64::MAX));
                    self.guarded("repeat is not a whole number", need, repeats, &[count], &[]);
                    repeats.push(count);
                    self.statements(body, repeats, launches);
                    repeats.pop();
                }
                PlanStatement::Reject { when, why } => {
                    let need = Need::Fails(Test::new(when, self));
                    self.guarded(&format!("reject: {why}"), need, repeats, &[], &[when]);
                }
            }
        }
    }

    fn tensor_map(&mut self, name: &str, array: &str, sides: &[Expr], swizzle: u32, repeats: &[&Expr]) {
        let reason = format!("tensor map {name}");
        let Some((_, element, shape)) = self.arrays.iter().find(|(own, ..)| *own == array).copied() else {
            return self.guarded(&reason, Need::Never, repeats, &[], &[]);
        };
        let formulas = |exprs: &[Expr]| exprs.iter().map(|expr| Formula::new(expr, self)).collect::<Vec<_>>();
        let map = Map { element, extents: formulas(shape), sides: formulas(sides), swizzle };
        for (side, formula) in sides.iter().zip(map.sides.clone()) {
            let defined = Need::Within(formula, (i64::MIN, i64::MAX));
            self.guarded(&format!("the box of {name} is not a whole number"), defined, repeats, &[side], &[]);
        }
        let read: Vec<&Expr> = shape.iter().chain(sides).collect();
        self.guarded(&reason, Need::Map(map), repeats, &read, &[]);
    }

    fn counts(&self, repeats: &[&Expr]) -> Vec<Formula> {
        repeats.iter().map(|count| Formula::new(count, self)).collect()
    }

    /// A clause each: that it has a value, counted by its place, and that it is within bounds.
    fn extents(&mut self, place: &str, extents: &[Expr], within: Bounds, repeats: &[&Expr]) {
        for extent in extents {
            let formula = Formula::new(extent, self);
            let defined = Need::Within(formula.clone(), (i64::MIN, i64::MAX));
            self.guarded(&format!("{place} is not a whole number"), defined, repeats, &[extent], &[]);
            self.guarded(RANGE, Need::Within(formula, within), repeats, &[extent], &[]);
        }
    }

    fn guarded(&mut self, reason: &str, need: Need, repeats: &[&Expr], exprs: &[&Expr], conditions: &[&Condition]) {
        let wrap = |need, count: &&Expr| Need::Unless(Formula::new(count, self), Box::new(need));
        let need = repeats.iter().rev().fold(need, wrap);
        let all: Vec<&Expr> = exprs.iter().chain(repeats).copied().collect();
        self.push(reason, need, &all, conditions);
    }

    fn push(&mut self, reason: &str, need: Need, exprs: &[&Expr], conditions: &[&Condition]) {
        let facts = self.facts_of(exprs, conditions);
        self.clauses.push(Clause::new(reason, need, facts, self.facts));
    }

    /// Facts that are read, through `let`s too.
    fn facts_of(&self, exprs: &[&Expr], conditions: &[&Condition]) -> BTreeSet<String> {
        let (mut facts, mut names) = (BTreeSet::new(), BTreeSet::new());
        for expr in exprs {
            expr.collect_facts(&mut facts);
            expr.collect_names(&mut names);
        }
        for condition in conditions {
            condition.collect_facts(&mut facts);
            condition.collect_names(&mut names);
        }
        facts.extend(self.lets.iter().filter(|(name, ..)| names.contains(*name)).flat_map(|(.., own)| own.clone()));
        facts
    }
}
