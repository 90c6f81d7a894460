//! Each element holds what a neighbour along one dimension should.

use super::super::compare::position;
use super::{Evidence, Finding, MANY_POINTS, how_many};

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let points = evidence.some_wrong(MANY_POINTS);
    let shape = &evidence.truth.shape;
    let mut best: Option<Finding> = None;
    for (dimension, extent) in shape.iter().enumerate() {
        let stride: usize = shape[dimension + 1..].iter().product();
        for distance in evidence.tile_sizes(*extent) {
            for sign in [1i64, -1] {
                let explains = evidence.share(&points, |flat| {
                    let there = position(flat, shape)[dimension].checked_add_signed(sign as isize * distance as isize);
                    let inside = there.is_some_and(|there| there < *extent);
                    let source = flat.wrapping_add_signed(sign as isize * (distance * stride) as isize);
                    inside && evidence.holds(flat, evidence.truth.expected[source])
                });
                if explains > best.as_ref().map_or(0.0, |best| best.explains) {
                    let sentence = sentence(evidence, dimension, distance, sign, explains);
                    best = Some(Finding { sentence, explains });
                }
            }
        }
    }
    best
}

fn sentence(evidence: &Evidence<'_>, dimension: usize, distance: usize, sign: i64, explains: f64) -> String {
    let sign = if sign > 0 { '+' } else { '-' };
    let here = evidence.element(|_, name| name.to_owned());
    let there = evidence.element(|d, name| match d == dimension {
        true => format!("{name} {sign} {distance}"),
        false => name.to_owned(),
    });
    let named = evidence.named(distance);
    format!("shifted: for {}, {here} holds what {there} should{named}", how_many(explains, evidence))
}
