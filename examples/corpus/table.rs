//! Rows as a Markdown table, and what they come to.

use crate::row::Row;
use comfy_table::{ContentArrangement, Table, presets};

/// The table; errors have a column a runtime.
pub fn markdown(rows: &[Row], runtimes: &[&str]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    let mut header: Vec<String> =
        ["kernel", "category", "sizes", "runs", "elements", "bits", "units apart"].map(str::to_owned).to_vec();
    header.extend(runtimes.iter().map(|name| format!("error on {name}")));
    header.push("why bits may differ".to_owned());
    table.set_header(header);
    for row in rows {
        table.add_row(cells(row, runtimes.len() > 1));
    }
    table.to_string()
}

fn cells(row: &Row, compared: bool) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut cells = vec![
        row.name.clone(),
        row.category.clone(),
        row.sizes.iter().map(|(scalar, values)| format!("{scalar} = {}", list(values))).collect::<Vec<_>>().join("; "),
        row.runs.to_string(),
        row.bits.elements.to_string(),
        match row.bits.different {
            _ if !compared || row.runs == 0 => dash(),
            0 => "equal".to_owned(),
            different => format!("{different} differ"),
        },
        if compared && row.runs > 0 { row.bits.units.to_string() } else { dash() },
    ];
    let failed = !row.failures.is_empty();
    cells.extend(row.errors.iter().map(|error| if failed { "FAILED".to_owned() } else { share(*error) }));
    cells.push(row.differs.clone().unwrap_or_default());
    cells
}

fn list(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// A share of what is allowed, in words: 1 is the limit.
fn share(error: f64) -> String {
    if error == 0.0 { "0".to_owned() } else { format!("{error:.3}") }
}

/// What all rows come to, in two lines.
pub fn summary(rows: &[Row], runtimes: &[&str]) -> String {
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let right = rows.iter().filter(|row| row.failures.is_empty()).count();
    let mut words = format!(
        "{right} of {} kernels are right on {}: {} runs on each, {} elements. Errors are shares of what is allowed.",
        rows.len(),
        runtimes.join(" and "),
        sum(|row| row.runs),
        sum(|row| row.bits.elements),
    );
    if runtimes.len() > 1 {
        let (free, defined): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.differs.is_some());
        let equal = |rows: &[&Row]| rows.iter().filter(|row| row.runs > 0 && row.bits.different == 0).count();
        words.push_str(&format!(
            "\nBits are equal for {} of {} kernels where they are defined, and for {} of {} where they are not.",
            equal(&defined),
            defined.len(),
            equal(&free),
            free.len()
        ));
    }
    words
}
