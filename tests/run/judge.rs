//! What a run should give, by the oracle or a reference on the host, and how far its outputs are from that. Runs nothing.

use super::references::{self, Expected, Given};
use super::{Outputs, Subject, words};
use indexmap::IndexMap;
use peak::context::Configuration;
use peak::context::launch::{BufferRole, BufferSpec, ConcretePlan};
use peak::data::{decode, fill_buffer};
use peak::oracle::Arrays;
use peak::runner::Distribution;
use peak::validate::outputs::compare::{Truth, position};
use peak::validate::outputs::plan::Check;
use peak::validate::outputs::tolerance::Bound;
use peak_grammar::ir::ElementType;

/// What one output should hold.
pub enum Wanted {
    /// Numbers, each with its tolerance.
    Close(Truth),
    /// These bytes of these elements.
    Exact(ElementType, Vec<u8>),
}

/// What every output of a run should hold.
///
/// # Errors
/// Words: what the oracle or the reference cannot say.
pub fn wanted(
    subject: &Subject,
    configuration: &Configuration,
    plan: &ConcretePlan,
    check: &Check,
) -> Result<IndexMap<String, Wanted>, String> {
    match &subject.entry.reference {
        Some(name) => by_reference(name, subject, configuration, plan, check),
        None => by_oracle(subject, plan, check),
    }
}

fn by_oracle(subject: &Subject, plan: &ConcretePlan, check: &Check) -> Result<IndexMap<String, Wanted>, String> {
    let oracle = subject.oracle.as_ref().ok_or("it has no `computes`")?;
    let arrays: Arrays =
        given(plan).map(|it| (it.name.clone(), decode(it.element, &fill_buffer(it, check.fill)))).collect();
    let judged = oracle.judge(&check.inputs(), &arrays).map_err(|error| error.to_string())?;
    let mut scales = judged.scales;
    let wanted = judged.values.into_iter().map(|(name, values)| {
        let buffer = output(plan, &name)?;
        let roundings = oracle.roundings(&name, &check.inputs()).map_err(|error| error.to_string())?;
        let bound = bound(subject, buffer.element, check, roundings, oracle.keeps_integers());
        let scales = scales.swap_remove(&name).unwrap_or_default();
        Ok((name, Wanted::Close(Truth::new(buffer.element, buffer.shape.clone(), values, scales, bound))))
    });
    wanted.collect()
}

fn by_reference(
    name: &str,
    subject: &Subject,
    configuration: &Configuration,
    plan: &ConcretePlan,
    check: &Check,
) -> Result<IndexMap<String, Wanted>, String> {
    let reference = references::find(name).ok_or_else(|| format!("there is no reference `{name}`"))?;
    let arrays = given(plan).map(|it| (it.name.clone(), (it.element, fill_buffer(it, check.fill)))).collect();
    let expected = reference(&Given { inputs: check.inputs(), configuration: configuration.clone(), arrays });
    let wanted = expected.into_iter().map(|(name, expected)| {
        let buffer = output(plan, name)?;
        let wanted = match expected {
            Expected::Exact(bytes) => Wanted::Exact(buffer.element, bytes),
            Expected::Close { values, scales, terms } => {
                let bound = bound(subject, buffer.element, check, (terms, 0.0), false);
                Wanted::Close(Truth::new(buffer.element, buffer.shape.clone(), values, scales, bound))
            }
        };
        Ok((name.to_owned(), wanted))
    });
    wanted.collect()
}

fn given(plan: &ConcretePlan) -> impl Iterator<Item = &BufferSpec> {
    plan.buffers.iter().filter(|buffer| matches!(buffer.role, BufferRole::Input(_) | BufferRole::InOut(_)))
}

fn output<'a>(plan: &'a ConcretePlan, name: &str) -> Result<&'a BufferSpec, String> {
    plan.buffers.iter().find(|buffer| buffer.name == name).ok_or_else(|| format!("it has no output {name}"))
}

/// `roundings`: those in a row, and the local arrays on the way.
fn bound(
    subject: &Subject,
    element: ElementType,
    check: &Check,
    (length, stores): (f64, f64),
    keeps_integers: bool,
) -> Bound {
    let kernel = &subject.context.kernel;
    Bound {
        tolerance: kernel.tolerance,
        element,
        accumulator: kernel.accumulator,
        inputs: kernel.element,
        length,
        stores,
        whole: keeps_integers && check.fill.distribution == Distribution::ExactIntegers,
        keeps_integers,
        output_scale: 0.0,
    }
}

/// The largest error of all outputs, as a share of what is allowed.
///
/// # Errors
/// Words: the first output that is wrong, where and how.
pub fn judge(wanted: &IndexMap<String, Wanted>, outputs: &Outputs) -> Result<f64, String> {
    if let Some(name) = outputs.keys().find(|name| !wanted.contains_key(*name)) {
        return Err(format!("nothing says what {name} should hold"));
    }
    let mut largest: f64 = 0.0;
    for (name, wanted) in wanted {
        let bytes = outputs.get(name).ok_or_else(|| format!("{name} was not read back"))?;
        largest = largest.max(wanted.share(bytes).map_err(|words| format!("{name}: {words}"))?);
    }
    Ok(largest)
}

impl Wanted {
    /// Whether a kernel that writes zeros would be found wrong.
    pub fn refuses_zeros(&self) -> bool {
        match self {
            Wanted::Close(truth) => !truth.accepts(|_| 0.0),
            Wanted::Exact(_, bytes) => bytes.iter().any(|byte| *byte != 0),
        }
    }

    fn share(&self, bytes: &[u8]) -> Result<f64, String> {
        match self {
            Wanted::Exact(element, expected) => exact(*element, expected, bytes).map(|()| 0.0),
            Wanted::Close(truth) => {
                let actual = decode(truth.element, bytes);
                let comparison = truth.compare(&actual);
                match comparison.wrong.first() {
                    Some(first) => Err(format!(
                        "{} of {} elements are wrong; the first, at {:?}, is {:?} and should be {:?} within {:?}",
                        comparison.wrong.len(),
                        comparison.total,
                        position(*first, &truth.shape),
                        actual[*first],
                        truth.expected[*first],
                        truth.allowed[*first],
                    )),
                    None if !comparison.right() => Err(format!("bits are lost: {:?}", comparison.lost_bits)),
                    None => Ok(comparison.share),
                }
            }
        }
    }
}

fn exact(element: ElementType, expected: &[u8], actual: &[u8]) -> Result<(), String> {
    if expected.len() != actual.len() {
        return Err(format!("{} bytes, and should have {}", actual.len(), expected.len()));
    }
    let wide = element.bytes();
    let pairs = expected.chunks(wide).zip(actual.chunks(wide)).enumerate();
    let wrong: Vec<usize> = pairs.filter(|(_, (expected, actual))| expected != actual).map(|(at, _)| at).collect();
    let Some(first) = wrong.first() else { return Ok(()) };
    let shown = |bytes: &[u8]| {
        let hex: String = bytes[first * wide..][..wide].iter().rev().map(|byte| format!("{byte:02x}")).collect();
        format!("{:?} (0x{hex})", decode(element, &bytes[first * wide..][..wide])[0])
    };
    Err(format!(
        "{} of {} elements are wrong; the first, at {first}, is {} and should be {}",
        wrong.len(),
        expected.len() / wide,
        shown(actual),
        shown(expected)
    ))
}

/// A run in words: `n = 64; declared data, seed 3; BLOCK = 32`.
pub fn described(configuration: &Configuration, check: &Check) -> String {
    format!("{}; {}; {}", words(&check.inputs()), check.data(), words(configuration))
}
