//! A name in capitals that nothing declares or defines: a tuning parameter that the pass does not introduce.

use super::words::{capitals, declared, defines, line_of};
use super::{PassFacts, Rejection};
use peak_grammar::ir::{PlanStatement, Region};
use std::collections::BTreeSet;

pub const CODE: &str = "peak::answer-undeclared-parameter";

/// Names in capitals of C, C++ and HLSL themselves.
const COMMON: [&str; 14] = [
    "FLT_MAX",
    "FLT_MIN",
    "FLT_EPSILON",
    "DBL_MAX",
    "INT_MAX",
    "INT_MIN",
    "UINT_MAX",
    "INFINITY",
    "NAN",
    "NULL",
    "INT32_MAX",
    "UINT32_MAX",
    "INT64_MAX",
    "UINT64_MAX",
];

pub fn check(facts: &PassFacts<'_>) -> Option<Rejection> {
    let known = known(facts);
    for region in [Region::Macros, Region::DeviceCode] {
        let text = facts.after.regions.get(region);
        let Some((name, at)) = capitals(text).into_iter().find(|(name, _)| !known.contains(name)) else { continue };
        let line = line_of(text, at);
        let parameters: Vec<&str> = facts.after.tuning.iter().map(|parameter| parameter.name.as_str()).collect();
        return Some(Rejection {
            code: CODE,
            region,
            message: format!("{region}, line {line}: nothing declares `{name}`{}", nearest(name, &known)),
            facts: vec![format!("the tuning parameters are: {}", parameters.join(", "))],
        });
    }
    None
}

fn known<'a>(facts: &'a PassFacts<'_>) -> BTreeSet<&'a str> {
    let context = facts.after;
    let mut known: BTreeSet<&str> = BTreeSet::from(["ELEMENT", "ACCUMULATOR"]);
    known.extend(COMMON);
    known.extend(facts.spelling.known_capitals);
    known.extend(context.tuning.iter().map(|parameter| parameter.name.as_str()));
    known.extend(context.kernel.arguments.iter().map(|argument| argument.name.as_str()));
    known.extend(context.plan.statements.iter().filter_map(|statement| match statement {
        PlanStatement::Scratch { name, .. } | PlanStatement::TensorMap { name, .. } => Some(name.as_str()),
        _ => None,
    }));
    for region in [Region::Macros, Region::DeviceCode] {
        let text = context.regions.get(region);
        known.extend(defines(text).into_iter().map(|(name, _)| name));
        known.extend(declared(text));
        // `A_T`: the prelude has a type for each argument, scratch and tensor map.
        let typed: Vec<&str> = capitals(text).into_iter().map(|(name, _)| name).collect();
        let bases: Vec<&str> = typed.iter().filter_map(|name| name.strip_suffix("_T")).collect();
        let of: Vec<&str> = typed.iter().filter(|name| name.ends_with("_T")).copied().collect();
        known.extend(of.into_iter().zip(bases).filter(|(_, base)| has_type(facts, base)).map(|(name, _)| name));
    }
    known
}

fn has_type(facts: &PassFacts<'_>, base: &str) -> bool {
    let argument = facts.after.kernel.arguments.iter().any(|argument| argument.name == base);
    let of_plan = |statement: &PlanStatement| match statement {
        PlanStatement::Scratch { name, .. } | PlanStatement::TensorMap { name, .. } => name == base,
        _ => false,
    };
    argument || facts.after.plan.statements.iter().any(of_plan)
}

fn nearest(name: &str, known: &BTreeSet<&str>) -> String {
    let near = known.iter().map(|other| (strsim::jaro_winkler(name, other), other));
    match near.filter(|(likeness, _)| *likeness > 0.88).max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((_, other)) => format!("; did you mean `{other}`?"),
        None => String::new(),
    }
}
