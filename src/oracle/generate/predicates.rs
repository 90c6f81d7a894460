//! Conditions as branches: what does not decide is not computed.

use super::super::OracleError;
use super::Generator;
use super::integers::condition;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{Block, InstBuilder};
use peak_grammar::ir::{CompareOp, Predicate, Value};

impl Generator<'_, '_> {
    /// Jumps to `yes` where it holds, else to `no`.
    pub(super) fn branch(&mut self, predicate: &Predicate, yes: Block, no: Block) -> Result<(), OracleError> {
        match predicate {
            Predicate::Compare(op, left, right) => self.compare(*op, left, right, yes, no),
            Predicate::And(items) => self.chain(items, yes, no, true),
            Predicate::Or(items) => self.chain(items, yes, no, false),
            Predicate::Not(inner) => self.branch(inner, no, yes),
        }
    }

    /// Each in turn, as long as each is what `goes_on` says.
    fn chain(&mut self, items: &[Predicate], yes: Block, no: Block, goes_on: bool) -> Result<(), OracleError> {
        for item in items {
            let next = self.builder.create_block();
            match goes_on {
                true => self.branch(item, next, no)?,
                false => self.branch(item, yes, next)?,
            }
            self.builder.switch_to_block(next);
        }
        self.builder.ins().jump(if goes_on { yes } else { no }, &[]);
        Ok(())
    }

    /// Whole numbers as integers, others as doubles.
    fn compare(
        &mut self,
        op: CompareOp,
        left: &Value,
        right: &Value,
        yes: Block,
        no: Block,
    ) -> Result<(), OracleError> {
        let holds = match (left, right) {
            (Value::Integer(left), Value::Integer(right)) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                self.builder.ins().icmp(condition(op), left, right)
            }
            _ => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.builder.ins().fcmp(float_condition(op), left.value, right.value)
            }
        };
        self.builder.ins().brif(holds, yes, &[], no, &[]);
        Ok(())
    }
}

fn float_condition(op: CompareOp) -> FloatCC {
    match op {
        CompareOp::Equal => FloatCC::Equal,
        CompareOp::NotEqual => FloatCC::NotEqual,
        CompareOp::Less => FloatCC::LessThan,
        CompareOp::LessOrEqual => FloatCC::LessThanOrEqual,
        CompareOp::Greater => FloatCC::GreaterThan,
        CompareOp::GreaterOrEqual => FloatCC::GreaterThanOrEqual,
    }
}
