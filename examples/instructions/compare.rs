//! Two devices' results of one instruction: how many are equal, how far apart the others are.

use crate::list::{Instruction, Kind};
use std::fmt;

/// The count.
#[derive(Debug, Default)]
pub struct Tally {
    values: usize,
    equal: usize,
    nan: usize,
    largest: u64,
    unit: &'static str,
    example: Option<String>,
}

impl Tally {
    /// Compares the results of each thread, eight bytes each.
    pub fn of(instruction: &Instruction, inputs: &[[u64; 3]], here: &[u8], there: &[u8]) -> Tally {
        let width = instruction.widths[0];
        let part = match instruction.result {
            Kind::F16 | Kind::Bf16 => 16,
            Kind::Integer | Kind::F32 | Kind::F64 => width,
        };
        let unit = if instruction.result == Kind::Integer { "" } else { " ulp" };
        let mut tally = Tally { unit, ..Tally::default() };
        for ((input, here), there) in inputs.iter().zip(here.as_chunks().0).zip(there.as_chunks().0) {
            let (here, there) = (u64::from_le_bytes(*here), u64::from_le_bytes(*there));
            for shift in (0..width).step_by(part as usize) {
                let mask = if part == 64 { u64::MAX } else { (1 << part) - 1 };
                tally.add(instruction, input, here >> shift & mask, there >> shift & mask);
            }
        }
        tally
    }

    /// Whether all are equal, one NaN as good as another.
    pub fn is_equal(&self) -> bool {
        self.equal + self.nan == self.values
    }

    fn add(&mut self, instruction: &Instruction, input: &[u64; 3], here: u64, there: u64) {
        self.values += 1;
        if here == there {
            self.equal += 1;
            return;
        }
        let kind = instruction.result;
        if is_nan(kind, here) && is_nan(kind, there) {
            self.nan += 1;
            return;
        }
        let difference =
            ordered(kind, instruction.widths[0], here).abs_diff(ordered(kind, instruction.widths[0], there));
        let difference = u64::try_from(difference).unwrap_or(u64::MAX);
        if self.example.is_none() || difference > self.largest {
            self.largest = difference;
            let used = input.iter().zip(&instruction.widths[1..]).filter(|(_, width)| **width > 0);
            let inputs: Vec<String> = used.map(|(value, width)| format!("{:#x}", value & mask(*width))).collect();
            self.example = Some(format!("of {}: {here:#x}, the GPU {there:#x}", inputs.join(", ")));
        }
    }
}

fn mask(width: u32) -> u64 {
    if width == 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Bits of the exponent and the mantissa.
fn format(kind: Kind) -> Option<(u32, u32)> {
    match kind {
        Kind::Integer => None,
        Kind::F16 => Some((5, 10)),
        Kind::Bf16 => Some((8, 7)),
        Kind::F32 => Some((8, 23)),
        Kind::F64 => Some((11, 52)),
    }
}

fn is_nan(kind: Kind, bits: u64) -> bool {
    let Some((exponent, mantissa)) = format(kind) else { return false };
    bits & mask(exponent + mantissa) > mask(exponent) << mantissa
}

/// A number that grows with the value: neighbours differ by one.
fn ordered(kind: Kind, width: u32, bits: u64) -> i128 {
    let Some((exponent, mantissa)) = format(kind) else {
        // As a signed number, so that 0 and -1 are neighbours.
        return i128::from((bits << (64 - width)) as i64 >> (64 - width));
    };
    let magnitude = i128::from(bits & mask(exponent + mantissa));
    if bits >> (exponent + mantissa) & 1 == 1 { -magnitude } else { magnitude }
}

impl fmt::Display for Tally {
    /// Cells of the table, but for the first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference = match self.is_equal() {
            true => "none".to_owned(),
            false => format!("{}{}", self.largest, self.unit),
        };
        let example = self.example.as_deref().unwrap_or("");
        write!(f, "{} | {} | {} | {difference} | {example}", self.values, self.equal, self.nan)
    }
}
