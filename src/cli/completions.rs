//! `peak completions`: what a shell needs to know of the command line, from the command line's own
//! description.

use super::output::App;
use crate::error::Result;
use clap::CommandFactory;
use serde_json::json;

/// Prints a script that completes `peak` and its options in a shell.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak completions bash > ~/.local/share/bash-completion/completions/peak\n  \
    peak completions zsh > ~/.zfunc/_peak          (a folder of $fpath)\n  \
    peak completions fish > ~/.config/fish/completions/peak.fish")]
pub struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "peak", &mut script);
        let text = String::from_utf8_lossy(&script);
        app.print(&text);
        app.event("completions", json!({"shell": self.shell.to_string(), "text": text}));
        Ok(())
    }
}
