//! The pattern of a wrong result, in words that name the kernel's own arrays, index variables and tuning parameters.
//!
//! Each hypothesis about what went wrong is one file and one line in [`HYPOTHESES`]. It looks at numbers only, never at
//! source: it says what the outputs look like, not which line is at fault.

mod copied;
mod dropped;
mod earlier;
mod exchanged;
mod factor;
mod flat;
mod lost_bits;
mod place;
mod race;
mod right;
mod shifted;
mod tiles;
mod transposed;
mod unwritten;

use super::compare::Truth;
use crate::context::{Configuration, Inputs};
use crate::oracle::{Arrays, Oracle};

/// A wrong output and all that is known about it.
pub struct Evidence<'a> {
    /// The output's name.
    pub output: &'a str,
    /// Its index variables, outermost first.
    pub indices: &'a [String],
    /// What it should hold.
    pub truth: &'a Truth,
    /// What it holds.
    pub actual: &'a [f64],
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Flat indices of the wrong elements, ascending, at least one; or none if only bits were lost.
    pub wrong: &'a [usize],
    /// The root mean square of the relative error and its limit, where it is exceeded.
    pub lost_bits: Option<(f64, f64)>,
    /// What a second run of the same data left, if there was one.
    pub again: Option<&'a [f64]>,
    /// What it held before the run, if that was data and no poison.
    pub before: Option<&'a [f64]>,
    /// Scalar inputs.
    pub inputs: &'a Inputs,
    /// Input arrays.
    pub arrays: &'a Arrays,
    /// What the kernel computes, if it says so.
    pub oracle: Option<&'a Oracle>,
    /// Tuning parameters.
    pub configuration: &'a Configuration,
}

/// What a hypothesis is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Why: a race.
    Cause,
    /// What the wrong elements hold.
    Content,
    /// Where they are.
    Place,
}

/// A hypothesis that holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// A short sentence.
    pub sentence: String,
    /// The share of the wrong elements that it explains, 0 to 1.
    pub explains: f64,
}

/// A hypothesis about what went wrong.
pub struct Hypothesis {
    /// A short name.
    pub name: &'static str,
    /// What it is about.
    pub kind: Kind,
    /// Wrong elements below which a match may be chance.
    pub least: usize,
    /// Tests it.
    pub test: fn(&Evidence<'_>) -> Option<Finding>,
}

/// So many wrong elements do not match a wrong explanation by chance, not even small whole numbers.
const SEVERAL: usize = 8;

/// Every hypothesis; of two that explain as much the earlier one is told.
pub const HYPOTHESES: &[Hypothesis] = &[
    Hypothesis { name: "race", kind: Kind::Cause, least: 0, test: race::test },
    Hypothesis { name: "lost bits", kind: Kind::Content, least: 0, test: lost_bits::test },
    Hypothesis { name: "never written", kind: Kind::Content, least: 1, test: unwritten::test },
    Hypothesis { name: "earlier contents", kind: Kind::Content, least: 1, test: earlier::test },
    Hypothesis { name: "zeros", kind: Kind::Content, least: 1, test: flat::zeros },
    Hypothesis { name: "constant", kind: Kind::Content, least: SEVERAL, test: flat::constant },
    Hypothesis { name: "not a number", kind: Kind::Content, least: 1, test: flat::not_a_number },
    Hypothesis { name: "terms left out", kind: Kind::Content, least: SEVERAL, test: dropped::test },
    Hypothesis { name: "exchanged inputs", kind: Kind::Content, least: SEVERAL, test: exchanged::swapped },
    Hypothesis { name: "transposed input", kind: Kind::Content, least: SEVERAL, test: exchanged::transposed },
    Hypothesis { name: "transposed output", kind: Kind::Content, least: SEVERAL, test: transposed::test },
    Hypothesis { name: "shifted", kind: Kind::Content, least: SEVERAL, test: shifted::test },
    Hypothesis { name: "copy of an input", kind: Kind::Content, least: SEVERAL, test: copied::test },
    Hypothesis { name: "factor", kind: Kind::Content, least: SEVERAL, test: factor::test },
    Hypothesis { name: "factor per tile", kind: Kind::Content, least: SEVERAL, test: tiles::test },
    Hypothesis { name: "place", kind: Kind::Place, least: 1, test: place::test },
    Hypothesis { name: "right places", kind: Kind::Place, least: SEVERAL, test: right::test },
];

/// A finding that explains less is not told.
const MIN_EXPLAINS: f64 = 0.2;
/// A finding that explains this much stands alone.
const ALL: f64 = 0.95;
/// Findings about content that are told at most.
const MAX_CONTENTS: usize = 2;

/// The sentences, most telling first. Empty if no hypothesis holds.
#[must_use]
pub fn diagnose(evidence: &Evidence<'_>) -> Vec<String> {
    let found: Vec<(Kind, Finding)> = HYPOTHESES
        .iter()
        .filter(|hypothesis| evidence.wrong.len() >= hypothesis.least)
        .filter_map(|hypothesis| Some((hypothesis.kind, (hypothesis.test)(evidence)?)))
        .filter(|(_, finding)| finding.explains >= MIN_EXPLAINS)
        .collect();
    let of = |kind: Kind| found.iter().filter(move |(known, _)| *known == kind).map(|(_, finding)| finding);
    let mut contents: Vec<&Finding> = of(Kind::Content).collect();
    // Stable: the order of the list decides between equals.
    contents.sort_by(|a, b| (b.explains >= ALL).cmp(&(a.explains >= ALL)).then(b.explains.total_cmp(&a.explains)));
    let enough = if contents.first().is_some_and(|finding| finding.explains >= ALL) { 1 } else { MAX_CONTENTS };
    contents.truncate(enough);
    of(Kind::Cause).chain(contents).chain(of(Kind::Place)).map(|finding| finding.sentence.clone()).collect()
}

/// Wrong elements that oracle-based hypotheses look at.
const POINTS: usize = 48;
/// Wrong elements that the others look at.
const MANY_POINTS: usize = 4096;

impl Evidence<'_> {
    /// `C[i, j]`, each index spelled by `spell(dimension, name)`.
    fn element(&self, spell: impl Fn(usize, &str) -> String) -> String {
        let indices: Vec<String> = self.indices.iter().enumerate().map(|(d, name)| spell(d, name)).collect();
        format!("{}[{}]", self.output, indices.join(", "))
    }

