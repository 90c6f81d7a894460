//! Sets of values, tuning parameters and requirements.

use super::scope::Scope;
use super::upper_snake;
use crate::ir::{Requirement, TuningParameter, Values};
use crate::syntax::ast::{self, Introduced, ValueSet};
use crate::syntax::{Report, Span};

/// Values of one set, at most: more are a slip, and would be listed.
const MAX_VALUES: i64 = 4096;

/// The set, checked to hold something; none where it does not.
pub(super) fn values(set: &ValueSet, out: &mut Report<'_>) -> Option<Values> {
    let mut wrong = |span: Span, message: &str, help: &str| {
        out.push(out.error("peak::values", span, message).help(help));
        None
    };
    match set {
        ValueSet::List(list) => {
            for (at, value) in list.iter().enumerate() {
                if list[..at].iter().any(|earlier| earlier.value == value.value) {
                    return wrong(value.span, "the value is listed twice", "remove one of them");
                }
            }
            Some(Values::List(list.iter().map(|value| value.value).collect()))
        }
        ValueSet::Powers { base, low, high } => {
            let mut power = 1i64;
            while power < low.value && base.value > 1 {
                power = power.saturating_mul(base.value);
            }
            if base.value < 2 {
                return wrong(base.span, "the base of powers is at least 2", "`powers of 2 from 8 to 64`, say");
            }
            if power != low.value {
                let help = match power {
                    1 => "the lowest power is 1".to_owned(),
                    _ => format!("the nearest powers are {} and {power}", power / base.value),
                };
                return wrong(low.span, "the lower bound is no power of the base", &help);
            }
            if high.value < low.value {
                return wrong(high.span, "the bounds hold no value", "write the lower bound first");
            }
            Some(Values::PowersOf { base: base.value, low: low.value, high: high.value })
        }
        ValueSet::Range { low, high, step } => {
            let distance = step.as_ref().map_or(1, |step| step.value);
            if distance < 1 {
                let span = step.as_ref().map_or(low.span, |step| step.span);
                return wrong(span, "a step is at least 1", "`4 to 64 step 4`, say");
            }
            if high.value < low.value {
                return wrong(high.span, "the bounds hold no value", "write the lower bound first");
            }
            if high.value.saturating_sub(low.value) / distance >= MAX_VALUES {
                return wrong(high.span, "the range holds more than 4096 values", "use a larger step, or powers");
            }
            Some(Values::Range { low: low.value, high: high.value, step: distance })
        }
    }
}

/// A tuning parameter: name style, values, and a start among them.
pub(super) fn parameter(form: &Introduced, by: Option<&str>, out: &mut Report<'_>) -> Option<TuningParameter> {
    let name = upper_snake(&form.name, out);
    let values = values(&form.values, out)?;
    if let Some(start) = form.start.as_ref().filter(|start| !values.contains(start.value)) {
        let message = format!("the start {} is not among the values", start.value);
        out.push(out.error("peak::values", start.span, message).help(format!("the values are {values}")));
    }
    let start = form.start.as_ref().map(|start| start.value);
    Some(TuningParameter { name, values, start, introduced_by: by.map(str::to_owned) })
}

/// A requirement; `number` names it where it has no name.
pub(super) fn requirement(
    form: &ast::Requirement,
    number: usize,
    by: Option<&str>,
    scope: &Scope<'_>,
    out: &mut Report<'_>,
) -> Option<Requirement> {
    let condition = scope.condition(&form.condition, out)?;
    let name = form.name.as_ref().map_or_else(|| format!("requirement-{number}"), |name| super::declared(name, out));
    Some(Requirement { name, condition, added_by: by.map(str::to_owned) })
}
