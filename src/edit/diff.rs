//! From a whole new text to the edits that make it, and to a diff that people read.

use super::{Edit, EditScript};
use peak_grammar::ir::Region;
use similar::{DiffTag, TextDiff};

/// Lines of the old text times lines of the new, at most, for which the smallest set of edits is looked for: beyond,
/// the answer may well be made to take forever, and one edit of the whole region does the same.
const MAX_LINE_PAIRS: usize = 4_000_000;

/// The smallest set of line edits that turns `old` into `new`.
#[must_use]
pub fn rewrite(region: Region, old: &str, new: &str) -> EditScript {
    if old.lines().count().saturating_mul(new.lines().count()) > MAX_LINE_PAIRS {
        return whole(region, old, new);
    }
    let diff = TextDiff::from_lines(old, new);
    let starts = line_starts(old);
    let edits = diff
        .ops()
        .iter()
        .filter(|op| op.tag() != DiffTag::Equal)
        .map(|op| {
            let start = starts[op.old_range().start];
            let expected = old[start..starts[op.old_range().end]].to_owned();
            let replacement = new.split_inclusive('\n').skip(op.new_range().start).take(op.new_range().len()).collect();
            Edit { start, expected, replacement }
        })
        .collect();
    // Line edits of one diff are disjoint by construction; should that ever fail, one edit of the whole is as good.
    EditScript::new(region, edits).unwrap_or_else(|_| whole(region, old, new))
}

/// A unified diff of one region, three lines of context; empty where nothing changed.
#[must_use]
pub fn unified(region: Region, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let name = region.slug();
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(3).header(&format!("a/{name}"), &format!("b/{name}")).to_string()
}

fn whole(region: Region, old: &str, new: &str) -> EditScript {
    let edit = Edit { start: 0, expected: old.to_owned(), replacement: new.to_owned() };
    EditScript::single(region, edit)
}

/// Byte offset of every line, and the length of the text.
fn line_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    for line in text.split_inclusive('\n') {
        starts.push(starts[starts.len() - 1] + line.len());
    }
    starts
}
