//! Each tile is off by a factor of its own.

use super::factor::{median, ratio};
use super::{Evidence, Finding};
use indexmap::IndexMap;

/// Tiles below this edge hold too few elements to tell.
const MIN_EDGE: usize = 4;
/// Factors in one tile agree to this share.
const SAME: f64 = 1e-3;

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let [.., rows, columns] = *evidence.truth.shape.as_slice() else { return None };
    let mut sizes = evidence.tile_sizes(rows.min(columns));
    sizes.retain(|size| *size >= MIN_EDGE);
    // The largest tile that holds one factor is the real one.
    sizes.iter().rev().find_map(|size| tiled(evidence, rows, columns, *size))
}

fn tiled(evidence: &Evidence<'_>, rows: usize, columns: usize, edge: usize) -> Option<Finding> {
    let mut tiles: IndexMap<(usize, usize), Vec<f64>> = IndexMap::new();
    for flat in evidence.wrong {
        if let Some(ratio) = ratio(evidence, *flat) {
            tiles.entry((flat / columns % rows / edge, flat % columns / edge)).or_default().push(ratio);
        }
    }
    let total: usize = tiles.values().map(Vec::len).sum();
    let mut factors = Vec::new();
    let mut agreeing = 0;
    for ratios in tiles.into_values() {
        let factor = median(ratios.clone())?;
        agreeing += ratios.iter().filter(|ratio| (*ratio / factor - 1.0).abs() < SAME).count();
        factors.push(factor);
    }
    let explains = agreeing as f64 / total.max(1) as f64;
    let differ = factors.iter().any(|factor| (factor / factors[0] - 1.0).abs() > 10.0 * SAME);
    (explains >= super::ALL && differ).then(|| Finding {
        sentence: format!(
            "scaled tile by tile: each tile of {edge} x {edge} elements of {} is off by a factor of its own{}",
            evidence.output,
            evidence.named(edge),
        ),
        explains,
    })
}
