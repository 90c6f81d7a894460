//! What a transformation declares, carried out without its words: parameters, requirements, and the mechanical steps on
//! the launch plan. What a space will be can be told before any model is asked; the code is not touched.

use super::apply::prepared;
use super::step::{carried_out, with_requirements, without_retired};
use crate::context::KernelContext;
use crate::plan::{PlannedStep, TransformationPlan};
use peak_grammar::ir::Region;

/// The context as its declarations will stand after a transformation. A step that cannot be carried out is passed over:
/// words may come before it that make it possible.
#[must_use]
pub fn foreseen(context: &KernelContext, plan: &TransformationPlan) -> KernelContext {
    let mut after = prepared(context, plan);
    for pass in &plan.passes {
        after = with_requirements(&after, pass);
        for step in &pass.steps {
            if let PlannedStep::Mechanical { region: Region::HostCode, action } = step
                && let Ok(next) = carried_out(&after, Region::HostCode, action)
            {
                after = next;
            }
        }
        after = without_retired(&after, pass);
    }
    after.applied.push(plan.transformation.clone());
    after
}
