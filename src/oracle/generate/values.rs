//! Values in double precision and, beside them, their scales.
//!
//! The scale of a value bounds how far rounding can move it, in units of the relative error of one operation times the
//! number of operations in a row: the sum of the magnitudes of the terms for a sum, the product for a product, and for a
//! function `f(a)` the scale of `a` times `|f'(a)|`, plus a few times `|f(a)|` for the function's own error.

use super::super::OracleError;
use super::integers::condition;
use super::{Frame, Generator, Mode, Number, number_parameters};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{self, Block, BlockArg, InstBuilder, MemFlagsData};
use peak_grammar::ir::{CompareOp, Expr, Function, ReduceOp, Value, ValueOp};
use std::mem::offset_of;

/// What a device's own `exp`, `log`, ... may lose, in units of the last place (Vulkan allows 3 and more).
const FUNCTION_UNITS: f64 = 4.0;

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
            Value::Negate(inner) => {
                let inner = self.value(inner)?;
                Ok(Number { value: self.builder.ins().fneg(inner.value), scale: inner.scale })
            }
            Value::Binary(op, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                Ok(self.arithmetic(*op, left, right))
            }
            Value::Call(function, arguments) => self.call(*function, arguments),
            Value::Reduce { op, variable, low, high, body } => self.reduce(*op, variable, low, high, body),
            Value::Where { condition, then, otherwise } => self.choose(condition, then, otherwise),
        }
    }

    fn leaf(&mut self, value: ir::Value) -> Number {
        let scale = (self.mode == Mode::ValuesAndScales).then(|| self.builder.ins().fabs(value));
        Number { value, scale }
    }

    /// A checked load.
    fn element(&mut self, name: &str, indices: &[Expr]) -> Result<Number, OracleError> {
        let (slot, array) = self.names.array(self.target, name, indices.len())?;
        let (first_extent, given) = (array.first_extent, array.given);
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
        let value = self.load(offset_of!(Frame, values), slot, flat);
        if given || self.mode == Mode::Values {
            return Ok(self.leaf(value));
        }
        Ok(Number { value, scale: Some(self.load(offset_of!(Frame, scales), slot, flat)) })
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
        let expected = match function {
            Function::Pow | Function::Min | Function::Max => 2,
            _ => 1,
        };
        if arguments.len() != expected {
            return self.unsupported(format!("{function:?} of {} arguments", arguments.len()));
        }
        let numbers = arguments.iter().map(|argument| self.value(argument)).collect::<Result<Vec<_>, _>>()?;
        let (a, b) = (numbers[0], numbers.get(1).copied().unwrap_or(numbers[0]));
        let value = match function {
            Function::Sqrt => self.builder.ins().sqrt(a.value),
            Function::Abs => self.builder.ins().fabs(a.value),
            Function::Min => self.builder.ins().fmin(a.value, b.value),
            Function::Max => self.builder.ins().fmax(a.value, b.value),
            Function::Exp | Function::Log | Function::Tanh | Function::Pow => {
                let Some(import) = (self.imports)(function) else {
                    return self.unsupported(format!("{function:?}"));
                };
                let arguments: Vec<ir::Value> = numbers.iter().map(|number| number.value).collect();
                let call = self.builder.ins().call(import, &arguments);
                self.builder.inst_results(call)[0]
            }
        };
        let scale = a.scale.zip(b.scale).map(|scales| self.call_scale(function, (a.value, b.value), value, scales));
        Ok(Number { value, scale })
    }

    fn call_scale(
        &mut self,
        function: Function,
        (a, b): (ir::Value, ir::Value),
        value: ir::Value,
        (scale_a, scale_b): (ir::Value, ir::Value),
    ) -> ir::Value {
        let units = self.number(FUNCTION_UNITS);
        let size = self.builder.ins().fabs(value);
        let own = self.builder.ins().fmul(size, units);
        let through = match function {
            Function::Abs => return scale_a,
            Function::Min | Function::Max => return self.builder.ins().fmax(scale_a, scale_b),
            Function::Tanh => scale_a,
            Function::Exp => self.builder.ins().fmul(size, scale_a),
            Function::Log => {
                let size = self.builder.ins().fabs(a);
                self.builder.ins().fdiv(scale_a, size)
            }
            Function::Sqrt => self.builder.ins().fdiv(scale_a, size),
            // a^b (|b| da / |a| + |log a| db), with |log a| bounded by the function's own units for numbers near one.
            Function::Pow => {
                let (size_a, size_b) = (self.builder.ins().fabs(a), self.builder.ins().fabs(b));
                let relative = self.builder.ins().fdiv(scale_a, size_a);
                let base = self.builder.ins().fmul(relative, size_b);
                let exponent = self.builder.ins().fmul(scale_b, units);
                let both = self.builder.ins().fadd(base, exponent);
                self.builder.ins().fmul(size, both)
            }
        };
        self.builder.ins().fadd(through, own)
    }

    /// A loop that combines; outermost sums honour the frame's `drop_first` and `drop_last`.
    fn reduce(
        &mut self,
        op: ReduceOp,
        variable: &str,
        low: &Expr,
        high: &Expr,
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
    fn choose(
        &mut self,
        (op, left, right): &(CompareOp, Expr, Expr),
        then: &Value,
        otherwise: &Value,
    ) -> Result<Number, OracleError> {
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        let holds = self.builder.ins().icmp(condition(*op), left, right);
        let (yes, no, after) = (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let chosen = number_parameters(&mut self.builder, after, self.mode);
        self.builder.ins().brif(holds, yes, &[], no, &[]);
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
