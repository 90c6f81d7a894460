//! One assignment of `computes` to one function of Cranelift's IR.
//!
//! The function computes the elements `first..last` (flat, row-major) of the target:
//!
//! `fn(frame: *const Frame, out: *mut f64, first: i64, last: i64) -> i64`
//!
//! (or, in the mode [`Mode::Reads`], marks what computing them would read, and `out` is a `*mut Marks`).
//!
//! It returns 0, or `flat << SITE_BITS | site` for the first element at which a checked operation fails; sites are
//! numbered from 1 in [`Generated::sites`]. Every access is checked against the array's extents, every division
//! against its divisor, so no `computes` can make the code fault.

mod integers;
mod predicates;
mod reads;
mod scales;
mod values;

use super::OracleError;
use super::module::Import;
use super::names::Names;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{self, Block, InstBuilder, MemFlagsData};
use cranelift_frontend::FunctionBuilder;
use peak_grammar::ir::Assignment;
use std::mem::offset_of;

/// Bits of a result that number the site; the rest is the flat index.
pub(super) const SITE_BITS: u32 = 16;

/// What the generated code reads. Tables are indexed by the slots of [`Names`].
#[repr(C)]
#[derive(Debug)]
pub(super) struct Frame {
    /// Elements of each array.
    pub values: *const *const f64,
    /// Scale of each element of each computed array; given ones have their magnitudes.
    pub scales: *const *const f64,
    /// Extents of all arrays.
    pub extents: *const i64,
    /// Scalar inputs.
    pub scalars: *const i64,
    /// Leading terms that the outermost sums leave out.
    pub drop_first: i64,
    /// Trailing terms that the outermost sums leave out.
    pub drop_last: i64,
}

/// What a function writes for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    /// The value.
    Values,
    /// The value, then its scale: the sum of the magnitudes of the terms.
    ValuesAndScales,
    /// Nothing: what it would read of arrays that statements define is marked.
    Reads,
}

impl Mode {
    /// Doubles written for each element.
    pub fn width(self) -> usize {
        match self {
            Mode::Values => 1,
            Mode::ValuesAndScales => 2,
            Mode::Reads => 0,
        }
    }

    /// The place of its code among that of all modes.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A number and, where the mode asks for it, its scale.
#[derive(Clone, Copy, Debug)]
struct Number {
    value: ir::Value,
    scale: Option<ir::Value>,
}

/// The state of generating one function.
struct Generator<'a, 'f> {
    builder: FunctionBuilder<'f>,
    names: &'a Names,
    target: &'a str,
    mode: Mode,
    /// Functions of the host that the code may call.
    imports: &'a dyn Fn(Import) -> Option<ir::FuncRef>,
    /// Index variables and bound variables, innermost last.
    variables: Vec<(String, ir::Value)>,
    /// `frame`.
    frame: ir::Value,
    /// The second argument.
    out: ir::Value,
    /// The element being computed.
    flat: Option<ir::Value>,
    /// Returns its parameter.
    leave: Block,
    /// Where a failed check goes instead: there is nothing to mark.
    skip: Option<Block>,
    sites: Vec<String>,
    /// Reductions around the current value.
    depth: usize,
}

/// Fills a function's body.
///
/// # Errors
/// What is not supported, or an unknown name. The text of each site is returned.
pub(super) fn generate(
    mut builder: FunctionBuilder<'_>,
    config: cranelift_codegen::isa::TargetFrontendConfig,
    assignment: &Assignment,
    names: &Names,
    mode: Mode,
    imports: &dyn Fn(Import) -> Option<ir::FuncRef>,
) -> Result<Vec<String>, OracleError> {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let leave = builder.create_block();
    builder.append_block_param(leave, I64);
    builder.set_cold_block(leave);
    let [frame, out, first, last] = *builder.block_params(entry) else {
        return Err(OracleError::Host("a function without its four parameters".to_owned()));
    };
    let target = assignment.target.as_str();
    let mut generator = Generator {
        builder,
        names,
        target,
        mode,
        imports,
        variables: Vec::new(),
        frame,
        out,
        flat: None,
        leave,
        skip: None,
        sites: Vec::new(),
        depth: 0,
    };
    generator.outer_loop(assignment, first, last)?;
    let Generator { mut builder, sites, .. } = generator;
    builder.seal_all_blocks();
    builder.finalize(config);
    match sites.len() < 1 << SITE_BITS {
        true => Ok(sites),
        false => {
            Err(OracleError::Unsupported { target: target.to_owned(), what: "an expression this long".to_owned() })
        }
    }
}

impl Generator<'_, '_> {
    /// `for flat in first..last`: the element's value goes to `out`.
    fn outer_loop(&mut self, assignment: &Assignment, first: ir::Value, last: ir::Value) -> Result<(), OracleError> {
        let (header, body) = (self.builder.create_block(), self.builder.create_block());
        let flat = self.builder.append_block_param(header, I64);
        self.builder.ins().jump(header, &[first.into()]);
        self.builder.switch_to_block(header);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, flat, last);
        let zero = self.integer(0);
        self.builder.ins().brif(more, body, &[], self.leave, &[zero.into()]);
        self.builder.switch_to_block(body);
        self.flat = Some(flat);
        self.bind_indices(assignment, flat)?;
        if self.mode == Mode::Reads {
            self.reads(&assignment.value)?;
        } else {
            let number = self.value(&assignment.value)?;
            self.store(flat, first, number);
        }
        let next = self.builder.ins().iadd_imm_s(flat, 1);
        self.builder.ins().jump(header, &[next.into()]);
        self.builder.switch_to_block(self.leave);
        let result = self.builder.block_params(self.leave)[0];
        self.builder.ins().return_(&[result]);
        Ok(())
    }