    /// At most `count` of the wrong elements, evenly spread.
    fn some_wrong(&self, count: usize) -> Vec<usize> {
        let step = self.wrong.len().div_ceil(count).max(1);
        self.wrong.iter().step_by(step).copied().collect()
    }

    /// Whether the element at `flat` holds `value`, up to rounding.
    fn holds(&self, flat: usize, value: f64) -> bool {
        let actual = self.actual[flat];
        let allowed = 4.0 * self.truth.allowed[flat] + 8.0 * self.truth.element.epsilon() * value.abs();
        actual == value || (actual - value).abs() <= allowed
    }

    /// The share of `points` for which `holds`; none for no points.
    fn share(&self, points: &[usize], holds: impl Fn(usize) -> bool) -> f64 {
        let count = points.iter().filter(|point| holds(**point)).count();
        count as f64 / points.len().max(1) as f64
    }

    /// `BLOCK_X`, `BLOCK_X or BLOCK_Y`, `BLOCK_X * ROWS`: how tuning parameters make up a number, if they do. Of several
    /// equal ones, those whose name holds `variable` (`TILE_K_SIZE` for `k`) are meant, where there are such.
    fn made_of(&self, number: usize, variable: Option<&str>) -> Option<String> {
        let is = |value: &i64| usize::try_from(*value).is_ok_and(|value| value == number && value > 1);
        let equal: Vec<&str> =
            self.configuration.iter().filter(|(_, value)| is(value)).map(|(name, _)| name.as_str()).collect();
        if !equal.is_empty() {
            let holds = |name: &&str| variable.is_some_and(|variable| name_holds(name, variable));
            let meant: Vec<&str> = equal.iter().copied().filter(holds).collect();
            return Some(either(if meant.is_empty() { &equal } else { &meant }));
        }
        for (index, (a, left)) in self.configuration.iter().enumerate() {
            for (b, right) in self.configuration.iter().skip(index + 1) {
                if *left > 1 && *right > 1 && left.checked_mul(*right).is_some_and(|product| is(&product)) {
                    return Some(format!("{a} * {b}"));
                }
            }
        }
        None
    }

    /// ` (16 = BLOCK_X)`, or nothing.
    fn named(&self, number: usize) -> String {
        self.made_of(number, None).map(|name| format!(" ({number} = {name})")).unwrap_or_default()
    }

    /// ` (16 = TILE_K_SIZE)`, or nothing: a number of values of an index variable.
    fn named_along(&self, number: usize, variable: &str) -> String {
        self.made_of(number, Some(variable)).map(|name| format!(" ({number} = {name})")).unwrap_or_default()
    }

    /// Sizes of tiles to consider: what tuning parameters say, then powers of two; ascending, no repeats.
    fn tile_sizes(&self, below: usize) -> Vec<usize> {
        let values = self.configuration.values().filter_map(|value| usize::try_from(*value).ok());
        let mut sizes: Vec<usize> = values.chain((0..8).map(|power| 1 << power)).collect();
        sizes.retain(|size| *size > 0 && *size < below);
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// Whether a parameter's name speaks of an index variable: a word of `TILE_K_SIZE` is `k`.
fn name_holds(name: &str, variable: &str) -> bool {
    name.split('_').any(|word| word.eq_ignore_ascii_case(variable))
}

/// `A`, `A or B`, `A, B or C`.
fn either(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// `all 64 wrong elements`, `48 of 64 wrong elements`.
fn how_many(explains: f64, evidence: &Evidence<'_>) -> String {
    let wrong = evidence.wrong.len();
    match explains >= ALL {
        true if wrong == evidence.actual.len() => "every element".to_owned(),
        true => "every wrong element".to_owned(),
        false => format!("about {:.0}% of the wrong elements", 100.0 * explains),
    }
}

/// A number as people write it: at most six significant digits, no trailing zeros.
#[must_use]
pub fn plain(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e9 {
        return format!("{number}");
    }
    let magnitude = number.abs().log10().floor();
    if !(-4.0..9.0).contains(&magnitude) {
        return format!("{number:.3e}");
    }
    let decimals = (5.0 - magnitude).clamp(1.0, 9.0) as usize;
    format!("{number:.decimals$}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
