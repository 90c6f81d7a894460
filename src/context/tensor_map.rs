//! Tensor maps of a launch plan in concrete numbers. Never encodes one: that is a runtime's.

use super::launch::{ConcretePlan, Invalid, evaluate};
use peak_backend_api::{TensorElement, TensorMap};
use peak_grammar::ir::{ElementType, Expr, Scope};

/// A statement `tensor map NAME over ARRAY box (...) swizzle N`.
pub(super) struct Statement<'a> {
    pub name: &'a str,
    pub array: &'a str,
    pub box_shape: &'a [Expr],
    pub swizzle: u32,
}

/// The map over a buffer of the plan, checked.
///
/// # Errors
/// [`Invalid::TensorMap`] for what no device takes; an expression without a value.
pub(super) fn concrete(
    statement: &Statement<'_>,
    scope: &dyn Scope,
    plan: &ConcretePlan,
) -> Result<TensorMap, Invalid> {
    let Statement { name, array, box_shape, swizzle } = *statement;
    let invalid = |problem: String| Invalid::TensorMap { name: name.to_owned(), problem };
    let Some(buffer) = plan.buffers.iter().find(|buffer| buffer.name == array) else {
        return Err(invalid(format!("`{array}` is no array of this plan")));
    };
    let sides = box_shape.iter().map(|side| {
        let value = evaluate(&format!("the box of {name}"), side, scope)?;
        u64::try_from(value).map_err(|_| invalid(format!("a box with a side of {value} elements")))
    });
    let sides: Vec<u64> = sides.collect::<Result<_, _>>()?;
    let extents: Vec<u64> = buffer.shape.iter().map(|extent| *extent as u64).collect();
    checked(array, buffer.element, &extents, &sides, swizzle).map_err(invalid)
}

/// The map over an array of these extents.
///
/// # Errors
/// The first thing that no device takes, in words that follow the map's name.
pub(crate) fn checked(
    array: &str,
    of: ElementType,
    extents: &[u64],
    sides: &[u64],
    swizzle: u32,
) -> Result<TensorMap, String> {
    let map = TensorMap::dense(array, element(of), extents, sides, swizzle);
    map.check()?;
    Ok(map)
}

/// A type of the language as a backend knows it.
#[must_use]
pub fn element(element: ElementType) -> TensorElement {
    match element {
        ElementType::F16 => TensorElement::F16,
        ElementType::Bf16 => TensorElement::Bf16,
        ElementType::F32 => TensorElement::F32,
        ElementType::F64 => TensorElement::F64,
        ElementType::I8 => TensorElement::I8,
        ElementType::U8 => TensorElement::U8,
        ElementType::I32 => TensorElement::I32,
        ElementType::U32 => TensorElement::U32,
        ElementType::I64 => TensorElement::I64,
        ElementType::U64 => TensorElement::U64,
    }
}
