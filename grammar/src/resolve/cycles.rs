//! Circles among declarations: `extends` of packs and `after` of transformations.

use super::index::{Index, Table};
use crate::syntax::ast::{Block, PackClause, TransformationClause};
use crate::syntax::{Name, Report};
use std::collections::BTreeSet;

/// Reports each circle once, at the link that closes it.
pub(super) fn check(index: &Index<'_>, reports: &mut [Report<'_>]) {
    circles(&index.packs, extends, "pack", "extends", reports);
    circles(&index.transformations, after, "transformation", "comes after", reports);
    circles(&index.pack_transformations, after, "transformation", "comes after", reports);
}

fn extends(block: &Block<PackClause>) -> Vec<&Name> {
    let names = block.clauses.iter().filter_map(|clause| match &clause.value {
        PackClause::Extends(name) => Some(name),
        _ => None,
    });
    names.collect()
}

fn after(block: &Block<TransformationClause>) -> Vec<&Name> {
    let names = block.clauses.iter().flat_map(|clause| match &clause.value {
        TransformationClause::After(names) => names.as_slice(),
        _ => &[],
    });
    names.collect()
}

/// Names of a circle that are shown, at most.
const SHOWN: usize = 8;

/// A circle in words, its middle left out where it is long.
fn shown(circle: &[&str]) -> String {
    match circle {
        [first @ .., last] if circle.len() > SHOWN => {
            let more = circle.len() - SHOWN;
            format!("{} -> ({more} more) -> {last}", first[..SHOWN - 1].join(" -> "))
        }
        all => all.join(" -> "),
    }
}

/// A walk in depth with its own stack: the chain of links may be as long as the input.
fn circles<'a, C>(
    table: &Table<'a, C>,
    links: fn(&Block<C>) -> Vec<&Name>,
    kind: &str,
    verb: &str,
    reports: &mut [Report<'_>],
) {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in table.keys() {
        let mut path: Vec<(&str, usize)> = vec![(start, 0)];
        let mut on_path: BTreeSet<&str> = BTreeSet::from([*start]);
        while let Some((name, next)) = path.last_mut() {
            let Some((file, block)) = table.get(*name).filter(|_| !done.contains(*name)) else {
                on_path.remove(*name);
                path.pop();
                continue;
            };
            let Some(link) = links(block).get(*next).copied() else {
                done.insert(*name);
                continue;
            };
            *next += 1;
            if on_path.contains(link.value.as_str()) {
                let from = path.iter().position(|(name, _)| *name == link.value).unwrap_or(0);
                let circle: Vec<&str> =
                    path[from..].iter().map(|(name, _)| *name).chain([link.value.as_str()]).collect();
                let message = format!("the {kind} `{}` {verb} itself", link.value);
                let out = &mut reports[*file];
                let diagnostic = out.error("peak::cycle", link.span, message).label("closes the circle");
                out.push(diagnostic.help(format!("the circle is {}; break it at one place", shown(&circle))));
            } else if let Some((known, _)) = table.get_key_value(link.value.as_str()) {
                on_path.insert(known);
                path.push((known, 0));
            }
        }
    }
}
