//! What lowering came to, region by region, for `peak lower --emit edits|source`.

use crate::context::KernelContext;
use crate::edit::{EditScript, rewrite, unified};
use peak_grammar::ir::Region;

/// The edit script of each region that changed.
#[must_use]
pub fn edit_scripts(before: &KernelContext, after: &KernelContext) -> Vec<EditScript> {
    let script = |region: &Region| rewrite(*region, before.regions.get(*region), after.regions.get(*region));
    Region::ALL.iter().map(script).filter(|script| !script.is_empty()).collect()
}

/// A unified diff of all regions; empty where nothing changed.
#[must_use]
pub fn edits(before: &KernelContext, after: &KernelContext) -> String {
    Region::ALL.iter().map(|region| unified(*region, before.regions.get(*region), after.regions.get(*region))).collect()
}

/// The three regions, each under its name.
#[must_use]
pub fn source(context: &KernelContext) -> String {
    let region = |region: &Region| {
        let text = context.regions.get(*region);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        format!("==> {region}\n{text}{end}")
    };
    Region::ALL.iter().map(region).collect::<Vec<_>>().join("\n")
}
