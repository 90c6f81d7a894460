//! Clauses of `device`.

use super::clause::{Piece, Rule, clauses, no_block};
use super::transformation::words;
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{Block, DeviceClause, Header, PeakRate};
use crate::syntax::{Name, Node, Report};

pub(super) fn device(header: Header, node: &Node<'_>, out: &mut Report<'_>) -> Block<DeviceClause> {
    let clauses = clauses(Rule::device_line, node, out, |piece, node, out| {
        if piece.rule() == Rule::knows {
            return words(node, out).map(DeviceClause::Knows);
        }
        no_block(node, out);
        Some(match piece.rule() {
            Rule::speaks => {
                DeviceClause::Speaks(piece.all(Rule::spoken).map(|spoken| spoken.names(Rule::word)).collect())
            }
            Rule::matches => DeviceClause::Matches(piece.all(Rule::text).map(|text| text.quoted()).collect()),
            Rule::has => DeviceClause::Has { languages: piece.languages(), facts: facts(piece, out) },
            _ => DeviceClause::Peaks(piece.all(Rule::peak).filter_map(|form| peak(&form, out)).collect()),
        })
    });
    Block { header, clauses }
}

/// The facts of a `has`.
pub(super) fn facts(piece: &Piece<'_>, out: &mut Report<'_>) -> Vec<(Name, i64)> {
    piece.all(Rule::device_fact).filter_map(|form| fact(&form, out)).collect()
}

fn fact(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<(Name, i64)> {
    let number = piece.find(Rule::integer)?.integer(out);
    let factor: i64 = match piece.find(Rule::measure) {
        None => 1,
        Some(unit) => match unit.text() {
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => {
                out.push(unknown_unit(&unit, &["KiB", "MiB", "GiB"], out));
                out.unread(piece.span(), piece.text());
                return None;
            }
        },
    };
    let value = number.value.checked_mul(factor);
    if value.is_none() {
        out.push(
            out.error("peak::number-range", piece.span(), "the number does not fit 64 bits")
                .help(crate::syntax::WHOLE_NUMBERS),
        );
    }
    Some((piece.name(Rule::ident), value?))
}

fn peak(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<PeakRate> {
    let rate = piece.find(Rule::rate)?;
    let Some((factor, bytes)) = rate_factor(rate.text().trim()) else {
        out.push(unknown_unit(&rate, &["GFLOPS", "TFLOPS", "PFLOPS", "GB/s", "TB/s", "GiB/s"], out));
        return None;
    };
    let value = scaled(&piece.find(Rule::number)?, factor, out);
    let unit = piece.find(Rule::peak_unit).map(|unit| {
        let words: Vec<String> = unit.names(Rule::ident).into_iter().map(|word| word.value).collect();
        words.join(" ")
    });
    Some(PeakRate { value, bytes, of: piece.name(Rule::ident), unit })
}

/// The number times the factor. Powers of ten go through the decimal form, so that `66.9 TFLOPS` is 66.9e12 exactly.
fn scaled(number: &Piece<'_>, factor: f64, out: &mut Report<'_>) -> f64 {
    let plain = number.number(out);
    let decimal = !number.text().contains(['e', 'E']) && factor.log10().fract() == 0.0;
    let exact = decimal.then(|| format!("{}e{}", number.text().trim(), factor.log10()).parse().ok()).flatten();
    exact.unwrap_or(plain * factor)
}

/// Units per second, and whether they are bytes.
fn rate_factor(text: &str) -> Option<(f64, bool)> {
    let (prefix, bytes) = match (text.strip_suffix("FLOPS"), text.strip_suffix("B/s")) {
        (Some(prefix), _) => (prefix, false),
        (None, Some(prefix)) => (prefix, true),
        (None, None) => return None,
    };
    let factor = match prefix {
        "" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "Mi" if bytes => 1_048_576.0,
        "Gi" if bytes => 1_073_741_824.0,
        "Ti" if bytes => 1_099_511_627_776.0,
        _ => return None,
    };
    Some((factor, bytes))
}

fn unknown_unit(piece: &Piece<'_>, known: &[&str], out: &Report<'_>) -> Diagnostic {
    let unit = piece.text().trim();
    let message = format!("`{unit}` is no unit that is known here");
    out.error("peak::unknown-unit", piece.span(), message).suggest(unit, known.iter().copied())
}
