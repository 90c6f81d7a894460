//! Evaluation at chosen elements: of the arrays that lie behind them, only what they read is computed, once.
//!
//! From the last statement back, each marks what its needed elements read ([`Mode::Reads`]); then, from the first on,
//! the marked elements are computed. Arrays keep their full length in memory that is touched only where it is needed.

use super::generate::Mode;
use super::module::Marks;
use super::run::{Known, Tables, Which};
use super::{Alteration, Arrays, Judged, MAX_READS, Oracle, OracleError};
use crate::context::Inputs;
use std::borrow::Cow;

/// What an evaluation is asked for.
struct Asked<'a> {
    mode: Mode,
    inputs: &'a Inputs,
    arrays: &'a Arrays,
    alteration: &'a Alteration,
}

impl Oracle {
    /// The elements of an output at flat indices.
    ///
    /// # Errors
    /// As [`Oracle::evaluate`], a target that `computes` does not assign or a point outside it, and more than
    /// [`MAX_READS`] reads.
    pub fn sample(
        &self,
        inputs: &Inputs,
        arrays: &Arrays,
        target: &str,
        points: &[usize],
    ) -> Result<Vec<f64>, OracleError> {
        self.sample_altered(inputs, arrays, &Alteration::default(), target, points)
    }

    /// As [`Oracle::sample`], of a kernel that is wrong in a certain way.
    ///
    /// # Errors
    /// As [`Oracle::sample`].
    pub fn sample_altered(
        &self,
        inputs: &Inputs,
        arrays: &Arrays,
        alteration: &Alteration,
        target: &str,
        points: &[usize],
    ) -> Result<Vec<f64>, OracleError> {
        Ok(self.sample_in(&Asked { mode: Mode::Values, inputs, arrays, alteration }, target, points)?.values)
    }

    /// As [`Oracle::sample`], with scales.
    ///
    /// # Errors
    /// As [`Oracle::sample`].
    pub fn sample_judged(
        &self,
        inputs: &Inputs,
        arrays: &Arrays,
        target: &str,
        points: &[usize],
    ) -> Result<Judged<Vec<f64>>, OracleError> {
        let alteration = &Alteration::default();
        self.sample_in(&Asked { mode: Mode::ValuesAndScales, inputs, arrays, alteration }, target, points)
    }

    fn sample_in(&self, asked: &Asked<'_>, target: &str, points: &[usize]) -> Result<Judged<Vec<f64>>, OracleError> {
        let Asked { mode, inputs, arrays, alteration } = *asked;
        let last = self.statement_of(target)?;
        let elements: usize = self.shape(target, inputs)?.iter().product();
        if let Some(point) = points.iter().find(|point| **point >= elements) {
            let problem = format!("there is no element {point} among {elements}");
            return Err(OracleError::Input { name: target.to_owned(), problem });
        }
        let mut known = self.given(inputs, arrays, alteration)?;
        for (number, needed) in self.needed(last, &known, asked, points)?.iter().enumerate() {
            if needed.is_empty() {
                self.hold_nothing(number, &mut known, asked)?;
                continue;
            }
            let (values, scales) = self.statement(number, &known, inputs, alteration, mode, &Which::Points(needed))?;
            let target = &self.computes.statements[number].target;
            let elements = self.shape(target, inputs)?.iter().product();
            let scattered = |compact: Vec<f64>| {
                // Zeroed memory that is not touched takes no room.
                let mut full = vec![0.0; elements];
                needed.iter().zip(compact).for_each(|(flat, value)| full[*flat] = value);
                full
            };
            known.insert(target, (Cow::Owned(scattered(values)), scales.map(scattered)));
        }
        let (values, scales) = self.statement(last, &known, inputs, alteration, mode, &Which::Points(points))?;
        Ok(Judged { values, scales: scales.unwrap_or_default() })
    }

    /// An array none of whose elements is read still has its length: the code's tables need it.
    fn hold_nothing<'a>(&'a self, number: usize, known: &mut Known<'a>, asked: &Asked<'_>) -> Result<(), OracleError> {
        let target = &self.computes.statements[number].target;
        let elements: usize = self.shape(target, asked.inputs)?.iter().product();
        let scales = (asked.mode == Mode::ValuesAndScales).then(|| vec![0.0; elements]);
        known.insert(target, (Cow::Owned(vec![0.0; elements]), scales));
        Ok(())
    }

    /// For each statement before `last`, the elements that `points` of its target need, ascending.
    fn needed(
        &self,
        last: usize,
        known: &Known<'_>,
        asked: &Asked<'_>,
        points: &[usize],
    ) -> Result<Vec<Vec<usize>>, OracleError> {
        let Asked { inputs, alteration, .. } = *asked;
        let costs = self.costs(inputs)?;
        let length = |name: &String| Ok(self.shape(name, inputs)?.iter().product::<usize>());
        let lengths: Result<Vec<usize>, OracleError> = self.names.arrays.keys().map(length).collect();
        let mut marks = Marks::new(lengths?);
        let tables = Tables::new(self, known, inputs, alteration)?;
        let mut needed = vec![Vec::new(); last];
        let mut reads = 0.0;
        for number in (0..=last).rev() {
            let mut these = match number == last {
                true => points.to_vec(),
                false => self.slot_of(number).map(|slot| std::mem::take(&mut marks.needed[slot])).unwrap_or_default(),
            };
            these.sort_unstable();
            reads += these.len() as f64 * costs[number].1.reads.max(1.0);
            if reads > MAX_READS {
                return Err(too_many(points.len(), reads));
            }
            let compiled = &self.module.statements[number][Mode::Reads.index()];
            for point in &these {
                let (first, next) = (*point as i64, *point as i64 + 1);
                // SAFETY: the tables cover every slot; in this mode the code reads elements of given arrays only, whose
                // lengths were checked; shapes are positive, and the point lies within the target: it was checked
                // against it, or marked within its extents.
                unsafe { compiled.mark(&tables.frame(), &mut marks, first, next) }
            }
            if number < last {
                needed[number] = these;
            }
        }
        Ok(needed)
    }

    fn slot_of(&self, number: usize) -> Option<usize> {
        self.names.arrays.get_index_of(&self.computes.statements[number].target)
    }
}

fn too_many(points: usize, reads: f64) -> OracleError {
    OracleError::Limit {
        what: format!(
            "what is behind {points} sampled element{}, in reads of arrays,",
            if points == 1 { "" } else { "s" }
        ),
        size: format!("{reads:.1e}"),
        limit: format!("{MAX_READS:.0e}"),
    }
}
