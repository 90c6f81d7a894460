//! From a comparison to a failure: numbers, place, pattern, in facts that a person and a model can use.

use super::compare::{Comparison, Truth, position};
use super::pattern::{Evidence, diagnose, plain};
use super::plan::Check;
use super::truths::Case;
use crate::context::{Configuration, KernelContext};
use crate::data::decode;
use crate::oracle::Oracle;
use crate::runner::{Failure, FailureClass, RunOutcome, is_environment};
use peak_grammar::ir::Direction;

/// A wrong run, with all that is needed to explain it.
pub(super) struct WrongRun<'a> {
    pub context: &'a KernelContext,
    pub configuration: &'a Configuration,
    pub check: &'a Check,
    pub case: &'a Case,
    pub oracle: Option<&'a Oracle>,
    pub outcome: &'a RunOutcome,
    /// A second run of the same data.
    pub again: Option<&'a RunOutcome>,
}

impl WrongRun<'_> {
    /// What each output holds, compared, for outputs that are wrong.
    pub fn wrong_outputs(&self) -> Vec<(&str, &Truth, Vec<f64>, Comparison)> {
        let mut wrong = Vec::new();
        for (name, truth) in &self.case.truths {
            let actual = decode(truth.element, &self.outcome.outputs[name]);
            let comparison = truth.compare(&actual);
            if !comparison.right() {
                wrong.push((name.as_str(), truth, actual, comparison));
            }
        }
        wrong
    }

    /// Number, size and place of the errors of each wrong output, one line each.
    pub fn numbers(&self) -> Vec<String> {
        self.wrong_outputs()
            .iter()
            .map(|(name, truth, _, comparison)| numbers(name, &truth.shape, comparison))
            .collect()
    }

    /// The pattern of each wrong output, in sentences.
    pub fn pattern(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (name, truth, actual, comparison) in self.wrong_outputs() {
            let again = self.again.map(|again| decode(truth.element, &again.outputs[name]));
            let indices = self.indices(name, truth.shape.len());
            sentences.extend(diagnose(&Evidence {
                output: name,
                indices: &indices,
                truth,
                actual: &actual,
                bytes: &self.outcome.outputs[name],
                wrong: &comparison.wrong,
                lost_bits: comparison.lost_bits,
                again: again.as_deref(),
                before: self.before(name),
                inputs: &self.check.inputs(),
                arrays: &self.case.arrays,
                oracle: self.oracle,
                configuration: self.configuration,
            }));
        }
        sentences
    }

    /// `n = 64; BLOCK_X = 16, BLOCK_Y = 8; whole-number data, seed 7`.
    pub fn parameters(&self) -> String {
        parameters(self.check, self.configuration)
    }

    fn indices(&self, output: &str, dimensions: usize) -> Vec<String> {
        let known = self.oracle.and_then(|oracle| oracle.indices(output)).unwrap_or_default();
        let letters = ["i", "j", "k", "l", "m", "n"];
        let name = |d: usize| letters.get(d).map_or_else(|| format!("i{d}"), |name| (*name).to_owned());
        (0..dimensions).map(|d| known.get(d).cloned().unwrap_or_else(|| name(d))).collect()
    }

    fn before(&self, output: &str) -> Option<&[f64]> {
        let argument = self.context.kernel.arguments.iter().find(|argument| argument.name == output)?;
        match argument.direction {
            Direction::InOut => self.case.arrays.get(output).map(Vec::as_slice),
            Direction::Input | Direction::Output => None,
        }
    }
}

/// Execution parameters and data in one line.
pub(super) fn parameters(check: &Check, configuration: &Configuration) -> String {
    let pairs = |pairs: Vec<(&String, &i64)>| {
        pairs.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    };
    let inputs = pairs(check.inputs.iter().map(|(name, value)| (name, value)).collect());
    let tuning = pairs(configuration.iter().collect());
    [inputs, tuning, check.data()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// A failure of compiling or running, with the execution parameters that it was seen at; the machine's own stays as it is.
pub(super) fn seen_at(failure: Failure, check: &Check, configuration: &Configuration) -> Failure {
    if is_environment(&failure) {
        return failure;
    }
    failure.with_fact(format!("seen at the execution parameters: {}", parameters(check, configuration)))
}

/// `C: 64 of 4096 elements are wrong (1.6%); largest error 3 at C[1, 2]: 5 instead of 8`.
pub(super) fn numbers(name: &str, shape: &[usize], comparison: &Comparison) -> String {
    let Comparison { total, wrong, nan, worst, .. } = comparison;
    let mut text = match wrong.len() {
        0 => format!("{name}: none of {total} elements is beyond its own bound, but all together are"),
        count => format!("{name}: {count} of {total} elements are wrong ({})", percent(count, *total)),
    };
    if *nan > 0 {
        text.push_str(&format!(", {nan} of them NaN"));
    }
    if let Some(worst) = worst {
        let index: Vec<String> = position(worst.index, shape).iter().map(usize::to_string).collect();
        text.push_str(&format!(
            "; largest error {} at {name}[{}]: {} instead of {} (allowed: {})",
            if worst.error.is_finite() { plain(worst.error) } else { "without bound".to_owned() },
            index.join(", "),
            plain(worst.actual),
            plain(worst.expected),
            if worst.allowed == 0.0 { "none, the sums are exact".to_owned() } else { plain(worst.allowed) },
        ));
    }
    text
}

/// `1.6%`, never rounded to nothing or to all.
fn percent(count: usize, total: usize) -> String {
    let share = 100.0 * count as f64 / total.max(1) as f64;
    match share {
        share if share < 0.1 => "under 0.1%".to_owned(),
        share if share > 99.9 && count < total => "over 99.9%".to_owned(),
        share => format!("{share:.1}%"),
    }
}

/// Whether two sentences differ in the numbers of elements only.
fn says_the_same(known: &str, sentence: &str) -> bool {
    let about = |opening: &str| known.starts_with(opening) && sentence.starts_with(opening);
    known == sentence || about("never written:") || about("changes from run to run:")
}

/// The failure of a wrong run; `larger` is the same candidate at a larger size, whose pattern tells more.
pub(super) fn failure(smallest: &WrongRun<'_>, larger: Option<&WrongRun<'_>>, right_before: Option<String>) -> Failure {
    let names: Vec<&str> = smallest.wrong_outputs().iter().map(|(name, ..)| *name).collect();
    let message = format!("wrong results in {}", names.join(", "));
    let mut failure = Failure::new(FailureClass::Results, message);
    failure.facts.push(format!("smallest failing execution parameters: {}", smallest.parameters()));
    failure.facts.extend(smallest.numbers());
    let sentences = smallest.pattern();
    failure.facts.extend(sentences.iter().map(|sentence| format!("pattern: {sentence}")));
    if let Some(larger) = larger {
        let place: Vec<String> = larger.pattern();
        let new = place.iter().filter(|sentence| !sentences.iter().any(|known| says_the_same(known, sentence)));
        let size: Vec<String> = larger.check.inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        failure.facts.extend(new.map(|sentence| format!("pattern at {}: {sentence}", size.join(", "))));
    }
    if let Some(right) = right_before {
        failure.facts.push(format!("right before that: {right}"));
    }
    failure
}
