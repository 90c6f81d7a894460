//! Scales of functions: for `f(a)` the scale of `a` times `|f'(a)|`, plus a few times `|f(a)|` for the function's own
//! error. Nothing here changes a value.

use super::super::OracleError;
use super::Generator;
use cranelift_codegen::ir::{self, InstBuilder};
use peak_grammar::ir::Function;

/// What a device's own `exp`, `log`, ... may lose, in units of the last place (Vulkan allows 3 and more).
const FUNCTION_UNITS: f64 = 4.0;
/// Near zero a root changes by the root of a change. From here on down that is bounded as for a change of this size,
/// relative to the scale: the roundoff of f32.
const ROOT_CHANGE: f64 = 1.0 / (1u64 << 24) as f64;
/// `|erf'|` at most: 2 over the root of pi.
const ERF_SLOPE: f64 = std::f64::consts::FRAC_2_SQRT_PI;

impl Generator<'_, '_> {
    pub(super) fn call_scale(
        &mut self,
        function: Function,
        (a, b): (ir::Value, ir::Value),
        value: ir::Value,
        (scale_a, scale_b): (ir::Value, ir::Value),
    ) -> Result<ir::Value, OracleError> {
        let units = self.number(FUNCTION_UNITS);
        let size = self.builder.ins().fabs(value);
        let own = self.builder.ins().fmul(size, units);
        let through = match function {
            // Where a rounding error passes a whole number, no scale bounds what it does; between them it does nothing.
            Function::Abs | Function::Floor | Function::Ceil => return Ok(scale_a),
            Function::Min | Function::Max => return Ok(self.builder.ins().fmax(scale_a, scale_b)),
            // Near a zero a device is as exact as elsewhere, not more.
            Function::Sin | Function::Cos => return Ok(self.builder.ins().fadd(scale_a, units)),
            Function::Tanh => scale_a,
            Function::Erf => {
                let slope = self.number(ERF_SLOPE);
                self.builder.ins().fmul(scale_a, slope)
            }
            // s' = s (1 - s).
            Function::Exp | Function::Sigmoid => self.builder.ins().fmul(size, scale_a),
            Function::Log => {
                let size = self.builder.ins().fabs(a);
                self.builder.ins().fdiv(scale_a, size)
            }
            Function::Sqrt => self.root_scale(size, scale_a),
            Function::Rsqrt => {
                let through = self.builder.ins().fmul(size, scale_a);
                let size = self.builder.ins().fabs(a);
                self.builder.ins().fdiv(through, size)
            }
            Function::Pow => self.power_scale((a, b), size, (scale_a, scale_b))?,
        };
        Ok(self.builder.ins().fadd(through, own))
    }

    /// `scale / root`, bounded where the root is nearly zero.
    fn root_scale(&mut self, root: ir::Value, scale: ir::Value) -> ir::Value {
        let (change, least) = (self.number(ROOT_CHANGE), self.number(f64::MIN_POSITIVE));
        let changed = self.builder.ins().fmul(scale, change);
        let changed = self.builder.ins().sqrt(changed);
        let divisor = self.builder.ins().fmax(root, changed);
        let divisor = self.builder.ins().fmax(divisor, least);
        self.builder.ins().fdiv(scale, divisor)
    }

    /// `|b| |a|^(b-1) da + |a^b log a| db`, where a device's `log` makes up for the second by its own units.
    fn power_scale(
        &mut self,
        (a, b): (ir::Value, ir::Value),
        size: ir::Value,
        (scale_a, scale_b): (ir::Value, ir::Value),
    ) -> Result<ir::Value, OracleError> {
        let (one, zero, units) = (self.number(1.0), self.number(0.0), self.number(FUNCTION_UNITS));
        let (size_a, size_b) = (self.builder.ins().fabs(a), self.builder.ins().fabs(b));
        let less = self.builder.ins().fsub(b, one);
        let slope = self.function(Function::Pow, size_a, less)?;
        let slope = self.builder.ins().fmul(slope, size_b);
        let base = self.builder.ins().fmul(slope, scale_a);
        // A base that is exact moves nothing, however steep the power is there.
        let exact = self.builder.ins().fcmp(ir::condcodes::FloatCC::Equal, scale_a, zero);
        let base = self.builder.ins().select(exact, zero, base);
        let exponent = self.builder.ins().fmul(scale_b, units);
        let exponent = self.builder.ins().fmul(exponent, size);
        Ok(self.builder.ins().fadd(base, exponent))
    }
}
