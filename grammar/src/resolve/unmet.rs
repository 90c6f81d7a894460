//! Requirements that no values of a declaration's own tuning parameters meet, whatever the kernel and the device. What
//! depends on those is left to the search over a space.

use crate::ir::{EvalError, Requirement, Scope, TuningParameter};
use crate::syntax::ast;
use crate::syntax::{Report, Span};
use std::collections::BTreeSet;

/// Assignments that are tried of one requirement, at most; of one with more, nothing is said.
const MAX_ASSIGNMENTS: usize = 65_536;

/// Reports each requirement that never holds. `forms` are those of `requirements`, in the same order.
pub(super) fn check<'f>(
    forms: impl Iterator<Item = &'f ast::Requirement>,
    requirements: &[Requirement],
    tuning: &[TuningParameter],
    out: &mut Report<'_>,
) {
    let spans: Vec<Span> = forms.map(|form| form.condition.span).collect();
    // Where one could not be read, which is which is not known.
    if spans.len() != requirements.len() {
        return;
    }
    for (span, requirement) in spans.into_iter().zip(requirements) {
        let Some(read) = never_holds(requirement, tuning) else { continue };
        let ranges: Vec<String> =
            read.iter().map(|parameter| format!("{} in {}", parameter.name, parameter.values)).collect();
        let message = format!("no values meet the requirement `{}`", requirement.name);
        let help = match ranges.is_empty() {
            true => "it is false whatever the parameters are: correct or remove it".to_owned(),
            false => format!("widen a range or relax it: {}", ranges.join("; ")),
        };
        out.push(out.error("peak::never-holds", span, message).label("never holds").help(help));
    }
}

/// The parameters that a requirement reads, where no assignment of them meets it.
fn never_holds<'t>(requirement: &Requirement, tuning: &'t [TuningParameter]) -> Option<Vec<&'t TuningParameter>> {
    let mut names = BTreeSet::new();
    requirement.condition.collect_names(&mut names);
    let read: Vec<&TuningParameter> = tuning.iter().filter(|parameter| names.contains(&parameter.name)).collect();
    let ranges: Vec<Vec<i64>> = read.iter().map(|parameter| parameter.values.all()).collect();
    let count = ranges.iter().try_fold(1usize, |all, range| all.checked_mul(range.len()))?;
    if count > MAX_ASSIGNMENTS {
        return None;
    }
    for mut number in 0..count {
        let mut values = Vec::new();
        for range in &ranges {
            values.push(range[number % range.len()]);
            number /= range.len();
        }
        match requirement.condition.evaluate(&Assignment { read: &read, values: &values }) {
            Ok(false) | Err(EvalError::NotExact { .. } | EvalError::DivisionByZero(_) | EvalError::Overflow(_)) => {}
            // It holds, or says something of the kernel or the device.
            Ok(true) | Err(EvalError::UnknownName(_) | EvalError::UnknownFact(_)) => return None,
        }
    }
    Some(read)
}

struct Assignment<'a> {
    read: &'a [&'a TuningParameter],
    values: &'a [i64],
}

impl Scope for Assignment<'_> {
    fn value(&self, name: &str) -> Option<i64> {
        self.read.iter().position(|parameter| parameter.name == name).and_then(|at| self.values.get(at).copied())
    }

    fn fact(&self, _: &str) -> Option<i64> {
        None
    }

    fn size_of(&self, _: &str) -> Option<i64> {
        None
    }
}