    /// Index variables from the flat index, innermost first.
    fn bind_indices(&mut self, assignment: &Assignment, flat: ir::Value) -> Result<(), OracleError> {
        let (_, array) = self.names.array(&assignment.target, &assignment.target, assignment.indices.len())?;
        let first_extent = array.first_extent;
        let mut rest = flat;
        for (dimension, index) in assignment.indices.iter().enumerate().rev() {
            let extent = self.extent(first_extent + dimension);
            // Extents are positive: the layout refuses others before any code runs.
            let value = self.builder.ins().urem(rest, extent);
            rest = self.builder.ins().udiv(rest, extent);
            self.variables.push((index.clone(), value));
        }
        Ok(())
    }

    fn store(&mut self, flat: ir::Value, first: ir::Value, number: Number) {
        let bytes = i64::try_from(self.mode.width() * size_of::<f64>()).unwrap_or(i64::MAX);
        let offset = self.builder.ins().isub(flat, first);
        let offset = self.builder.ins().imul_imm_s(offset, bytes);
        let place = self.builder.ins().iadd(self.out, offset);
        self.builder.ins().store(MemFlagsData::trusted(), number.value, place, 0);
        if let Some(scale) = number.scale {
            self.builder.ins().store(MemFlagsData::trusted(), scale, place, 8);
        }
    }

    fn integer(&mut self, value: i64) -> ir::Value {
        self.builder.ins().iconst(I64, value)
    }

    fn number(&mut self, value: f64) -> ir::Value {
        self.builder.ins().f64const(value)
    }

    /// A field of the frame: a pointer or a number, 64 bits wide. It does not change during a call.
    fn field(&mut self, offset: usize) -> ir::Value {
        let offset = i32::try_from(offset).unwrap_or(i32::MAX);
        self.builder.ins().load(I64, MemFlagsData::trusted().with_readonly().with_can_move(), self.frame, offset)
    }

    /// An entry of a table of 64-bit words.
    fn entry(&mut self, table: usize, slot: usize) -> ir::Value {
        let table = self.field(table);
        let offset = i32::try_from(slot * 8).unwrap_or(i32::MAX);
        self.builder.ins().load(I64, MemFlagsData::trusted().with_readonly().with_can_move(), table, offset)
    }

    fn extent(&mut self, slot: usize) -> ir::Value {
        self.entry(offset_of!(Frame, extents), slot)
    }

    /// Goes on where `holds`, else leaves with the site's number.
    fn check(&mut self, holds: ir::Value, what: String) {
        if let Some(skip) = self.skip {
            let next = self.builder.create_block();
            self.builder.ins().brif(holds, next, &[], skip, &[]);
            self.builder.switch_to_block(next);
            return;
        }
        let site = self.sites.iter().position(|site| *site == what).unwrap_or_else(|| {
            self.sites.push(what);
            self.sites.len() - 1
        });
        let next = self.builder.create_block();
        let failed = self.builder.create_block();
        self.builder.set_cold_block(failed);
        self.builder.ins().brif(holds, next, &[], failed, &[]);
        self.builder.switch_to_block(failed);
        let flat = self.flat.unwrap_or(self.frame);
        let shifted = self.builder.ins().ishl_imm_u(flat, i64::from(SITE_BITS));
        let code = self.builder.ins().bor_imm_s(shifted, i64::try_from(site + 1).unwrap_or(i64::MAX));
        self.builder.ins().jump(self.leave, &[code.into()]);
        self.builder.switch_to_block(next);
    }

    fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, OracleError> {
        Err(OracleError::Unsupported { target: self.target.to_owned(), what: what.into() })
    }
}

/// The parameter types of a block that takes a number.
fn number_parameters(builder: &mut FunctionBuilder<'_>, block: Block, mode: Mode) -> Number {
    let value = builder.append_block_param(block, F64);
    let scale = (mode == Mode::ValuesAndScales).then(|| builder.append_block_param(block, F64));
    Number { value, scale }
}
