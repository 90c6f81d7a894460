//! Where the wrong elements are: ranges and residue classes along each dimension.

use super::super::compare::position;
use super::{Evidence, Finding};

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let shape = &evidence.truth.shape;
    let mut hit: Vec<Vec<bool>> = shape.iter().map(|extent| vec![false; *extent]).collect();
    for flat in evidence.wrong {
        for (coordinates, coordinate) in hit.iter_mut().zip(position(*flat, shape)) {
            coordinates[coordinate] = true;
        }
    }
    let places: Vec<Place> = hit.iter().enumerate().filter_map(|(d, hit)| along(evidence, d, hit)).collect();
    if places.is_empty() {
        return None;
    }
    // Dimensions without a place are wrong all along.
    let inside: usize = hit.iter().map(|hit| hit.iter().filter(|hit| **hit).count()).product();
    let share = evidence.wrong.len() as f64 / inside.max(1) as f64;
    let density = match share {
        share if share > 0.99 => "all of them".to_owned(),
        share => format!("{:.0}% of them", (100.0 * share).max(1.0)),
    };
    let words: Vec<String> = places.into_iter().map(|place| place.words).collect();
    let here = evidence.element(|_, name| name.to_owned());
    Some(Finding { sentence: format!("place: only {here} where {} ({density})", words.join(" and ")), explains: 1.0 })
}

/// Where along one dimension.
struct Place {
    words: String,
}

fn along(evidence: &Evidence<'_>, dimension: usize, hit: &[bool]) -> Option<Place> {
    let extent = hit.len();
    let count = hit.iter().filter(|hit| **hit).count();
    if count == extent || count == 0 {
        return None;
    }
    let name = evidence.indices.get(dimension).map_or("index", String::as_str);
    let words = match interval(hit) {
        Some((first, last)) => {
            let length = last - first + 1;
            let block = match (first, last + 1 == extent) {
                (_, true) if length > 1 => format!(", the last {length} of {extent}{}", evidence.named(length)),
                (0, _) if length > 1 => format!(", the first {length} of {extent}{}", evidence.named(length)),
                (_, true) => format!(", the last of {extent}"),
                (0, _) => format!(", the first of {extent}"),
                _ => evidence.named(length),
            };
            format!("{}{block}", range(name, first, last, extent))
        }
        None => periodic(evidence, name, hit)
            .or_else(|| (2 * count <= extent).then(|| format!("{name} is one of {count} of {extent} values")))?,
    };
    Some(Place { words })
}

/// The smallest period in which being hit depends on the remainder alone.
fn periodic(evidence: &Evidence<'_>, name: &str, hit: &[bool]) -> Option<String> {
    let period = (2..=hit.len() / 2).find(|period| (*period..hit.len()).all(|at| hit[at] == hit[at - period]))?;
    let residues = &hit[..period];
    let named = evidence.named(period);
    let remainder = format!("{name} mod {period}");
    Some(match interval(residues) {
        Some((first, last)) => format!("{}{named}", range(&remainder, first, last, period)),
        None => {
            let members: Vec<String> =
                (0..period).filter(|at| residues[*at]).take(5).map(|at| at.to_string()).collect();
            let more = if residues.iter().filter(|hit| **hit).count() > 5 { ", ..." } else { "" };
            format!("{remainder} is one of {}{more}{named}", members.join(", "))
        }
    })
}

/// First and last hit, if all between are hit.
fn interval(hit: &[bool]) -> Option<(usize, usize)> {
    let first = hit.iter().position(|hit| *hit)?;
    let last = hit.iter().rposition(|hit| *hit)?;
    hit[first..=last].iter().all(|hit| *hit).then_some((first, last))
}

fn range(what: &str, first: usize, last: usize, extent: usize) -> String {
    match (first, last) {
        (first, last) if first == last => format!("{what} = {first}"),
        (first, last) if last + 1 == extent => format!("{what} >= {first}"),
        (0, last) => format!("{what} < {}", last + 1),
        (first, last) => format!("{first} <= {what} <= {last}"),
    }
}
