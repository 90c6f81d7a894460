//! The table of a workflow's steps, and plain columns.

use super::units;
use comfy_table::{Cell, CellAlignment, Table};

/// One line of the table: a step at one input size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRow {
    /// The step's name: `baseline`, or the transformation's.
    pub name: String,
    /// Input sizes in words: `n = 512`.
    pub inputs: String,
    /// `accepted`, `rejected` or `failed`.
    pub verdict: String,
    /// Why, in a word or two: a failure's class, `slower`.
    pub reason: Option<String>,
    /// Device time in nanoseconds: median, 20th and 80th percentile.
    pub time_ns: Option<(f64, f64, f64)>,
    /// Floating-point operations a second, where the kernel says how many there are.
    pub flops_per_second: Option<f64>,
    /// Share of the device's documented peak, from 0 to 1.
    pub share_of_peak: Option<f64>,
    /// Times faster than the baseline.
    pub speedup_total: Option<f64>,
    /// Times faster than the step before.
    pub speedup_step: Option<f64>,
    /// What verified it.
    pub verified_by: Vec<String>,
    /// Whether `keep best` names it.
    pub best: bool,
}

/// The header, in order of the columns.
const HEADER: [&str; 9] =
    ["step", "inputs", "verdict", "time (p20-p80)", "GFLOP/s", "of peak", "over baseline", "over step", "verified by"];

/// Columns that hold numbers, and are aligned to the right.
const NUMBERS: std::ops::RangeInclusive<usize> = 3..=7;

/// The table as text. A step without a time has `-` there: nothing is filled in.
#[must_use]
pub fn steps(rows: &[StepRow]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.force_no_tty();
    table.set_header(HEADER);
    for row in rows {
        table.add_row(cells(row).into_iter().map(Cell::new));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// Rows of words in columns, under a header.
#[must_use]
pub fn columns(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.force_no_tty();
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row.iter().map(Cell::new));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

fn cells(row: &StepRow) -> [String; 9] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let marker = if row.best { "* " } else { "  " };
    let verdict = match &row.reason {
        Some(reason) => format!("{} ({reason})", row.verdict),
        None => row.verdict.clone(),
    };
    let verified = row.verified_by.join(", ");
    [
        format!("{marker}{}", row.name),
        row.inputs.clone(),
        verdict,
        or_dash(row.time_ns.map(|(median, p20, p80)| units::time_with_spread(median, p20, p80))),
        or_dash(row.flops_per_second.map(units::gflops)),
        or_dash(row.share_of_peak.map(units::percent)),
        or_dash(row.speedup_total.map(units::times)),
        or_dash(row.speedup_step.map(units::times)),
        or_dash((!verified.is_empty()).then_some(verified)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(name: &str, median: f64, total: f64, step: f64) -> StepRow {
        StepRow {
            name: name.to_owned(),
            inputs: "n = 512".to_owned(),
            verdict: "accepted".to_owned(),
            time_ns: Some((median, median * 0.99, median * 1.02)),
            flops_per_second: Some(2.0 * 512f64.powi(3) / median * 1e9),
            share_of_peak: Some(0.031),
            speedup_total: Some(total),
            speedup_step: Some(step),
            verified_by: vec!["outputs".to_owned()],
            ..StepRow::default()
        }
    }

    fn rows() -> Vec<StepRow> {
        let failed = StepRow {
            name: "tb-tiling".to_owned(),
            inputs: "n = 512".to_owned(),
            verdict: "failed".to_owned(),
            reason: Some("results".to_owned()),
            ..StepRow::default()
        };
        let best = StepRow { best: true, ..timed("thread-tiling", 8.3e7, 2.59, 2.58) };
        vec![timed("baseline", 2.15e8, 1.0, 1.0), timed("refactor", 2.14e8, 1.0, 1.0), best, failed]
    }

    #[test]
    fn a_step_that_failed_shows_no_numbers() {
        insta::assert_snapshot!(steps(&rows()));
    }

    #[test]
    fn no_steps_is_the_header_alone() {
        assert_eq!(steps(&[]).lines().count(), 1);
    }
}
