//! Which sizes and which data a validation runs: enough to catch, few enough to be quick.
//!
//! All six distributions and three seeds of the declared one at one size in the middle, whole numbers and the declared
//! distribution at the others; every run has a seed of its own. Smaller sizes come first, so the first failure is the
//! smallest.

use crate::context::Inputs;
use crate::data::mix;
use crate::runner::{Distribution, Fill};
use peak_grammar::ir::{ArgumentKind, Kernel};

/// Bounds of a validation, and the seed behind its seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckPlan {
    /// Where the seeds come from. No kernel sees it.
    pub seed: u64,
    /// Sizes at most; of more, an even choice that keeps the smallest and the largest.
    pub sizes: usize,
    /// Elements of each output at which the oracle looks where it cannot compute everything.
    pub points: usize,
}

impl Default for CheckPlan {
    fn default() -> Self {
        CheckPlan { seed: 0, sizes: 8, points: 256 }
    }
}

/// One run to be compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Check {
    /// Scalar inputs, in the kernel's order.
    pub inputs: Vec<(String, i64)>,
    /// What the arrays hold.
    pub fill: Fill,
}

impl Check {
    /// The scalar inputs by name.
    #[must_use]
    pub fn inputs(&self) -> Inputs {
        self.inputs.iter().cloned().collect()
    }

    /// `n = 64; exact_integers, seed 3`.
    #[must_use]
    pub fn data(&self) -> String {
        format!("{} data, seed {}", distribution_name(self.fill.distribution), self.fill.seed)
    }
}

/// A distribution in words.
#[must_use]
pub fn distribution_name(distribution: Distribution) -> &'static str {
    match distribution {
        Distribution::Declared => "declared",
        Distribution::ExactIntegers => "whole-number",
        Distribution::Large => "large",
        Distribution::Tiny => "tiny",
        Distribution::Structured => "structured",
        Distribution::Spiky => "spiky",
    }
}

/// Data at most sizes. Whole numbers come first: their failures are the clearest.
const FEW: [Distribution; 2] = [Distribution::ExactIntegers, Distribution::Declared];
/// Data at the size in the middle.
const MANY: [Distribution; 8] = [
    Distribution::ExactIntegers,
    Distribution::Declared,
    Distribution::Structured,
    Distribution::Large,
    Distribution::Tiny,
    Distribution::Spiky,
    Distribution::Declared,
    Distribution::Declared,
];

/// Every check of a kernel, smallest sizes first.
#[must_use]
pub fn checks(kernel: &Kernel, plan: &CheckPlan) -> Vec<Check> {
    let sizes = sizes(kernel, plan.sizes.max(1));
    let middle = sizes.len() / 2;
    let mut checks = Vec::new();
    for (place, inputs) in sizes.into_iter().enumerate() {
        let distributions: &[Distribution] = if place == middle { &MANY } else { &FEW };
        for distribution in distributions {
            let fill = Fill { seed: seed(plan, checks.len() as u64), distribution: *distribution };
            checks.push(Check { inputs: inputs.clone(), fill });
        }
    }
    checks
}

/// The checks at one size that is timed.
#[must_use]
pub fn timed_checks(inputs: &Inputs, plan: &CheckPlan) -> Vec<Check> {
    let inputs: Vec<(String, i64)> = inputs.iter().map(|(name, value)| (name.clone(), *value)).collect();
    let numbered = FEW.iter().zip(1 << 32..);
    numbered
        .map(|(distribution, number)| Check {
            inputs: inputs.clone(),
            fill: Fill { seed: seed(plan, number), distribution: *distribution },
        })
        .collect()
}

fn seed(plan: &CheckPlan, number: u64) -> u64 {
    // Short enough to be read and typed.
    mix(plan.seed.wrapping_add(number.wrapping_add(1))) >> 32
}

/// The product of all scalars' checked values, smallest product of values first, thinned to `most`.
fn sizes(kernel: &Kernel, most: usize) -> Vec<Vec<(String, i64)>> {
    let mut sizes: Vec<Vec<(String, i64)>> = vec![Vec::new()];
    for argument in &kernel.arguments {
        let ArgumentKind::Scalar { values, checked, .. } = &argument.kind else { continue };
        let values = if checked.is_empty() { values } else { checked };
        let with = |size: &Vec<(String, i64)>, value: i64| {
            size.iter().cloned().chain([(argument.name.clone(), value)]).collect::<Vec<_>>()
        };
        sizes = sizes.iter().flat_map(|size| values.iter().map(move |value| with(size, *value))).collect();
        thin(&mut sizes, most * most);
    }
    sizes.sort_by_key(|size| size.iter().map(|(_, value)| value.unsigned_abs().max(1)).fold(1, u64::saturating_mul));
    thin(&mut sizes, most);
    sizes
}

/// An even choice that keeps both ends.
fn thin<T>(items: &mut Vec<T>, most: usize) {
    let (length, most) = (items.len(), most.max(2));
    if length > most {
        let keep: Vec<usize> = (0..most).map(|place| place * (length - 1) / (most - 1)).collect();
        let mut index = 0..;
        items.retain(|_| index.next().is_some_and(|index| keep.contains(&index)));
    }
}
