//! What Nsight Compute writes with `--csv`: a row a launch and metric, below lines of its own. Knows no metric.

use std::collections::BTreeMap;

/// A launch on the GPU.
pub struct Launch {
    /// The kernel's name, without its parameters.
    pub entry: String,
    /// By the metric's name.
    pub values: BTreeMap<String, f64>,
}

/// The launches of a text, in order.
///
/// # Errors
/// Words: what is no such text.
pub fn launches(text: &str) -> Result<Vec<Launch>, String> {
    let mut rows = text.lines().filter(|line| line.starts_with('"')).map(cells);
    let heads = rows.next().ok_or("no table: is it what `ncu --csv` wrote?")?;
    let column = |name: &str| {
        heads
            .iter()
            .position(|head| head == name)
            .ok_or_else(|| format!("no column `{name}`: is it what `ncu --csv` wrote?"))
    };
    let (id, name) = (column("ID")?, column("Kernel Name")?);
    let (metric, value) = (column("Metric Name")?, column("Metric Value")?);
    let mut found: Vec<(u64, Launch)> = Vec::new();
    for row in rows {
        let cell = |at: usize| row.get(at).map_or("", String::as_str);
        let Ok(id) = cell(id).parse() else { continue };
        if found.last().is_none_or(|(last, _)| *last != id) {
            let entry = cell(name).split('(').next().unwrap_or_default().trim().to_owned();
            found.push((id, Launch { entry, values: BTreeMap::new() }));
        }
        // Digits come in groups.
        if let (Ok(number), Some((_, launch))) = (cell(value).replace(',', "").parse(), found.last_mut()) {
            launch.values.insert(cell(metric).to_owned(), number);
        }
    }
    found.sort_by_key(|(id, _)| *id);
    if found.is_empty() { Err("no launch".to_owned()) } else { Ok(found.into_iter().map(|(_, it)| it).collect()) }
}

/// The cells of a line. No cell of `ncu`'s holds a quote.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            letter => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(letter);
                }
            }
        }
    }
    cells
}
