//! Which packs apply to a device, in order, and which device a driver's name means.

use crate::ir::{Device, Library, Pack};

/// The packs that apply to a device, bases before what builds on them, else in the order of the library.
///
/// A pack applies when its `for devices` (its base's, where it has none) holds the device; then its bases apply too.
#[must_use]
pub fn applicable_packs<'l>(library: &'l Library, device: &str) -> Vec<&'l Pack> {
    let mut packs: Vec<&Pack> = Vec::new();
    for pack in library.packs.values().filter(|pack| devices(library, pack).iter().any(|own| own == device)) {
        for pack in chain(library, pack).into_iter().rev() {
            if !packs.iter().any(|earlier| earlier.name == pack.name) {
                packs.push(pack);
            }
        }
    }
    packs
}

/// The device that a driver's name means: the one with the longest piece of it in `matches`, case aside.
#[must_use]
pub fn find_device<'l>(library: &'l Library, driver_name: &str) -> Option<&'l Device> {
    let folded = driver_name.to_lowercase();
    let length = |device: &Device| {
        let pieces = device.matches.iter().filter(|piece| folded.contains(&piece.to_lowercase()));
        pieces.map(String::len).max()
    };
    let matching = library.devices.values().filter_map(|device| Some((length(device)?, device)));
    // Of equally long pieces the first device wins.
    matching.rev().max_by_key(|(length, _)| *length).map(|(_, device)| device)
}

/// A pack and its bases, itself first. A circle, which the resolver reports, ends the chain.
pub(super) fn chain<'l>(library: &'l Library, pack: &'l Pack) -> Vec<&'l Pack> {
    let mut chain = vec![pack];
    let mut next = pack.extends.as_ref();
    while let Some(base) = next.and_then(|name| library.packs.get(name)) {
        if chain.iter().any(|seen| seen.name == base.name) {
            break;
        }
        chain.push(base);
        next = base.extends.as_ref();
    }
    chain
}

/// Whether `pack` builds on the pack named `base`, directly or not.
pub(super) fn builds_on(library: &Library, pack: &Pack, base: &str) -> bool {
    chain(library, pack).iter().skip(1).any(|link| link.name == base)
}

fn devices<'l>(library: &'l Library, pack: &'l Pack) -> &'l [String] {
    let chain = chain(library, pack);
    chain.into_iter().map(|link| link.devices.as_slice()).find(|devices| !devices.is_empty()).unwrap_or(&[])
}
