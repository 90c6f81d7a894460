//! A transformation's pattern over `computes` against a kernel: the names of the pattern bound to the kernel's own.
//!
//! Structural: index variables may have other names, factors and terms another order. No algebra beyond that.

use crate::ir::{ArgumentKind, Assignment, BinaryOp, Computes, Expr, Kernel, Predicate, Value, ValueOp};
use indexmap::IndexMap;
use std::cell::Cell;
use std::collections::BTreeSet;

/// Factors or terms whose order is tried, at most: beyond, they must come in the pattern's order.
const MAX_REORDERED: usize = 6;
/// Comparisons of one match, at most: orders multiply, and a hostile pattern may have many.
const MAX_STEPS: u32 = 100_000;

/// What a pattern's names mean in a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    /// `LEFT` -> `A`.
    pub arrays: IndexMap<String, String>,
    /// `K` -> `n`.
    pub sizes: IndexMap<String, Expr>,
    /// `i` -> `row`: index variables.
    pub indices: IndexMap<String, String>,
}

impl Bindings {
    /// The expression for a name in a requirement, as `Expr::substitute` asks for it; arrays for `sizeof`.
    #[must_use]
    pub fn expr(&self, name: &str) -> Option<Expr> {
        let array = || self.arrays.get(name).map(|array| Expr::Name(array.clone()));
        self.sizes.get(name).cloned().or_else(array)
    }

    /// How a name is spelt in prose for this kernel.
    #[must_use]
    pub fn spell(&self, name: &str) -> Option<String> {
        let size = self.sizes.get(name).map(Expr::to_string);
        size.or_else(|| self.arrays.get(name).or_else(|| self.indices.get(name)).cloned())
    }
}

/// Why a pattern does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Mismatch {
    /// In words, without a full stop.
    pub reason: String,
}

fn mismatch<T>(reason: impl Into<String>) -> Result<T, Mismatch> {
    Err(Mismatch { reason: reason.into() })
}

/// Matches a pattern against what a kernel computes.
///
/// A kernel may have more statements than the pattern: the pattern's match some of the kernel's, in order. Statements
/// that define outputs are tried before those that define local arrays, and of these the first that fits is bound.
///
/// # Errors
/// The first difference, in words.
pub fn bind(pattern: &Computes, kernel: &Kernel) -> Result<Bindings, Mismatch> {
    let Some(computes) = &kernel.computes else {
        return mismatch(format!("the kernel `{}` does not say what it computes", kernel.name));
    };
    let (wanted, found) = (pattern.statements.len(), computes.statements.len());
    if wanted > found {
        return mismatch(format!("the kernel computes {found} statements, the pattern has {wanted}"));
    }
    let matcher = Matcher { steps: Cell::new(0), kernel };
    matcher.statements(Bindings::default(), &pattern.statements, &computes.statements)
}

impl Bindings {
    fn array(&mut self, wanted: &str, found: &str) -> Result<(), Mismatch> {
        match self.arrays.get(wanted) {
            None => {
                self.arrays.insert(wanted.to_owned(), found.to_owned());
                Ok(())
            }
            Some(bound) if bound == found => Ok(()),
            Some(bound) => mismatch(format!("`{wanted}` is `{bound}` in one place and `{found}` in another")),
        }
    }

    /// Binds an index variable for what is inside its reduction or statement; an outer one of the name is hidden.
    fn index(&mut self, wanted: &str, found: &str) -> Result<(), Mismatch> {
        match self.indices.get(wanted) {
            None => {
                self.indices.insert(wanted.to_owned(), found.to_owned());
                Ok(())
            }
            Some(bound) if bound == found => Ok(()),
            Some(bound) => mismatch(format!("the index `{wanted}` is `{bound}` in one place and `{found}` in another")),
        }
    }
}

/// One match.
struct Matcher<'a> {
    steps: Cell<u32>,
    kernel: &'a Kernel,
}

