//! The facts of a device with those that its packs state.

use super::packs::{applicable_packs, builds_on};
use crate::ir::{Device, Library, Pack};
use indexmap::IndexMap;

/// A device with the facts of its packs in place of its own of the same name. What builds on a base replaces the
/// base's; of two packs of which neither builds on the other the smaller fact holds, whatever their order.
#[must_use]
pub fn with_facts(library: &Library, device: &Device) -> Device {
    let mut made = device.clone();
    let packs = applicable_packs(library, &device.name);
    replace(library, &packs, &mut made.facts, |pack| Some(&pack.facts));
    let languages: Vec<&String> = packs.iter().flat_map(|pack| pack.backend_facts.keys()).collect();
    for language in languages {
        let facts = made.backend_facts.entry(language.clone()).or_default();
        replace(library, &packs, facts, |pack| pack.backend_facts.get(language));
    }
    made
}

fn replace<'l>(
    library: &Library,
    packs: &[&'l Pack],
    facts: &mut IndexMap<String, i64>,
    stated: impl Fn(&'l Pack) -> Option<&'l IndexMap<String, i64>>,
) {
    let mut by: IndexMap<&str, &Pack> = IndexMap::new();
    for pack in packs {
        for (name, value) in stated(pack).into_iter().flatten() {
            let unrelated = by.get(name.as_str()).is_some_and(|earlier| !builds_on(library, pack, &earlier.name));
            let held = facts.get(name).copied().filter(|_| unrelated);
            facts.insert(name.clone(), held.map_or(*value, |held| held.min(*value)));
            by.insert(name, pack);
        }
    }
}
