//! Integer expressions: exact, as `Expr::evaluate` has it. Overflow is excluded before the code runs (`ranges.rs`).

use super::super::OracleError;
use super::{Frame, Generator};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use peak_grammar::ir::{BinaryOp, CompareOp, Expr};
use std::mem::offset_of;

impl Generator<'_, '_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Value, OracleError> {
        Ok(match expr {
            Expr::Integer(value) => self.integer(*value),
            Expr::Name(name) => self.name(name)?,
            Expr::Fact(name) => return self.unsupported(format!("a device fact (`device.{name}`)")),
            Expr::SizeOf(what) => return self.unsupported(format!("`sizeof({what})`")),
            Expr::Negate(inner) => {
                let value = self.expr(inner)?;
                self.builder.ins().ineg(value)
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                self.binary(*op, left, right, expr)
            }
            Expr::FloorDiv(left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                let (quotient, remainder) = self.divide(left, right, expr);
                let below = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, remainder, 0);
                self.add_flag(quotient, below, -1)
            }
            Expr::CeilDiv(left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                let (quotient, remainder) = self.divide(left, right, expr);
                let above = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, remainder, 0);
                self.add_flag(quotient, above, 1)
            }
            Expr::Min(items) => self.extreme(items, IntCC::SignedLessThan)?,
            Expr::Max(items) => self.extreme(items, IntCC::SignedGreaterThan)?,
        })
    }

    fn name(&mut self, name: &str) -> Result<Value, OracleError> {
        if let Some((_, value)) = self.variables.iter().rev().find(|(variable, _)| variable == name) {
            return Ok(*value);
        }
        match self.names.scalar(name) {
            Some(slot) => Ok(self.entry(offset_of!(Frame, scalars), slot)),
            None => Err(OracleError::UnknownName { target: self.target.to_owned(), name: name.to_owned() }),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Value, right: Value, text: &Expr) -> Value {
        match op {
            BinaryOp::Add => self.builder.ins().iadd(left, right),
            BinaryOp::Sub => self.builder.ins().isub(left, right),
            BinaryOp::Mul => self.builder.ins().imul(left, right),
            BinaryOp::Div => {
                let (quotient, remainder) = self.divide(left, right, text);
                let exact = self.builder.ins().icmp_imm_s(IntCC::Equal, remainder, 0);
                self.check(exact, format!("{text} is not a whole number"));
                quotient
            }
            BinaryOp::Mod => {
                let (_, remainder) = self.divide(left, right, text);
                let below = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, remainder, 0);
                let zero = self.integer(0);
                let mend = self.builder.ins().select(below, right, zero);
                self.builder.ins().iadd(remainder, mend)
            }
        }
    }

    /// Quotient towards zero and its remainder; the divisor must be positive.
    fn divide(&mut self, left: Value, right: Value, text: &Expr) -> (Value, Value) {
        let positive = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, right, 0);
        self.check(positive, format!("the divisor in {text} is not positive"));
        (self.builder.ins().sdiv(left, right), self.builder.ins().srem(left, right))
    }

    fn add_flag(&mut self, value: Value, flag: Value, amount: i64) -> Value {
        let (amount, zero) = (self.integer(amount), self.integer(0));
        let mend = self.builder.ins().select(flag, amount, zero);
        self.builder.ins().iadd(value, mend)
    }

    fn extreme(&mut self, items: &[Expr], keep: IntCC) -> Result<Value, OracleError> {
        let mut best: Option<Value> = None;
        for item in items {
            let value = self.expr(item)?;
            best = Some(match best {
                None => value,
                Some(held) => {
                    let better = self.builder.ins().icmp(keep, value, held);
                    self.builder.ins().select(better, value, held)
                }
            });
        }
        match best {
            Some(value) => Ok(value),
            None => self.unsupported("`min` or `max` of nothing"),
        }
    }
}

/// Cranelift's comparison.
pub(super) fn condition(op: CompareOp) -> IntCC {
    match op {
        CompareOp::Equal => IntCC::Equal,
        CompareOp::NotEqual => IntCC::NotEqual,
        CompareOp::Less => IntCC::SignedLessThan,
        CompareOp::LessOrEqual => IntCC::SignedLessThanOrEqual,
        CompareOp::Greater => IntCC::SignedGreaterThan,
        CompareOp::GreaterOrEqual => IntCC::SignedGreaterThanOrEqual,
    }
}
