//! Nearly everything is wrong, and what is right lies at the same place of every block: threads differ, elements do not.

use super::{Evidence, Finding};

/// Blocks below which the same place may be right in all of them by chance.
const MIN_BLOCKS: usize = 8;
/// The share of all elements that are wrong, at least.
const MOST: f64 = 0.5;

pub(super) fn test(evidence: &Evidence<'_>) -> Option<Finding> {
    let [rows, columns] = *evidence.truth.shape.as_slice() else { return None };
    if (evidence.wrong.len() as f64) < MOST * evidence.actual.len() as f64 {
        return None;
    }
    let sizes = |extent: usize| {
        let sizes = evidence.tile_sizes(extent + 1);
        sizes.into_iter().filter(move |size| extent.is_multiple_of(*size)).collect::<Vec<usize>>()
    };
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for height in sizes(rows) {
        edges.extend(sizes(columns).into_iter().map(|width| (height, width)));
    }
    edges.retain(|(height, width)| (rows / height) * (columns / width) >= MIN_BLOCKS && height * width > 1);
    // The smallest block that shows it is the real one.
    edges.sort_by_key(|(height, width)| (height * width, height.abs_diff(*width)));
    edges.into_iter().find_map(|edges| blocks(evidence, columns, edges))
}

fn blocks(evidence: &Evidence<'_>, columns: usize, (height, width): (usize, usize)) -> Option<Finding> {
    let mut right = vec![true; height * width];
    for flat in evidence.wrong {
        right[flat / columns % height * width + flat % columns % width] = false;
    }
    let first = right.iter().position(|right| *right)?;
    let (top, left) = (first / width, first % width);
    // Threads run in the order of rows: the last ones of a block are the end of its last rows.
    let rectangle = (0..height * width).all(|at| right[at] == (at / width >= top && at % width >= left));
    if !rectangle || (top == 0 && left == 0) {
        return None;
    }
    let [i, j] = evidence.indices else { return None };
    let row = remainder(i, top, height);
    let column = remainder(j, left, width);
    let place = [row, column].into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let made_of = |extent: usize| Some(format!("{extent} = {}", evidence.made_of(extent, None)?));
    let names: Vec<String> = match height == width {
        true => made_of(height).into_iter().collect(),
        false => [height, width].into_iter().filter_map(made_of).collect(),
    };
    let named = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    let output = evidence.output;
    Some(Finding {
        sentence: format!(
            "right only at the end of each block: of every {height} x {width} elements of {output}{named} only \
             those where {place} are right: the threads that run last see what the others stored, as where a barrier is \
             missing between storing to shared memory and reading it"
        ),
        explains: 1.0,
    })
}

/// `i mod 16 = 15`, `j mod 16 >= 8`; `None` for all of them.
fn remainder(name: &str, first: usize, extent: usize) -> Option<String> {
    match first {
        0 => None,
        first if first + 1 == extent => Some(format!("{name} mod {extent} = {first}")),
        first => Some(format!("{name} mod {extent} >= {first}")),
    }
}
