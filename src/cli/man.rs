//! `peak man`: the manual page, from the command line's own description.

use super::output::App;
use super::usage;
use crate::error::{Class, Error, Result};
use clap::CommandFactory;
use serde_json::json;

/// Prints the manual page of `peak`, or of one of its commands, for `man`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak man > ~/.local/share/man/man1/peak.1\n  \
    peak man run | man -l -")]
pub struct Arguments {
    /// The command; `peak` itself where none is named.
    command: Option<String>,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let mut command = super::Cli::command();
        command.build();
        let subject = match &self.command {
            None => &command,
            Some(name) => command
                .find_subcommand(name)
                .ok_or_else(|| usage(&format!("there is no command `{name}`"), "`peak --help` lists every command"))?,
        };
        let mut page = Vec::new();
        clap_mangen::Man::new(subject.clone()).render(&mut page).map_err(|error| {
            let message = format!("the manual page cannot be written: {error}");
            Error::plain(Class::Bug, "peak::cannot-write", message, "please report it")
        })?;
        let text = String::from_utf8_lossy(&page);
        app.print(&text);
        app.event("manual", json!({"command": self.command, "text": text}));
        Ok(())
    }
}
