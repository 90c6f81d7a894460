//! Each element holds what a neighbour along one dimension should.

use super::super::compare::position;
use super::unwritten::poisoned;
use super::{ALL, Evidence, Finding, MANY_POINTS, how_many};

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let points = evidence.some_wrong(MANY_POINTS);
    let mut best: Option<(Finding, Shift)> = None;
    for (dimension, extent) in evidence.truth.shape.iter().enumerate() {
        for distance in evidence.tile_sizes(*extent) {
            for backward in [false, true] {
                let shift = Shift { dimension, distance, backward };
                let explains = evidence.share(&points, |flat| shift.explains(evidence, flat));
                if explains > best.as_ref().map_or(0.0, |(best, _)| best.explains) {
                    let sentence = shift.sentence(evidence, explains);
                    best = Some((Finding { sentence, explains }, shift));
                }
            }
        }
    }
    let (finding, shift) = best?;
    Some(Finding { sentence: format!("{}{}", finding.sentence, shift.rest(evidence, &points)), ..finding })
}

/// Where an element's value should have gone.
#[derive(Clone, Copy)]
struct Shift {
    dimension: usize,
    distance: usize,
    /// The neighbour whose value it is comes earlier.
    backward: bool,
}

impl Shift {
    /// The element whose value `flat` holds; `None` outside of the array.
    fn source(self, evidence: &Evidence<'_>, flat: usize) -> Option<usize> {
        let shape = &evidence.truth.shape;
        let stride: usize = shape[self.dimension + 1..].iter().product();
        let here = position(flat, shape)[self.dimension];
        match self.backward {
            true => here.checked_sub(self.distance).map(|_| flat - self.distance * stride),
            false => (here + self.distance < shape[self.dimension]).then(|| flat + self.distance * stride),
        }
    }

    fn explains(self, evidence: &Evidence<'_>, flat: usize) -> bool {
        self.source(evidence, flat).is_some_and(|source| evidence.holds(flat, evidence.truth.expected[source]))
    }

    /// `shifted by 1 row: for every wrong element, C[i, j] holds what C[i - 1, j] should`.
    fn sentence(self, evidence: &Evidence<'_>, explains: f64) -> String {
        let Shift { dimension, distance, backward } = self;
        let sign = if backward { '-' } else { '+' };
        let here = evidence.element(|_, name| name.to_owned());
        let there = evidence.element(|d, name| match d == dimension {
            true => format!("{name} {sign} {distance}"),
            false => name.to_owned(),
        });
        let (named, by) = (evidence.named(distance), self.by(evidence));
        format!("shifted by {by}: for {}, {here} holds what {there} should{named}", how_many(explains, evidence))
    }

    /// `1 row`, `16 columns`, `2 along b`.
    fn by(self, evidence: &Evidence<'_>) -> String {
        let plural = if self.distance == 1 { "" } else { "s" };
        match (self.dimension, evidence.truth.shape.len()) {
            (0, 2) => format!("{} row{plural}", self.distance),
            (1, 2) => format!("{} column{plural}", self.distance),
            (_, 1) => format!("{} element{plural}", self.distance),
            (dimension, _) => {
                format!("{} along {}", self.distance, evidence.indices.get(dimension).map_or("it", String::as_str))
            }
        }
    }

    /// What the edge holds that no element was shifted to, if the rest is explained.
    fn rest(self, evidence: &Evidence<'_>, points: &[usize]) -> String {
        let (inside, edge): (Vec<usize>, Vec<usize>) =
            points.iter().partition(|flat| self.source(evidence, **flat).is_some());
        let explained = evidence.share(&inside, |flat| self.explains(evidence, flat)) >= ALL;
        if !explained || edge.is_empty() || evidence.before.is_some() {
            return String::new();
        }
        let Some(name) = evidence.indices.get(self.dimension) else { return String::new() };
        let extent = evidence.truth.shape[self.dimension];
        let place = match (self.backward, self.distance) {
            (true, 1) => format!("{name} = 0"),
            (true, distance) => format!("{name} < {distance}"),
            (false, 1) => format!("{name} = {}", extent - 1),
            (false, distance) => format!("{name} >= {}", extent - distance),
        };
        match edge.iter().all(|flat| poisoned(evidence, *flat)) {
            true => format!("; where {place}, nothing was written"),
            false => String::new(),
        }
    }
}