impl Matcher<'_> {
    /// The bindings with those of the pattern's statements, each matched with a later one of the kernel's.
    fn statements(
        &self,
        bindings: Bindings,
        wanted: &[Assignment],
        found: &[Assignment],
    ) -> Result<Bindings, Mismatch> {
        let Some((first, rest)) = wanted.split_first() else { return Ok(bindings) };
        let candidates = found.len().saturating_sub(rest.len());
        let output = |at: &usize| self.kernel.arguments.iter().any(|known| known.name == found[*at].target);
        let (outputs, locals): (Vec<usize>, Vec<usize>) = (0..candidates).partition(output);
        let mut reasons = Vec::new();
        for at in outputs.into_iter().chain(locals) {
            let attempt = self.statement(bindings.clone(), first, &found[at]);
            match attempt.and_then(|held| self.statements(held, rest, &found[at + 1..])) {
                Ok(bindings) => return Ok(bindings),
                Err(why) => reasons.push((&found[at].target, why.reason)),
            }
        }
        match reasons.as_slice() {
            [(_, only)] => mismatch(only.clone()),
            all => {
                let each: Vec<String> = all.iter().map(|(target, why)| format!("for `{target}`, {why}")).collect();
                mismatch(format!("no statement of the kernel fits: {}", each.join("; ")))
            }
        }
    }

    /// One statement. Index variables are each statement's own: those of earlier ones are hidden, and kept for prose.
    fn statement(&self, mut bindings: Bindings, wanted: &Assignment, found: &Assignment) -> Result<Bindings, Mismatch> {
        if wanted.indices.len() != found.indices.len() {
            let (own, other) = (found.indices.len(), wanted.indices.len());
            return mismatch(format!("`{}` has {own} dimensions, `{}` has {other}", found.target, wanted.target));
        }
        let mut indices = std::mem::take(&mut bindings.indices);
        bindings.array(&wanted.target, &found.target)?;
        for (wanted, found) in wanted.indices.iter().zip(&found.indices) {
            bindings.index(wanted, found)?;
        }
        let bindings = self.extents(bindings, wanted, found)?;
        let mut bindings = self.value(bindings, &wanted.value, &found.value)?;
        for (wanted, found) in std::mem::take(&mut bindings.indices) {
            indices.entry(wanted).or_insert(found);
        }
        bindings.indices = indices;
        Ok(bindings)
    }

    /// The bindings with those of how far the target's indices run, where the pattern says it.
    fn extents(&self, bindings: Bindings, wanted: &Assignment, found: &Assignment) -> Result<Bindings, Mismatch> {
        let argument = self.kernel.arguments.iter().find(|known| known.name == found.target);
        let extents = match argument.map(|argument| &argument.kind) {
            Some(ArgumentKind::Array { shape, .. }) => shape,
            _ => &found.extents,
        };
        if extents.len() != found.indices.len() && !wanted.extents.is_empty() {
            return mismatch(format!("nothing says how far the indices of `{}` run", found.target));
        }
        wanted.extents.iter().zip(extents).try_fold(bindings, |held, (wanted, found)| self.size(held, wanted, found))
    }

    fn step(&self) -> Result<(), Mismatch> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_STEPS {
            return mismatch("the expressions have too many orders to compare");
        }
        Ok(())
    }

    /// The bindings with those of a value added.
    fn value(&self, mut bindings: Bindings, wanted: &Value, found: &Value) -> Result<Bindings, Mismatch> {
        self.step()?;
        let differ = || Mismatch { reason: format!("the kernel has `{found}` where the pattern has `{wanted}`") };
        match (wanted, found) {
            (Value::Integer(Expr::Name(name)), _) if !bindings.indices.contains_key(name) => match found {
                Value::Integer(expr) => self.size(bindings, &Expr::Name(name.clone()), expr),
                Value::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                    #[allow(clippy::cast_possible_truncation, reason = "whole, and far below 2^63")]
                    let whole = *number as i64;
                    self.size(bindings, &Expr::Name(name.clone()), &Expr::Integer(whole))
                }
                _ => Err(differ()),
            },
            (Value::Number(a), Value::Number(b)) if a == b => Ok(bindings),
            (Value::Integer(a), Value::Integer(b)) => self.size(bindings, a, b),
            (Value::Element { array: a, indices: i }, Value::Element { array: b, indices: j })
                if i.len() == j.len() =>
            {
                bindings.array(a, b)?;
                i.iter().zip(j).try_fold(bindings, |held, (i, j)| self.size(held, i, j)).map_err(|_| differ())
            }
            (Value::Old { array: a, indices: i }, Value::Old { array: b, indices: j }) if i.len() == j.len() => {
                bindings.array(a, b)?;
                i.iter().zip(j).try_fold(bindings, |held, (i, j)| self.size(held, i, j)).map_err(|_| differ())
            }
            (Value::Negate(a), Value::Negate(b)) => self.value(bindings, a, b),
            (Value::Binary(a, ..), Value::Binary(b, ..)) if a == b && matches!(a, ValueOp::Add | ValueOp::Mul) => {
                let (wanted, found) = (flat(*a, wanted), flat(*a, found));
                if wanted.len() != found.len() {
                    Err(differ())
                } else {
                    self.any_order(bindings, &wanted, &found, &differ)
                }
            }
            (Value::Binary(a, al, ar), Value::Binary(b, bl, br)) if a == b => {
                self.value(self.value(bindings, al, bl)?, ar, br)
            }
            (Value::Call(a, i), Value::Call(b, j)) if a == b && i.len() == j.len() => {
                i.iter().zip(j).try_fold(bindings, |held, (i, j)| self.value(held, i, j))
            }
            (
                Value::Reduce { op: a, variable: i, low: il, high: ih, filter: ip, body: ib },
                Value::Reduce { op: b, variable: j, low: jl, high: jh, filter: jp, body: jb },
            ) => {
                if a != b {
                    return mismatch(format!("the kernel has a {} where the pattern has a {}", b.name(), a.name()));
                }
                bindings = self.size(self.size(bindings, il, jl)?, ih, jh)?;
                bindings.indices.shift_remove(i);
                bindings.index(i, j)?;
                let bindings = match (ip, jp) {
                    (None, None) => bindings,
                    (Some(wanted), Some(found)) => self.predicate(bindings, wanted, found)?,
                    _ => return Err(differ()),
                };
                self.value(bindings, ib, jb)
            }
            (
                Value::Where { condition: a, then: at, otherwise: ao },
                Value::Where { condition: b, then: bt, otherwise: bo },
            ) => {
                let sides = self.predicate(bindings, a, b)?;
                self.value(self.value(sides, at, bt)?, ao, bo)
            }
            _ => Err(differ()),
        }
    }

    /// The bindings with those of a condition added.
    fn predicate(&self, bindings: Bindings, wanted: &Predicate, found: &Predicate) -> Result<Bindings, Mismatch> {
        self.step()?;
        match (wanted, found) {
            (Predicate::Compare(a, al, ar), Predicate::Compare(b, bl, br)) if a == b => {
                self.value(self.value(bindings, al, bl)?, ar, br)
            }
            (Predicate::And(a), Predicate::And(b)) | (Predicate::Or(a), Predicate::Or(b)) if a.len() == b.len() => {
                a.iter().zip(b).try_fold(bindings, |held, (a, b)| self.predicate(held, a, b))
            }
            (Predicate::Not(a), Predicate::Not(b)) => self.predicate(bindings, a, b),
            _ => mismatch(format!("the kernel has `{found}` where the pattern has `{wanted}`")),
        }
    }

    /// Matches factors or terms in any order; the first reason found is given where none fits.
    fn any_order(
        &self,
        bindings: Bindings,
        wanted: &[&Value],
        found: &[&Value],
        differ: &dyn Fn() -> Mismatch,
    ) -> Result<Bindings, Mismatch> {
        let Some((first, rest)) = wanted.split_first() else { return Ok(bindings) };
        let tried = if found.len() > MAX_REORDERED { 1 } else { found.len() };
        let mut reason = None;
        for at in 0..tried {
            let others: Vec<&Value> = found.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, v)| *v).collect();
            let attempt = self.value(bindings.clone(), first, found[at]);
            let attempt = attempt.and_then(|held| self.any_order(held, rest, &others, differ));
            match attempt {
                Ok(bindings) => return Ok(bindings),
                Err(why) => drop(reason.get_or_insert(why)),
            }
        }
        Err(reason.unwrap_or_else(differ))
    }

    /// The bindings with those of an index or size added.
    fn size(&self, mut bindings: Bindings, wanted: &Expr, found: &Expr) -> Result<Bindings, Mismatch> {
        self.step()?;
        let differ = || Mismatch { reason: format!("the kernel has `{found}` where the pattern has `{wanted}`") };
        match (wanted, found) {
            (Expr::Name(name), _) if bindings.indices.contains_key(name) => match found {
                Expr::Name(other) if bindings.indices.get(name) == Some(other) => Ok(bindings),
                _ => Err(differ()),
            },
            (Expr::Name(name), _) => match bindings.sizes.get(name) {
                Some(bound) if bound == found => Ok(bindings),
                Some(bound) => mismatch(format!("`{name}` is `{bound}` in one place and `{found}` in another")),
                None => {
                    let mut names = BTreeSet::new();
                    found.collect_names(&mut names);
                    if bindings.indices.values().any(|index| names.contains(index)) {
                        return mismatch(format!("`{name}` would be `{found}`, which changes from element to element"));
                    }
                    bindings.sizes.insert(name.clone(), found.clone());
                    Ok(bindings)
                }
            },
            (Expr::Binary(a, al, ar), Expr::Binary(b, bl, br)) if a == b => {
                let straight = self.size(bindings.clone(), al, bl).and_then(|held| self.size(held, ar, br));
                match (straight, a) {
                    (Err(_), BinaryOp::Add | BinaryOp::Mul) => self.size(self.size(bindings, al, br)?, ar, bl),
                    (straight, _) => straight,
                }
            }
            (Expr::Negate(a), Expr::Negate(b)) => self.size(bindings, a, b),
            (Expr::CeilDiv(al, ar), Expr::CeilDiv(bl, br)) | (Expr::FloorDiv(al, ar), Expr::FloorDiv(bl, br)) => {
                self.size(self.size(bindings, al, bl)?, ar, br)
            }
            _ if wanted == found => Ok(bindings),
            _ => Err(differ()),
        }
    }
}

/// The factors of a product or terms of a sum, however it is nested.
fn flat(op: ValueOp, value: &Value) -> Vec<&Value> {
    match value {
        Value::Binary(own, left, right) if *own == op => {
            let mut all = flat(op, left);
            all.extend(flat(op, right));
            all
        }
        other => vec![other],
    }
}
