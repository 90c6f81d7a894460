//! The command line: reads arguments, calls the compiler, shows results. No other module prints.
//!
//! A subcommand is one file with a type `Arguments` (clap's derive, and a method `run`), and one line in the list below.

pub mod exit;
mod kernel;
pub mod output;
mod providers;

use crate::error::{Class, Result};
use clap::Parser;
use output::App;
use std::path::PathBuf;
use std::process::ExitCode;

/// Declares the module, the variant and the call of each subcommand.
macro_rules! subcommands {
    ($($(#[$attribute:meta])* $module:ident => $variant:ident,)*) => {
        $(pub mod $module;)*

        #[derive(clap::Subcommand)]
        enum Command {
            $($(#[$attribute])* $variant($module::Arguments),)*
        }

        impl Command {
            fn run(self, app: &App) -> Result<()> {
                match self {
                    $(Command::$variant(arguments) => arguments.run(app),)*
                }
            }
        }
    };
}

// Alphabetical. The help text of each is the comment on its `Arguments`.
subcommands! {
    bench => Bench,
    check => Check,
    completions => Completions,
    diff => Diff,
    disasm => Disasm,
    doctor => Doctor,
    explain => Explain,
    fmt => Fmt,
    list => List,
    log => Log,
    lower => Lower,
    man => Man,
    new => New,
    profile => Profile,
    recordings => Recordings,
    restore => Restore,
    run => Run,
    show => Show,
}

/// Makes GPU kernels fast by transformations written in words.
#[derive(Parser)]
#[command(name = "peak", version, about, after_help = exit::help(), disable_help_subcommand = true)]
struct Cli {
    /// One JSON object a line on standard output, for programs.
    #[arg(long, global = true)]
    json: bool,
    /// No words besides results and errors.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// The project's folder, exactly; else the nearest with a store from the working folder upwards, else that.
    #[arg(long, global = true, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Runs the command line, and gives its exit code.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = crate::session::worker() {
        return code;
    }
    exit::install_panic_hook();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output with code 0, a wrong command line to standard error with code 2.
            let _ = error.print();
            tell_program(&error);
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    set_report_style();
    let app = App::new(cli.json, cli.quiet, cli.project);
    let result = match cli.command {
        Some(command) => command.run(&app),
        None => {
            welcome(&app);
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            app.fail(&error);
            ExitCode::from(exit::code(error.class))
        }
    }
}

/// A wrong command line as an event, where `--json` is on it.
fn tell_program(error: &clap::Error) {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let text = error.to_string();
        let (message, _) = text.split_once("\n\n").unwrap_or((&text, ""));
        let wrong = usage(message.trim_start_matches("error: "), "`peak --help` lists every command and option");
        App::new(true, true, None).diagnostic(&wrong);
    }
}

/// How diagnostics are drawn: colour and line art only where a person looks.
fn set_report_style() {
    use std::io::IsTerminal;
    let person = std::io::stderr().is_terminal();
    let color = person && !output::no_color();
    // A second hook is refused; the first is then as good.
    let _ = miette::set_hook(Box::new(move |_| {
        let style = miette::MietteHandlerOpts::new().color(color).unicode(person).terminal_links(false);
        let style = if person { style } else { style.width(120).context_lines(1) };
        Box::new(style.build())
    }));
}

fn welcome(app: &App) {
    let next = match crate::store::find_file(&app.project) {
        None => "peak run matmul-f32   make the naive MatMul fast on this machine's device",
        Some(_) => "peak log              what was done in this project",
    };
    app.print(&format!(
        "Peak {}: makes GPU kernels fast by transformations written in words.\n\
         Next:  {next}\n\
         Also:  peak doctor           what this machine can run, and what it lacks\n\
         \x20      peak list             kernels, transformations, devices and workflows\n\
         \x20      peak --help           every command",
        env!("CARGO_PKG_VERSION")
    ));
}

/// A word as a shell takes it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A number with its noun: `1 kernel`, `2 kernels`.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A wrong combination of arguments, which clap's derive cannot express.
#[must_use]
pub fn usage(message: &str, help: &str) -> crate::error::Error {
    crate::error::Error::plain(Class::Usage, "peak::usage", message, help)
}

/// The only declaration of a kind in a file; `flag` is what chooses one.
fn only<'a>(file: &str, kind: &str, flag: &str, declared: impl Iterator<Item = &'a str>) -> Result<String> {
    let own: Vec<&str> = declared.collect();
    match own.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(usage(&format!("{file} declares no {kind}"), &format!("name one of the library: {flag} NAME"))),
        several => {
            let message = format!("{file} declares {} {kind}s: {}", several.len(), several.join(", "));
            Err(usage(&message, &format!("choose one: {flag} NAME")))
        }
    }
}
