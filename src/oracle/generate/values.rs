//! Values in double precision and, beside them, their scales (`scales.rs` has those of functions).
//!
//! The scale of a value bounds how far rounding can move it, in units of the relative error of one operation times the
//! number of operations in a row: the sum of the magnitudes of the terms for a sum, the product for a product.

use super::super::OracleError;
use super::super::module::Import;
use super::super::names::on_entry;
use super::{Frame, Generator, Mode, Number, number_parameters};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{self, Block, BlockArg, InstBuilder, MemFlagsData};
use peak_grammar::ir::{Expr, Function, Predicate, ReduceOp, Value, ValueOp};
use std::mem::offset_of;

impl Generator<'_, '_> {
    pub(super) fn value(&mut self, value: &Value) -> Result<Number, OracleError> {
        match value {
            Value::Number(number) => {
                let value = self.number(*number);
                Ok(self.leaf(value))
            }
            Value::Integer(expr) => {
                let integer = self.expr(expr)?;
                let value = self.builder.ins().fcvt_from_sint(F64, integer);
                Ok(self.leaf(value))
            }
            Value::Element { array, indices } => self.element(array, indices),
            Value::Old { array, indices } => self.element(&on_entry(array), indices),
            Value::Negate(inner) => {
                let inner = self.value(inner)?;
                Ok(Number { value: self.builder.ins().fneg(inner.value), scale: inner.scale })
            }
            Value::Binary(op, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                Ok(self.arithmetic(*op, left, right))
            }
            Value::Call(function, arguments) => self.call(*function, arguments),
            Value::Reduce { op, variable, low, high, filter, body } => {
                self.reduce(*op, variable, (low, high), filter.as_deref(), body)
            }
            Value::Where { condition, then, otherwise } => self.choose(condition, then, otherwise),
        }
    }

    fn leaf(&mut self, value: ir::Value) -> Number {
        let scale = (self.mode == Mode::ValuesAndScales).then(|| self.builder.ins().fabs(value));
        Number { value, scale }
    }

    /// A checked load.
    fn element(&mut self, name: &str, indices: &[Expr]) -> Result<Number, OracleError> {
        let (slot, flat, given) = self.place(name, indices)?;
        let value = self.load(offset_of!(Frame, values), slot, flat);
        if given || self.mode != Mode::ValuesAndScales {
            return Ok(self.leaf(value));
        }
        Ok(Number { value, scale: Some(self.load(offset_of!(Frame, scales), slot, flat)) })
    }

