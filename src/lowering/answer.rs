//! From a completion to a candidate: read, turned into edits, applied to a copy, checked.

use super::blocks;
use super::checks::{AnswerFacts, Rejection, check_answer};
use super::response::{self, Answer};
use super::step::{StepError, edited};
use crate::context::KernelContext;
use crate::edit::rewrite;
use peak_backend_api::Spelling;
use peak_grammar::ir::Region;

/// Why a completion gives no candidate.
pub struct Refused {
    /// The check that rejects it.
    pub rejection: Rejection,
    /// The text that it proposed, where it could be read.
    pub proposed: Option<String>,
}

/// A candidate for one region.
pub struct Proposal {
    /// The context with the region's new text.
    pub after: KernelContext,
    /// The new text.
    pub text: String,
}

/// The candidate that a completion proposes for `region` of `before`.
pub fn examine(
    before: &KernelContext,
    region: Region,
    spelling: &Spelling,
    completion: &str,
) -> Result<Proposal, Refused> {
    let answer = response::parse(completion).map_err(|defect| Refused {
        rejection: Rejection { code: defect.code(), region, message: defect.to_string(), facts: Vec::new() },
        proposed: None,
    })?;
    let old = before.regions.get(region);
    let answer = match blocks::are_blocks(&answer) {
        false => answer,
        true => blocks::whole(&answer, region, old).map_err(|rejection| Refused { rejection, proposed: None })?,
    };
    let text = text_of(&answer, old);
    let refuse = |rejection| Refused { rejection, proposed: Some(text.clone()) };
    let facts = AnswerFacts { region, answer: &answer, before, new: &text, spelling };
    if let Some(rejection) = check_answer(&facts) {
        return Err(refuse(rejection));
    }
    let script = rewrite(region, before.regions.get(region), &text);
    match edited(before, &script) {
        Ok(after) => Ok(Proposal { after, text }),
        Err(StepError::Rejected(rejection)) => Err(refuse(rejection)),
        Err(StepError::Edit(error)) => {
            let message = error.to_string();
            Err(refuse(Rejection { code: "peak::edit-precondition", region, message, facts: Vec::new() }))
        }
    }
}

/// The block's text, with the end that the region had: a final line end is no change of the model's.
fn text_of(answer: &Answer, old: &str) -> String {
    let text = &answer.region().text;
    match old.is_empty() || old.ends_with('\n') {
        true => text.clone(),
        false => text.trim_end_matches('\n').to_owned(),
    }
}
