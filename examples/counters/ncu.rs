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
    let table: String = text.lines().filter(|line| line.starts_with('"')).map(|line| format!("{line}\n")).collect();
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    let heads = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| {
        heads
            .iter()
            .position(|head| head == name)
            .ok_or_else(|| format!("no column `{name}`: is it what `ncu --csv` wrote?"))
    };
    let (id, name) = (column("ID")?, column("Kernel Name")?);
    let (metric, value) = (column("Metric Name")?, column("Metric Value")?);
    let mut found: Vec<(u64, Launch)> = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| error.to_string())?;
        let cell = |at: usize| row.get(at).unwrap_or_default();
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
