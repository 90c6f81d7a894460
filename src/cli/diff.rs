//! `peak diff`: what changed between two checkpoints, region by region.

use super::output::App;
use crate::context::KernelContext;
use crate::error::Result;
use peak_grammar::ir::Region;
use serde_json::json;
use similar::{ChangeTag, TextDiff};

/// Shows what changed from one checkpoint to another: regions, tuning parameters, requirements.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak diff baseline thread-tiling   what the steps between them changed\n  \
    peak diff 3/baseline               from there to the current checkpoint")]
pub struct Arguments {
    /// The earlier one: NAME, RUN/NAME, a number, or the beginning of a hash.
    from: String,
    /// The later one; else the current checkpoint.
    to: Option<String>,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let store = app.store()?;
        let from = store.context(&super::show::find(&store, Some(&self.from))?)?;
        let to = store.context(&super::show::find(&store, self.to.as_deref())?)?;
        let parts = parts(&from, &to);
        if parts.is_empty() {
            app.say("nothing changed");
        }
        for (part, diff) in parts {
            app.print(&paint(&format!("=== {part}\n{diff}"), app.color));
            app.event("diff", json!({"part": part, "diff": diff}));
        }
        Ok(())
    }
}

/// What changed, by part, each as a unified diff; parts without a change are left out.
fn parts(from: &KernelContext, to: &KernelContext) -> Vec<(&'static str, String)> {
    let tuning = |context: &KernelContext| -> String {
        context.tuning.iter().map(|p| format!("{} in {}\n", p.name, p.values)).collect()
    };
    let requirements = |context: &KernelContext| -> String {
        context.requirements.iter().map(|r| format!("{}: {}\n", r.name, r.condition)).collect()
    };
    let mut parts =
        vec![("tuning parameters", tuning(from), tuning(to)), ("requirements", requirements(from), requirements(to))];
    for region in Region::ALL {
        parts.push((region.words(), from.regions.get(region).to_owned(), to.regions.get(region).to_owned()));
    }
    parts.into_iter().filter(|(_, old, new)| old != new).map(|(part, old, new)| (part, unified(&old, &new))).collect()
}

/// Three lines around each change, as in a patch, without its file names.
pub(super) fn unified(old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut text = String::new();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        text.push_str(&format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            text.push_str(&format!("{sign}{}\n", change.value().trim_end_matches('\n')));
        }
    }
    text
}

/// Colours each line by its first character.
pub(super) fn paint(diff: &str, color: bool) -> String {
    if !color {
        return diff.to_owned();
    }
    let painted = diff.lines().map(|line| match line.as_bytes().first() {
        Some(b'+') => format!("\x1b[32m{line}\x1b[0m\n"),
        Some(b'-') => format!("\x1b[31m{line}\x1b[0m\n"),
        Some(b'@') => format!("\x1b[36m{line}\x1b[0m\n"),
        Some(b'=') => format!("\x1b[1m{line}\x1b[0m\n"),
        _ => format!("{line}\n"),
    });
    painted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_keeps_three_lines_around_a_change() {
        let old: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 5", "line five");
        insta::assert_snapshot!(unified(&old, &new), @"
        @@ -2,7 +2,7 @@
         line 2
         line 3
         line 4
        -line 5
        +line five
         line 6
         line 7
         line 8
        ");
    }

    #[test]
    fn colour_is_by_sign() {
        assert_eq!(paint("+a\n-b\n", true), "\x1b[32m+a\x1b[0m\n\x1b[31m-b\x1b[0m\n");
        assert_eq!(paint("+a\n", false), "+a\n");
    }
}
