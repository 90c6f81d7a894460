//! What an assignment reads of arrays that statements define: a walk over its loops that computes no value.
//!
//! It may mark too much, where a condition depends on what is not known yet, and never too little. What would fail when
//! it is computed (an access outside an array) is passed over here: the values' own code reports it.

use super::super::OracleError;
use super::super::module::Import;
use super::Generator;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder};
use peak_grammar::ir::{Expr, Predicate, Value};

impl Generator<'_, '_> {
    /// Marks what a value reads.
    pub(super) fn reads(&mut self, value: &Value) -> Result<(), OracleError> {
        if !self.reads_defined(value) {
            return Ok(());
        }
        match value {
            Value::Element { array, indices } => self.passing_over(|generator, _| {
                let (slot, flat, _) = generator.place(array, indices)?;
                let slot = generator.integer(i64::try_from(slot).unwrap_or(i64::MAX));
                let Some(mark) = (generator.imports)(Import::Mark) else {
                    return generator.unsupported("marking");
                };
                let marks = generator.out;
                generator.builder.ins().call(mark, &[marks, slot, flat]);
                Ok(())
            }),
            Value::Reduce { variable, low, high, filter, body, .. } => self.passing_over(|generator, after| {
                generator.reads_of_loop(variable, (low, high), filter.as_deref(), body, after)
            }),
            Value::Where { condition, then, otherwise } => self.passing_over(|generator, after| {
                generator.guarded(
                    condition,
                    after,
                    |generator| generator.reads(then),
                    |generator| generator.reads(otherwise),
                )
            }),
            _ => value.parts().into_iter().try_for_each(|part| self.reads(part)),
        }
    }

    /// Whether a value reads arrays that statements define.
    fn reads_defined(&self, value: &Value) -> bool {
        let given = |array: &str| self.names.arrays.get(array).is_some_and(|array| array.given.is_some());
        value.any(|value| matches!(value, Value::Element { array, .. } if !given(array)))
    }

    /// Generates code whose failed checks go on behind it, at the block that it is given.
    fn passing_over(
        &mut self,
        code: impl FnOnce(&mut Self, Block) -> Result<(), OracleError>,
    ) -> Result<(), OracleError> {
        let after = self.builder.create_block();
        let outer = self.skip.replace(after);
        let done = code(self, after);
        self.skip = outer;
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
        done
    }

    fn reads_of_loop(
        &mut self,
        variable: &str,
        (low, high): (&Expr, &Expr),
        filter: Option<&Predicate>,
        body: &Value,
        after: Block,
    ) -> Result<(), OracleError> {
        let (low, high) = (self.expr(low)?, self.expr(high)?);
        let (header, inside) = (self.builder.create_block(), self.builder.create_block());
        let index = self.builder.append_block_param(header, I64);
        self.builder.ins().jump(header, &[low.into()]);
        self.builder.switch_to_block(header);
        let more = self.builder.ins().icmp(super::IntCC::SignedLessThan, index, high);
        self.builder.ins().brif(more, inside, &[], after, &[]);
        self.builder.switch_to_block(inside);
        self.variables.push((variable.to_owned(), index));
        let term = |generator: &mut Self| match filter {
            Some(filter) => generator.passing_over(|generator, after| {
                generator.guarded(filter, after, |generator| generator.reads(body), |_| Ok(()))
            }),
            None => generator.reads(body),
        };
        term(self)?;
        self.variables.pop();
        let next = self.builder.ins().iadd_imm_s(index, 1);
        self.builder.ins().jump(header, &[next.into()]);
        // What follows in the caller is never reached: the loop leaves by its header.
        let unreached = self.builder.create_block();
        self.builder.switch_to_block(unreached);
        Ok(())
    }

    /// The side that a condition chooses; both, and the condition's own reads, where it depends on defined arrays.
    fn guarded(
        &mut self,
        condition: &Predicate,
        after: Block,
        then: impl FnOnce(&mut Self) -> Result<(), OracleError>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), OracleError>,
    ) -> Result<(), OracleError> {
        if condition.sides().into_iter().any(|side| self.reads_defined(side)) {
            condition.sides().into_iter().try_for_each(|side| self.reads(side))?;
            then(self)?;
            return otherwise(self);
        }
        let (yes, no) = (self.builder.create_block(), self.builder.create_block());
        self.branch(condition, yes, no)?;
        self.builder.switch_to_block(yes);
        then(self)?;
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(no);
        otherwise(self)
    }
}
