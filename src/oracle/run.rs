//! Evaluation: arrays and inputs go in, arrays come out.

use super::generate::{Frame, Mode, SITE_BITS};
use super::{Oracle, OracleError};
use crate::context::Inputs;
use crate::data::parallel;
use indexmap::IndexMap;
use peak_grammar::ir::Value;
use std::borrow::Cow;
use std::ptr;

/// Arrays by name: dense, row-major, in double precision.
pub type Arrays = IndexMap<String, Vec<f64>>;

/// What a wrong kernel would do instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alteration {
    /// Leading terms that every outermost sum leaves out.
    pub drop_first: u32,
    /// Trailing terms that every outermost sum leaves out.
    pub drop_last: u32,
    /// Two input arrays of one shape whose elements are exchanged.
    pub exchange: Option<(String, String)>,
}

/// Outputs with their scales.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged<T> {
    /// What each element should be.
    pub values: T,
    /// The sum of the magnitudes of the terms behind each element: what rounding errors are relative to.
    pub scales: T,
}

/// How many elements a sampled statement computes, and which.
pub(super) enum Which<'a> {
    All,
    Points(&'a [usize]),
}

/// Arrays known so far in an evaluation: given ones borrowed, computed ones owned.
pub(super) type Known<'a> = IndexMap<&'a str, (Cow<'a, [f64]>, Option<Vec<f64>>)>;

impl Oracle {
    /// Every output, in full.
    ///
    /// `arrays` holds the elements of every input and inout array.
    ///
    /// # Errors
    /// A missing input, a shape without a value, an access out of bounds.
    pub fn evaluate(&self, inputs: &Inputs, arrays: &Arrays) -> Result<Arrays, OracleError> {
        self.evaluate_altered(inputs, arrays, &Alteration::default())
    }

    /// Every output of a kernel that is wrong in a certain way.
    ///
    /// # Errors
    /// As [`Oracle::evaluate`].
    pub fn evaluate_altered(
        &self,
        inputs: &Inputs,
        arrays: &Arrays,
        alteration: &Alteration,
    ) -> Result<Arrays, OracleError> {
        let known = self.statements(inputs, arrays, alteration, Mode::Values)?;
        Ok(self.outputs(known).values)
    }

    /// Every output and its scales, in full.
    ///
    /// # Errors
    /// As [`Oracle::evaluate`].
    pub fn judge(&self, inputs: &Inputs, arrays: &Arrays) -> Result<Judged<Arrays>, OracleError> {
        let known = self.statements(inputs, arrays, &Alteration::default(), Mode::ValuesAndScales)?;
        Ok(self.outputs(known))
    }

    /// The scales of every output: for a sum, the sum of the magnitudes of its terms.
    ///
    /// # Errors
    /// As [`Oracle::evaluate`].
    pub fn scale(&self, inputs: &Inputs, arrays: &Arrays) -> Result<Arrays, OracleError> {
        Ok(self.judge(inputs, arrays)?.scales)
    }

    /// Evaluates every statement in full.
    fn statements<'a>(
        &'a self,
        inputs: &Inputs,
        arrays: &'a Arrays,
        alteration: &Alteration,
        mode: Mode,
    ) -> Result<Known<'a>, OracleError> {
        self.costs(inputs)?;
        let mut known = self.given(inputs, arrays, alteration)?;
        for (number, assignment) in self.computes.statements.iter().enumerate() {
            let (values, scales) = self.statement(number, &known, inputs, alteration, mode, &Which::All)?;
            known.insert(&assignment.target, (Cow::Owned(values), scales));
        }
        Ok(known)
    }

    /// The given arrays, checked, exchanged where asked for.
    pub(super) fn given<'a>(
        &'a self,
        inputs: &Inputs,
        arrays: &'a Arrays,
        alteration: &Alteration,
    ) -> Result<Known<'a>, OracleError> {
        let mut known = Known::new();
        for (name, array) in &self.names.arrays {
            let Some(given) = &array.given else { continue };
            let source = match &alteration.exchange {
                Some((a, b)) if a == given => b,
                Some((a, b)) if b == given => a,
                _ => given,
            };
            let problem = |problem: String| OracleError::Input { name: source.clone(), problem };
            let elements: usize = self.shape(name, inputs)?.iter().product();
            let values = arrays.get(source).ok_or_else(|| problem("no elements are given".to_owned()))?;
            if values.len() != elements {
                return Err(problem(format!("{} elements are given, {name} has {elements}", values.len())));
            }
            known.insert(name, (Cow::Borrowed(values.as_slice()), None));
        }
        Ok(known)
    }

    /// One statement: values and, in that mode, scales.
    pub(super) fn statement(
        &self,
        number: usize,
        known: &Known<'_>,
        inputs: &Inputs,
        alteration: &Alteration,
        mode: Mode,
        which: &Which<'_>,
    ) -> Result<(Vec<f64>, Option<Vec<f64>>), OracleError> {
        let tables = Tables::new(self, known, inputs, alteration)?;
        let target = &self.computes.statements[number].target;
        let shape = self.shape(target, inputs)?;
        let compiled = &self.module.statements[number][mode.index()];
        let elements: usize = match which {
            Which::All => shape.iter().product(),
            Which::Points(points) => points.len(),
        };
        self.check_reads(number, known)?;
        // One slot an element, so that a chunk never splits a value from its scale.
        let mut pairs = vec![[0.0f64; 2]; if mode.width() == 2 { elements } else { 0 }];
        let mut values = vec![0.0f64; if mode.width() == 2 { 0 } else { elements }];
        let compute = |first: usize, out: &mut [f64]| {
            let frame = tables.frame();
            let call = |out: &mut [f64], first: usize| {
                let last = first + out.len() / mode.width();
                // SAFETY: the tables cover every slot; lengths were checked against the shapes (`given`, and computed
                // arrays have their shape's length), shapes are positive, `check_reads` excludes arrays without
                // elements, and the range lies within the target: it is all of it or a point checked against it.
                unsafe { compiled.call(&frame, out, first as i64, last as i64) }
            };
            let result = match which {
                Which::All => call(out, first),
                Which::Points(points) => out
                    .chunks_mut(mode.width())
                    .zip(&points[first..])
                    .map(|(out, point)| call(out, *point))
                    .find(|result| *result != 0)
                    .unwrap_or(0),
            };
            match result {
                0 => Ok(()),
                failed => Err(bounds(target, &shape, failed, &compiled.sites)),
            }
        };
        if mode.width() == 1 {
            parallel::try_chunks(&mut values, compute)?;
            return Ok((values, None));
        }
        parallel::try_chunks(&mut pairs, |first, chunk| compute(first, chunk.as_flattened_mut()))?;
        Ok(pairs.iter().map(|[value, scale]| (*value, *scale)).unzip::<_, _, Vec<_>, Vec<_>>())
            .map(|(a, b)| (a, Some(b)))
    }

    /// Every array that a statement reads has elements by now: an output is read only after it was assigned.
    fn check_reads(&self, number: usize, known: &Known<'_>) -> Result<(), OracleError> {
        let assignment = &self.computes.statements[number];
        let mut missing = None;
        assignment.value.visit(&mut |value| {
            if let Value::Element { array, .. } = value
                && !known.contains_key(array.as_str())
            {
                missing.get_or_insert_with(|| array.to_owned());
            }
        });
        match missing {
            None => Ok(()),
            Some(array) => Err(OracleError::Unsupported {
                target: assignment.target.clone(),
                what: format!("reading {array} before it is assigned"),
            }),
        }
    }

    /// What arguments hold in the end.
    fn outputs(&self, known: Known<'_>) -> Judged<Arrays> {
        let mut judged = Judged::<Arrays>::default();
        for (name, (values, scales)) in known {
            let assigned = self.computes.statements.iter().any(|assignment| assignment.target == name);
            if assigned && self.names.arrays.get(name).is_some_and(|array| array.argument) {
                judged.values.insert(name.to_owned(), values.into_owned());
                judged.scales.insert(name.to_owned(), scales.unwrap_or_default());
            }
        }
        judged
    }
}

