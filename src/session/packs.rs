//! Packs that contradict one another on a device: found when files are checked, and not only where a device is used.

use crate::library::Loaded;
use peak_grammar::Diagnostic;
use peak_grammar::specialize::{self, SpecializeError};
use peak_grammar::syntax::Span;

/// A finding for each device and transformation of which two unrelated packs change the same part, at the pack that
/// comes second.
#[must_use]
pub fn conflicts(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for device in loaded.ir.devices.values() {
        let packs = specialize::applicable_packs(&loaded.ir, &device.name);
        let mut changed: Vec<&str> = Vec::new();
        for special in packs.iter().flat_map(|pack| &pack.specializations) {
            if !changed.contains(&special.transformation.as_str()) {
                changed.push(&special.transformation);
            }
        }
        for name in changed {
            let Err(error) = specialize::transformation(&loaded.ir, name, Some(&device.name)) else { continue };
            let SpecializeError::Conflict { second, .. } = &error else { continue };
            let Some(pack) = loaded.ir.packs.get(second) else { continue };
            let at = Span::new(pack.origin.start, pack.origin.start);
            let message = format!("on `{}`, {error}", device.name);
            let diagnostic = Diagnostic::error("peak::pack-conflict", &pack.origin.file, at, message);
            found.push(diagnostic.help("let one of the packs extend the other, or narrow its `for devices`"));
        }
    }
    found
}
