//! Both sides' counts, launch by launch, as rows with a verdict. Runs nothing.

use crate::{Ours, ncu};
use comfy_table::{ContentArrangement, Table, presets};
use peak::inspect::{METRICS, Metric, Standing};
use std::collections::BTreeMap;

/// How far a metric may be off.
const TOLERANCE: f64 = 0.02;

/// A metric of one launch.
pub struct Row {
    /// The case.
    pub case: String,
    /// The metric.
    pub metric: &'static Metric,
    /// The simulator's count.
    pub ours: u64,
    /// The GPU's; `None` where it was not asked for, or is not known there.
    pub theirs: Option<f64>,
    /// What comes of it.
    pub verdict: Verdict,
    /// Why a GPU counts something else.
    pub why: Option<String>,
}

/// What comes of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// To the last one.
    Equal,
    /// Within 2%.
    Near,
    /// Not the same, and the table says why.
    Explained,
    /// For orientation only.
    Informational,
    /// The GPU has no such metric.
    Unknown,
    /// Not the same.
    Off,
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::Near => "within 2%",
            Verdict::Explained => "the assembler",
            Verdict::Informational => "informational",
            Verdict::Unknown => "not measured",
            Verdict::Off => "OFF",
        }
    }
}

/// A row a metric and launch, without those that both sides have none of. Launches of one entry are paired in order.
///
/// # Errors
/// A launch that the GPU's side lacks.
pub fn rows(ours: &Ours, theirs: Vec<ncu::Launch>) -> Result<Vec<Row>, String> {
    let mut by_entry: BTreeMap<String, std::collections::VecDeque<BTreeMap<String, f64>>> = BTreeMap::new();
    for launch in theirs {
        by_entry.entry(launch.entry).or_default().push_back(launch.values);
    }
    let mut rows = Vec::new();
    for launch in &ours.launches {
        let theirs = by_entry.get_mut(&launch.entry).and_then(std::collections::VecDeque::pop_front);
        let theirs =
            theirs.ok_or_else(|| format!("{}: the GPU's side has no launch of `{}`", launch.case, launch.entry))?;
        for metric in METRICS.iter().filter(|metric| !metric.ncu.is_empty()) {
            let count = launch.counts.get(metric.name).copied().unwrap_or(0);
            let their = theirs.get(metric.ncu).copied();
            if count == 0 && their.is_none_or(|their| their == 0.0) {
                continue;
            }
            let why = launch.assembler.get(metric.name).cloned();
            let verdict = verdict(metric, count, their, why.is_some());
            rows.push(Row { case: launch.case.clone(), metric, ours: count, theirs: their, verdict, why });
        }
    }
    Ok(rows)
}

#[allow(clippy::cast_precision_loss, reason = "counts of small launches")]
fn verdict(metric: &Metric, ours: u64, theirs: Option<f64>, explained: bool) -> Verdict {
    let Some(theirs) = theirs else { return Verdict::Unknown };
    let off = (ours as f64 - theirs).abs();
    match () {
        () if metric.standing == Standing::Informational => Verdict::Informational,
        () if off < 0.5 => Verdict::Equal,
        () if off <= TOLERANCE * theirs => Verdict::Near,
        () if explained => Verdict::Explained,
        () => Verdict::Off,
    }
}

/// Verdicts by metric.
pub fn summary(rows: &[Row]) -> String {
    let verdicts =
        [Verdict::Equal, Verdict::Near, Verdict::Explained, Verdict::Informational, Verdict::Unknown, Verdict::Off];
    let mut table = markdown();
    table.set_header(["metric", "of Nsight Compute"].into_iter().chain(verdicts.map(Verdict::words)));
    for metric in METRICS {
        let of: Vec<&Row> = rows.iter().filter(|row| row.metric.name == metric.name).collect();
        if of.is_empty() {
            continue;
        }
        let count = |verdict| match of.iter().filter(|row| row.verdict == verdict).count() {
            0 => "-".to_owned(),
            count => count.to_string(),
        };
        let cells = [format!("`{}`", metric.name), format!("`{}`", metric.ncu)];
        table.add_row(cells.into_iter().chain(verdicts.map(count)));
    }
    table.to_string()
}

/// Every row.
pub fn table(rows: &[Row]) -> String {
    let mut table = markdown();
    table.set_header(["case", "metric", "simulator", "GPU", "ratio", "verdict", "why"]);
    for row in rows {
        #[allow(clippy::cast_precision_loss, reason = "counts of small launches")]
        let ratio = row.theirs.filter(|theirs| *theirs > 0.0).map(|theirs| format!("{:.3}", row.ours as f64 / theirs));
        let dash = || "-".to_owned();
        table.add_row([
            row.case.clone(),
            format!("`{}`", row.metric.name),
            row.ours.to_string(),
            row.theirs.map_or_else(dash, |theirs| format!("{theirs:.0}")),
            ratio.unwrap_or_else(dash),
            row.verdict.words().to_owned(),
            row.why.clone().unwrap_or_default(),
        ]);
    }
    table.to_string()
}

fn markdown() -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table
}