/// The tables behind a [`Frame`].
pub(super) struct Tables {
    values: Vec<*const f64>,
    scales: Vec<*const f64>,
    extents: Vec<i64>,
    scalars: Vec<i64>,
    drop_first: i64,
    drop_last: i64,
}

// SAFETY: the pointers are read only, and what they point to is borrowed, unchanged, for as long as the tables live
// (`statement` holds `known` for its whole length).
unsafe impl Sync for Tables {}

impl Tables {
    pub(super) fn new(
        oracle: &Oracle,
        known: &Known<'_>,
        inputs: &Inputs,
        alteration: &Alteration,
    ) -> Result<Tables, OracleError> {
        let names = &oracle.names;
        let missing =
            |name: &String| OracleError::Input { name: name.clone(), problem: "no value is given".to_owned() };
        let scalar = |name: &String| inputs.get(name).copied().ok_or_else(|| missing(name));
        let mut extents = Vec::new();
        for name in names.arrays.keys() {
            // Below MAX_ELEMENTS, so they fit.
            extents.extend(oracle.shape(name, inputs)?.into_iter().map(|extent| extent as i64));
        }
        let pointer = |values: Option<&[f64]>| values.map_or(ptr::null(), <[f64]>::as_ptr);
        let entry = |name: &String| known.get(name.as_str());
        Ok(Tables {
            values: names.arrays.keys().map(|name| pointer(entry(name).map(|(values, _)| values.as_ref()))).collect(),
            scales: names
                .arrays
                .keys()
                .map(|name| pointer(entry(name).and_then(|(_, scales)| scales.as_deref())))
                .collect(),
            extents,
            scalars: names.scalars.iter().map(scalar).collect::<Result<_, _>>()?,
            drop_first: i64::from(alteration.drop_first),
            drop_last: i64::from(alteration.drop_last),
        })
    }

    pub(super) fn frame(&self) -> Frame {
        Frame {
            values: self.values.as_ptr(),
            scales: self.scales.as_ptr(),
            extents: self.extents.as_ptr(),
            scalars: self.scalars.as_ptr(),
            drop_first: self.drop_first,
            drop_last: self.drop_last,
        }
    }
}

/// The error behind a function's result.
fn bounds(target: &str, shape: &[usize], failed: i64, sites: &[String]) -> OracleError {
    let site = usize::try_from(failed & ((1 << SITE_BITS) - 1)).unwrap_or(0);
    let mut rest = usize::try_from(failed >> SITE_BITS).unwrap_or(0);
    let mut index = vec![0; shape.len()];
    for (slot, extent) in index.iter_mut().zip(shape).rev() {
        *slot = rest % extent;
        rest /= extent;
    }
    let what = site.checked_sub(1).and_then(|site| sites.get(site)).cloned().unwrap_or_default();
    OracleError::Bounds { target: target.to_owned(), index, what }
}
