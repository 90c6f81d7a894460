//! A transformation with every applicable pack's specialization in it, and where each part came from.

use super::SpecializeError;
use super::packs::{applicable_packs, builds_on};
use crate::ir::{Library, Pack, Prose, Specialization, Transformation};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A transformation as one device sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Specialized {
    /// The transformation, specializations applied.
    pub transformation: Transformation,
    /// What the device, its packs and the specializations know, with the name of each source, in that order.
    pub knowledge: Vec<Knowledge>,
    /// The pack that each changed or added part came from, by `pass NAME`, `introduces NAME`, `takes NAME`,
    /// `requires NAME`; `transformation` is there too when a pack brought it whole. The rest is as declared.
    pub provenance: IndexMap<String, String>,
    /// The packs that apply to the device, in the order of application.
    pub packs: Vec<String>,
}

/// What is known of a device, for prompts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knowledge {
    /// The device, pack or specialization that brings it.
    pub source: String,
    /// The words.
    pub prose: Prose,
    /// Whether a pack wrote it for this transformation: then an answer counts for the devices of that pack alone. What
    /// is known of a device in general helps a model, and its answer serves any device.
    pub specific: bool,
}

/// The transformation `name` for a device; without one, as it is declared.
///
/// # Errors
/// No such transformation, one that belongs to a pack for other devices, or two unrelated packs that change one thing.
pub fn transformation(library: &Library, name: &str, device: Option<&str>) -> Result<Specialized, SpecializeError> {
    let packs = device.map(|device| applicable_packs(library, device)).unwrap_or_default();
    let (declared, owner) = find(library, &packs, name, device)?;
    let mut work = Work { library, applied: Vec::new(), provenance: IndexMap::new(), transformation: declared.clone() };
    if let Some(owner) = owner {
        work.provenance.insert("transformation".to_owned(), owner.to_owned());
    }
    let mut knowledge = Vec::new();
    let mut know = |source: &str, prose: &Prose, specific: bool| {
        if !prose.is_empty() {
            knowledge.push(Knowledge { source: source.to_owned(), prose: prose.clone(), specific });
        }
    };
    if let Some(device) = device.and_then(|device| library.devices.get(device)) {
        know(&device.name, &device.knows, false);
    }
    packs.iter().for_each(|pack| know(&pack.name, &pack.knows, false));
    for pack in &packs {
        for special in pack.specializations.iter().filter(|special| special.transformation == name) {
            work.apply(pack, special)?;
            know(&format!("{}: {name}", pack.name), &special.knows, true);
        }
    }
    let packs = packs.iter().map(|pack| pack.name.clone()).collect();
    Ok(Specialized { transformation: work.transformation, knowledge, provenance: work.provenance, packs })
}

/// The declaration, and the pack that it belongs to.
fn find<'l>(
    library: &'l Library,
    packs: &[&'l Pack],
    name: &str,
    device: Option<&str>,
) -> Result<(&'l Transformation, Option<&'l str>), SpecializeError> {
    if let Some(found) = library.transformations.get(name) {
        return Ok((found, None));
    }
    // What builds on a base comes later and wins.
    let own = packs.iter().rev().find_map(|pack| Some((pack.transformations.get(name)?, Some(pack.name.as_str()))));
    if let Some(found) = own {
        return Ok(found);
    }
    if let Some(pack) = library.packs.values().find(|pack| pack.transformations.contains_key(name)) {
        let place = device.map_or("use without a device".to_owned(), |device| format!("the device `{device}`"));
        let help = format!("it belongs to the pack `{}`, for {}", pack.name, pack.devices.join(", "));
        return Err(SpecializeError::NotFor { kind: "transformation", name: name.to_owned(), place, help });
    }
    let nested = library.packs.values().flat_map(|pack| pack.transformations.keys());
    Err(SpecializeError::unknown(
        "transformation",
        name,
        library.transformations.keys().chain(nested).map(String::as_str),
    ))
}

struct Work<'l> {
    library: &'l Library,
    /// What was changed, by which pack.
    applied: Vec<(String, &'l Pack)>,
    provenance: IndexMap<String, String>,
    transformation: Transformation,
}

impl<'l> Work<'l> {
    fn apply(&mut self, pack: &'l Pack, special: &Specialization) -> Result<(), SpecializeError> {
        for pass in &special.passes {
            self.claim(pack, "pass", &pass.name)?;
            replace_or_add(&mut self.transformation.passes, pass, |pass| &pass.name);
        }
        for parameter in &special.introduces {
            self.claim(pack, "introduces", &parameter.name)?;
            replace_or_add(&mut self.transformation.introduces, parameter, |parameter| &parameter.name);
        }
        for setting in &special.settings {
            self.claim(pack, "takes", &setting.name)?;
            replace_or_add(&mut self.transformation.settings, setting, |setting| &setting.name);
        }
        for requirement in &special.requires {
            self.claim(pack, "requires", &requirement.name)?;
            replace_or_add(&mut self.transformation.requires, requirement, |requirement| &requirement.name);
        }
        Ok(())
    }

    /// Notes that a pack changes a part; one that an unrelated pack has changed is a conflict.
    fn claim(&mut self, pack: &'l Pack, word: &str, name: &str) -> Result<(), SpecializeError> {
        let key = format!("{word} {name}");
        let unrelated = |earlier: &Pack| !builds_on(self.library, pack, &earlier.name);
        if let Some((_, first)) = self.applied.iter().find(|(part, first)| *part == key && unrelated(first)) {
            return Err(SpecializeError::Conflict {
                first: first.name.clone(),
                second: pack.name.clone(),
                what: format!("`{key}`"),
                transformation: self.transformation.name.clone(),
            });
        }
        self.provenance.insert(key.clone(), pack.name.clone());
        self.applied.push((key, pack));
        Ok(())
    }
}

fn replace_or_add<T: Clone>(items: &mut Vec<T>, item: &T, name: fn(&T) -> &String) {
    match items.iter_mut().find(|own| name(own) == name(item)) {
        Some(own) => *own = item.clone(),
        None => items.push(item.clone()),
    }
}
