//! A tuning parameter that no region uses when the transformation ends.

use super::{PassFacts, Rejection};
use crate::context::KernelContext;
use crate::edit::tokens::{Syntax, find};
use peak_grammar::ir::Region;

pub const CODE: &str = "peak::answer-unused-parameter";

pub fn check(facts: &PassFacts<'_>) -> Option<Rejection> {
    let introduced = |name: &str| facts.plan.introduces.iter().any(|parameter| parameter.name == name);
    // One that was idle before is not this transformation's doing.
    let lost = |name: &str| !used(facts.after, name) && (introduced(name) || used(facts.start, name));
    let parameter = facts.after.tuning.iter().find(|parameter| lost(&parameter.name))?;
    let requests: Vec<Region> = facts.pass.requests().map(|request| request.region).collect();
    let region = if requests.contains(&Region::DeviceCode) { None } else { requests.first().copied() };
    Some(Rejection {
        code: CODE,
        region: region.unwrap_or(Region::DeviceCode),
        message: format!("the tuning parameter `{}` is used in none of the three regions", parameter.name),
        facts: vec!["a number may stand where the parameter should: write its name instead".to_owned()],
    })
}

fn used(context: &KernelContext, name: &str) -> bool {
    Region::ALL.iter().any(|region| !find(context.regions.get(*region), name, Syntax::of(*region)).is_empty())
}
