//! A tuning parameter that a pass retires and that a region still reads when the pass ends. No value stays behind: what
//! the parameter stood for has to be gone, or written out.

use super::{PassFacts, Rejection};
use crate::edit::tokens::{Syntax, find};
use peak_grammar::ir::Region;

pub const CODE: &str = "peak::answer-uses-retired";

pub fn check(facts: &PassFacts<'_>) -> Option<Rejection> {
    let reads =
        |region: &Region, name: &str| !find(facts.after.regions.get(*region), name, Syntax::of(*region)).is_empty();
    facts.pass.retires.iter().find_map(|name| {
        let region = Region::ALL.into_iter().find(|region| reads(region, name))?;
        Some(Rejection {
            code: CODE,
            region,
            message: format!("the pass retires `{name}`, and the {region} still reads it"),
            facts: vec!["write what takes its place: the parameter has no value afterwards".to_owned()],
        })
    })
}