    /// The slot of an array, the flat index of an element, checked, and whether the array is given.
    pub(super) fn place(&mut self, name: &str, indices: &[Expr]) -> Result<(usize, ir::Value, bool), OracleError> {
        let (slot, array) = self.names.array(self.target, name, indices.len())?;
        let (first_extent, given) = (array.first_extent, array.given.is_some());
        let text: Vec<String> = indices.iter().map(Expr::to_string).collect();
        let text = format!("{name}[{}] is outside {name}", text.join(", "));
        let mut flat = self.integer(0);
        for (dimension, index) in indices.iter().enumerate() {
            let index = self.expr(index)?;
            let extent = self.extent(first_extent + dimension);
            // Unsigned: a negative index is a huge one.
            let inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, extent);
            self.check(inside, text.clone());
            flat = self.builder.ins().imul(flat, extent);
            flat = self.builder.ins().iadd(flat, index);
        }
        Ok((slot, flat, given))
    }

    fn load(&mut self, table: usize, slot: usize, flat: ir::Value) -> ir::Value {
        let base = self.entry(table, slot);
        let offset = self.builder.ins().ishl_imm_u(flat, 3);
        let place = self.builder.ins().iadd(base, offset);
        self.builder.ins().load(F64, MemFlagsData::trusted().with_readonly(), place, 0)
    }

    fn arithmetic(&mut self, op: ValueOp, left: Number, right: Number) -> Number {
        let scales = left.scale.zip(right.scale);
        let ins = self.builder.ins();
        let value = match op {
            ValueOp::Add => ins.fadd(left.value, right.value),
            ValueOp::Sub => ins.fsub(left.value, right.value),
            ValueOp::Mul => ins.fmul(left.value, right.value),
            ValueOp::Div => ins.fdiv(left.value, right.value),
        };
        let scale = scales.map(|(a, b)| match op {
            ValueOp::Add | ValueOp::Sub => self.builder.ins().fadd(a, b),
            ValueOp::Mul => self.builder.ins().fmul(a, b),
            // d(a/b) = da/b - (a/b) db/b
            ValueOp::Div => {
                let (divisor, quotient) = (self.builder.ins().fabs(right.value), self.builder.ins().fabs(value));
                let through = self.builder.ins().fmul(quotient, b);
                let both = self.builder.ins().fadd(a, through);
                self.builder.ins().fdiv(both, divisor)
            }
        });
        Number { value, scale }
    }

    fn call(&mut self, function: Function, arguments: &[Value]) -> Result<Number, OracleError> {
        if arguments.len() != function.arity() {
            return self.unsupported(format!("{function:?} of {} arguments", arguments.len()));
        }
        let numbers = arguments.iter().map(|argument| self.value(argument)).collect::<Result<Vec<_>, _>>()?;
        let (a, b) = (numbers[0], numbers.get(1).copied().unwrap_or(numbers[0]));
        let value = self.function(function, a.value, b.value)?;
        let scale = match a.scale.zip(b.scale) {
            Some(scales) => Some(self.call_scale(function, (a.value, b.value), value, scales)?),
            None => None,
        };
        Ok(Number { value, scale })
    }

    /// The double that a function gives; `b` counts where it takes two.
    pub(super) fn function(
        &mut self,
        function: Function,
        a: ir::Value,
        b: ir::Value,
    ) -> Result<ir::Value, OracleError> {
        Ok(match function {
            Function::Sqrt => self.builder.ins().sqrt(a),
            Function::Rsqrt => {
                let (one, root) = (self.number(1.0), self.builder.ins().sqrt(a));
                self.builder.ins().fdiv(one, root)
            }
            Function::Abs => self.builder.ins().fabs(a),
            Function::Floor => self.builder.ins().floor(a),
            Function::Ceil => self.builder.ins().ceil(a),
            Function::Min => self.builder.ins().fmin(a, b),
            Function::Max => self.builder.ins().fmax(a, b),
            Function::Exp
            | Function::Log
            | Function::Tanh
            | Function::Sigmoid
            | Function::Sin
            | Function::Cos
            | Function::Erf
            | Function::Pow => {
                let Some(import) = (self.imports)(Import::Function(function)) else {
                    return self.unsupported(format!("{function:?}"));
                };
                let call = self.builder.ins().call(import, &[a, b][..function.arity()]);
                self.builder.inst_results(call)[0]
            }
        })
    }

    /// A loop that combines; outermost sums honour the frame's `drop_first` and `drop_last`.
    fn reduce(
        &mut self,
        op: ReduceOp,
        variable: &str,
        (low, high): (&Expr, &Expr),
        filter: Option<&Predicate>,
        body: &Value,
    ) -> Result<Number, OracleError> {
        let (mut low, mut high) = (self.expr(low)?, self.expr(high)?);
        if op == ReduceOp::Sum && self.depth == 0 {
            let first = self.field(offset_of!(Frame, drop_first));
            let last = self.field(offset_of!(Frame, drop_last));
            low = self.builder.ins().iadd(low, first);
            high = self.builder.ins().isub(high, last);
        }
        let (header, inside, after) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let index = self.builder.append_block_param(header, I64);
        let held = number_parameters(&mut self.builder, header, self.mode);
        let start = self.number(identity(op));
        let start_scale = self.number(if op == ReduceOp::Product { 1.0 } else { 0.0 });
        let start = Number { value: start, scale: held.scale.map(|_| start_scale) };
        self.jump(header, Some(low), start);
        self.builder.switch_to_block(header);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, index, high);
        self.builder.ins().brif(more, inside, &[], after, &[]);
        self.builder.switch_to_block(inside);
        self.variables.push((variable.to_owned(), index));
        self.depth += 1;
        if let Some(filter) = filter {
            let (counts, passed) = (self.builder.create_block(), self.builder.create_block());
            self.branch(filter, counts, passed)?;
            self.builder.switch_to_block(passed);
            let next = self.builder.ins().iadd_imm_s(index, 1);
            self.jump(header, Some(next), held);
            self.builder.switch_to_block(counts);
        }
        let term = self.value(body)?;
        self.depth -= 1;
        self.variables.pop();
        let combined = self.combine(op, held, term);
        let next = self.builder.ins().iadd_imm_s(index, 1);
        self.jump(header, Some(next), combined);
        self.builder.switch_to_block(after);
        Ok(held)
    }

    fn combine(&mut self, op: ReduceOp, held: Number, term: Number) -> Number {
        let (a, b) = (held.value, term.value);
        match op {
            ReduceOp::Sum => self.arithmetic(ValueOp::Add, held, term),
            ReduceOp::Product => self.arithmetic(ValueOp::Mul, held, term),
            ReduceOp::Max | ReduceOp::Min => Number {
                value: match op {
                    ReduceOp::Max => self.builder.ins().fmax(a, b),
                    _ => self.builder.ins().fmin(a, b),
                },
                scale: held.scale.zip(term.scale).map(|(a, b)| self.builder.ins().fmax(a, b)),
            },
        }
    }

    /// Branches: only the chosen side is read.
    fn choose(&mut self, condition: &Predicate, then: &Value, otherwise: &Value) -> Result<Number, OracleError> {
        let (yes, no, after) = (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let chosen = number_parameters(&mut self.builder, after, self.mode);
        self.branch(condition, yes, no)?;
        for (block, side) in [(yes, then), (no, otherwise)] {
            self.builder.switch_to_block(block);
            let number = self.value(side)?;
            self.jump(after, None, number);
        }
        self.builder.switch_to_block(after);
        Ok(chosen)
    }

    fn jump(&mut self, block: Block, index: Option<ir::Value>, number: Number) {
        let arguments: Vec<BlockArg> =
            index.into_iter().chain([number.value]).chain(number.scale).map(BlockArg::from).collect();
        self.builder.ins().jump(block, &arguments);
    }
}

/// What a reduction of nothing gives.
fn identity(op: ReduceOp) -> f64 {
    match op {
        ReduceOp::Sum => 0.0,
        ReduceOp::Product => 1.0,
        ReduceOp::Max => f64::NEG_INFINITY,
        ReduceOp::Min => f64::INFINITY,
    }
}
