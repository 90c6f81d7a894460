//! Zeros, one constant, no numbers at all.

use super::{Evidence, Finding, how_many, plain};

pub(super) fn zeros(evidence: &Evidence<'_>) -> Option<Finding> {
    let explains = evidence.share(evidence.wrong, |flat| evidence.actual[flat] == 0.0);
    (explains > 0.0).then(|| Finding {
        sentence: format!("zeros: {} of {} is zero", how_many(explains, evidence), evidence.output),
        explains,
    })
}

pub(super) fn constant(evidence: &Evidence<'_>) -> Option<Finding> {
    let first = evidence.actual[*evidence.wrong.first()?];
    let explains = evidence.share(evidence.wrong, |flat| evidence.actual[flat] == first);
    let telling = first.is_finite() && first != 0.0;
    (explains > 0.0 && telling).then(|| Finding {
        sentence: format!("constant: {} of {} is {}", how_many(explains, evidence), evidence.output, plain(first)),
        explains,
    })
}

pub(super) fn not_a_number(evidence: &Evidence<'_>) -> Option<Finding> {
    let explains = evidence.share(evidence.wrong, |flat| !evidence.actual[flat].is_finite());
    (explains > 0.0).then(|| Finding {
        sentence: format!(
            "not a number: {} of {} is NaN or infinite: something is read that was never written, or divided by zero",
            how_many(explains, evidence),
            evidence.output,
        ),
        explains,
    })
}
