//! The right computation on the wrong operands: two inputs exchanged, one read transposed.

use super::{Evidence, Finding, POINTS, how_many};
use crate::oracle::{Alteration, Arrays};

pub(super) fn swapped(evidence: &Evidence<'_>) -> Option<Finding> {
    let oracle = evidence.oracle?;
    let points = evidence.some_wrong(POINTS);
    let names: Vec<&String> = evidence.arrays.keys().collect();
    let mut best: Option<Finding> = None;
    for (index, a) in names.iter().enumerate() {
        for b in &names[index + 1..] {
            if oracle.shape(a, evidence.inputs).ok() != oracle.shape(b, evidence.inputs).ok() {
                continue;
            }
            let exchange = Some(((*a).clone(), (*b).clone()));
            let alteration = Alteration { exchange, ..Alteration::default() };
            let values = oracle.sample_altered(evidence.inputs, evidence.arrays, &alteration, evidence.output, &points);
            let explains = explains(evidence, &points, &values.ok()?);
            if explains > best.as_ref().map_or(0.0, |best| best.explains) {
                let all = how_many(explains, evidence);
                let sentence = format!(
                    "{a} and {b} exchanged: {all} of {} is what it should be with {a} and {b} swapped",
                    evidence.output
                );
                best = Some(Finding { sentence, explains });
            }
        }
    }
    best
}

pub(super) fn transposed(evidence: &Evidence<'_>) -> Option<Finding> {
    let oracle = evidence.oracle?;
    let points = evidence.some_wrong(POINTS);
    let mut best: Option<Finding> = None;
    for (name, values) in evidence.arrays {
        let [rows, columns] = *oracle.shape(name, evidence.inputs).ok()? else { continue };
        if rows != columns {
            continue;
        }
        let mut arrays: Arrays = evidence.arrays.clone();
        arrays.insert(name.clone(), (0..rows * rows).map(|flat| values[flat % rows * rows + flat / rows]).collect());
        let values = oracle.sample(evidence.inputs, &arrays, evidence.output, &points).ok()?;
        let explains = explains(evidence, &points, &values);
        if explains > best.as_ref().map_or(0.0, |best| best.explains) {
            let all = how_many(explains, evidence);
            let sentence = format!(
                "{name} transposed: {all} of {} is what it should be with {name} read transposed",
                evidence.output
            );
            best = Some(Finding { sentence, explains });
        }
    }
    best
}

fn explains(evidence: &Evidence<'_>, points: &[usize], values: &[f64]) -> f64 {
    let matches = points.iter().zip(values).filter(|(flat, value)| evidence.holds(**flat, **value)).count();
    matches as f64 / points.len().max(1) as f64
}
