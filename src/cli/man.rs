//! `peak man`: the manual page, from the command line's own description.

use super::output::App;
use crate::error::{Class, Error, Result};
use clap::CommandFactory;
use serde_json::json;

/// Prints the manual page, for `man`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak man > ~/.local/share/man/man1/peak.1\n  \
    peak man | man -l -")]
pub struct Arguments {}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let mut page = Vec::new();
        let mut command = super::Cli::command();
        command.build();
        let pages = std::iter::once(command.clone()).chain(command.get_subcommands().cloned());
        for command in pages {
            clap_mangen::Man::new(command).render(&mut page).map_err(|error| {
                let message = format!("the manual page cannot be written: {error}");
                Error::plain(Class::Bug, "peak::cannot-write", message, "please report it")
            })?;
        }
        let text = String::from_utf8_lossy(&page);
        app.print(&text);
        app.event("manual", json!({"text": text}));
        Ok(())
    }
}
