//! `peak doctor`: what this machine can run, and what it lacks, with the command that mends it.

use super::output::App;
use super::providers::{asking_line, stop_on_interrupt};
use super::{counted, usage};
use crate::error::{Class, Error, Result};
use crate::library::{Standard, load};
use crate::provider::{forget_key, keep_key};
use crate::runner::{Inventory, MissingRuntime, WorkerProgram, inventory};
use crate::session::{Called, ProviderChoice, Standing, call_provider, standing_providers};
use crate::store::{FILE, FOLDER, Store};
use peak_backend_api::{DeviceInfo, Toolchain};
use serde_json::json;
use std::io::{BufRead, IsTerminal, Read};
use std::sync::Arc;
use std::time::Duration;

/// How long a call for one token may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of a key, at most.
const MAX_KEY_BYTES: u64 = 16 << 10;

/// Tells what this machine can run, and what it lacks.
///
/// Exits with 0 if something can run: a device, and every toolchain of its backend.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak doctor          then run the command that it names for what is missing\n  \
    peak doctor --json   toolchains and devices, one object each\n  \
    peak doctor --call openai --model NAME   ask a model for one token")]
pub struct Arguments {
    /// Asks this provider for one token, and tells how that went; nothing else is looked at.
    #[arg(long, value_name = "PROVIDER", group = "instead")]
    call: Option<String>,
    /// The model that is called.
    #[arg(long, value_name = "NAME", requires = "call")]
    model: Option<String>,
    /// The address that is called; no key is sent there unless `peak.toml` names one for it.
    #[arg(long, value_name = "URL", requires = "call")]
    url: Option<String>,
    /// Keeps this provider's key in the system's keyring; the key is read from standard input.
    #[arg(long, value_name = "PROVIDER", group = "instead")]
    keep_key: Option<String>,
    /// Takes this provider's key out of the keyring.
    #[arg(long, value_name = "PROVIDER", group = "instead")]
    forget_key: Option<String>,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        if let Some(provider) = &self.call {
            return self.called(app, provider);
        }
        if let Some(provider) = &self.keep_key {
            return keep(app, provider);
        }
        if let Some(provider) = &self.forget_key {
            let was_there = forget_key(provider)?;
            app.say(if was_there { "the key was taken out of the keyring" } else { "the keyring held no such key" });
            return Ok(());
        }
        let found = ask()?;
        show_backends(app, &found);
        show_devices(app, &found);
        show_providers(app)?;
        show_library(app);
        show_store(app);
        match runnable(&found) {
            Some(device) => {
                app.print(&format!("\nready: {} on {} ({})", device.backend, device.name, device.runtime));
                Ok(())
            }
            None => Err(Error::plain(
                Class::Environment,
                "peak::nothing-runs",
                "no backend has both its toolchains and a device here",
                format!("run `{}`, then `peak doctor` again", mend(&found)),
            )),
        }
    }

    fn called(&self, app: &App, provider: &str) -> Result<()> {
        let choice = ProviderChoice {
            name: Some(provider.to_owned()),
            model: self.model.clone(),
            url: self.url.clone(),
            timeout: Some(CALL_TIMEOUT),
            stop: stop_on_interrupt(),
            listener: Arc::new(asking_line(app)),
            ..ProviderChoice::default()
        };
        let Called { about, seconds, model, usage } = call_provider(&choice, &app.project)?;
        let by = model.as_ref().map(|model| format!(" by {model}")).unwrap_or_default();
        let took = usage.map(|usage| format!("; {usage}")).unwrap_or_default();
        app.print(&format!("{provider} answers: {about}\n  answered{by} after {seconds:.1} s{took}"));
        app.event("called", json!({"name": provider, "seconds": seconds, "model": model, "usage": usage}));
        Ok(())
    }
}

fn ask() -> Result<Inventory> {
    let failed =
        |message: String, help: &str| Error::plain(Class::Environment, "peak::worker-does-not-start", message, help);
    let program = WorkerProgram::current()
        .map_err(|error| failed(format!("this program cannot be found: {error}"), "start it by its full path"))?;
    inventory(&program).map_err(|error| failed(error.to_string(), "start Peak from a complete installation"))
}

/// The first device whose backend has all its toolchains.
fn runnable(found: &Inventory) -> Option<&DeviceInfo> {
    let complete = |name: &str| {
        found.backends.iter().any(|backend| {
            backend.name == name && backend.problem.is_none() && backend.toolchains.iter().all(|tool| tool.found)
        })
    };
    found.devices.iter().find(|device| complete(&device.backend))
}

/// The first command that mends something.
fn mend(found: &Inventory) -> String {
    let tools = found.backends.iter().flat_map(|backend| &backend.toolchains).filter(|tool| !tool.found);
    let commands = tools.map(|tool| &tool.mend).chain(found.missing.iter().map(|runtime| &runtime.mend));
    commands.into_iter().next().cloned().unwrap_or_else(|| "scripts/setup".to_owned())
}

fn show_backends(app: &App, found: &Inventory) {
    app.print("backends");
    if found.backends.is_empty() {
        app.print("  none in this build; build with a feature such as `--features hlsl`");
    }
    for backend in &found.backends {
        app.print(&format!("  {}: {}", backend.name, backend.title));
        if let Some(problem) = &backend.problem {
            app.print(&format!("    its toolchains could not be asked: {problem}"));
        }
        for tool in &backend.toolchains {
            app.print(&tool_line(tool));
            app.event(
                "toolchain",
                json!({
                    "name": tool.name,
                    "found": tool.found,
                    "version": tool.version,
                    "backend": backend.name,
                    "place": tool.place,
                    "mend": (!tool.found).then_some(&tool.mend),
                }),
            );
        }
    }
}

fn tool_line(tool: &Toolchain) -> String {
    match tool.found {
        true => format!("    {:<10} {}  {}", tool.name, tool.version.as_deref().unwrap_or("of no version"), tool.place),
        false => format!("    {:<10} missing (looked for {}); `{}` mends it", tool.name, tool.place, tool.mend),
    }
}

fn show_devices(app: &App, found: &Inventory) {
    app.print("devices");
    for (index, device) in found.devices.iter().enumerate() {
        app.print(&device_line(index, device));
        app.event(
            "device",
            json!({
                "name": device.name,
                "backend": device.backend,
                "runtime": device.runtime,
                "index": index,
                "kind": device.kind,
                "driver": device.driver,
                "features": device.features,
                "facts": device.facts,
            }),
        );
    }
    for missing in &found.missing {
        app.print(&missing_line(missing));
        app.event(
            "runtime",
            json!({
                "name": missing.runtime,
                "backend": missing.backend,
                "found": false,
                "why": missing.why,
                "mend": missing.mend,
            }),
        );
    }
}

fn device_line(index: usize, device: &DeviceInfo) -> String {
    format!("  {index}  {}: {} on {}, driver {}", device.name, device.backend, device.runtime, device.driver)
}

fn missing_line(missing: &MissingRuntime) -> String {
    format!("  {}: none for {} ({}); `{}` mends it", missing.runtime, missing.backend, missing.why, missing.mend)
}

fn show_providers(app: &App) -> Result<()> {
    let usual = ProviderChoice::default();
    let usual = usual.usual_name(&app.project)?;
    app.print("providers");
    for Standing { name, summary, provider } in standing_providers(&ProviderChoice::default(), &app.project)? {
        let (ready, words) = match &provider {
            Ok(provider) => (true, provider.about()),
            Err(error) => (false, lacks(error)),
        };
        let mark = if name == usual { " (the default here)" } else { "" };
        app.print(&format!("  {name:<10} {}: {summary}{mark}", if ready { "ready" } else { "not ready" }));
        if !words.is_empty() {
            app.print(&format!("             {words}"));
        }
        app.event("provider", json!({"name": name, "default": name == usual, "ready": ready, "about": words}));
    }
    Ok(())
}

/// What a provider lacks, and what mends it, on one line.
fn lacks(error: &Error) -> String {
    let Some(report) = &error.report else { return error.to_string() };
    let message = report.to_string();
    let message = message.split_once("cannot be used: ").map_or(message.as_str(), |(_, lacks)| lacks);
    let help = report.help().map(|help| help.to_string()).unwrap_or_default();
    let help = help.lines().next().unwrap_or_default();
    format!("{message}; {help}")
}

/// Keeps a key that standard input holds.
fn keep(app: &App, provider: &str) -> Result<()> {
    if std::io::stdin().is_terminal() {
        app.say(&format!("the key of {provider}, then Enter (it is shown as you type; or send it in: `... < FILE`):"));
    }
    let mut key = String::new();
    // One line, and no more than a key has.
    let read = std::io::stdin().lock().take(MAX_KEY_BYTES).read_line(&mut key);
    if read.is_err() || key.trim().is_empty() {
        return Err(usage("there is no key on standard input", "send it in: peak doctor --keep-key PROVIDER < FILE"));
    }
    keep_key(provider, &key)?;
    app.say("the key is in the keyring, until this machine restarts");
    Ok(())
}

fn show_library(app: &App) {
    let standard = Standard::from_environment();
    let place = match &standard {
        Standard::Embedded => "in this program".to_owned(),
        Standard::Folder(folder) => format!("{} (PEAK_STDLIB)", folder.display()),
    };
    let loaded = load(&[], standard);
    let (ir, errors) = (&loaded.ir, loaded.errors().count());
    let counts = format!(
        "{}, {}, {}, {}",
        counted(ir.kernels.len(), "kernel"),
        counted(ir.transformations.len(), "transformation"),
        counted(ir.devices.len(), "device"),
        counted(ir.workflows.len(), "workflow")
    );
    let problem =
        if errors == 0 { String::new() } else { format!(", {}: `peak check` shows them", counted(errors, "error")) };
    app.print(&format!("standard library\n  {place}: {counts}{problem}"));
    app.event("library", json!({"place": place, "errors": errors}));
}

fn show_store(app: &App) {
    let state = match Store::find(&app.project) {
        Ok(store) => store.path().display().to_string(),
        Err(crate::store::StoreError::NoStore { .. }) => format!("none yet: `peak run` makes {FOLDER}/{FILE}"),
        Err(error) => error.to_string(),
    };
    app.print(&format!("store\n  {state}"));
    app.event("store", json!({"state": state}));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::BackendInventory;
    use peak_backend_api::DeviceKind;

    fn inventory_with(found: bool) -> Inventory {
        let tool = |name: &str, found| Toolchain {
            name: name.to_owned(),
            found,
            version: found.then(|| "1".to_owned()),
            place: "/x".to_owned(),
            mend: "scripts/setup".to_owned(),
        };
        let device = DeviceInfo {
            index: 0,
            name: "llvmpipe".to_owned(),
            backend: "hlsl".to_owned(),
            runtime: "vulkan".to_owned(),
            driver: "Mesa".to_owned(),
            kind: DeviceKind::Software,
            facts: std::collections::BTreeMap::new(),
            features: Vec::new(),
            target: None,
        };
        let backend = BackendInventory {
            name: "hlsl".to_owned(),
            title: "HLSL".to_owned(),
            runtimes: vec!["vulkan".to_owned()],
            toolchains: vec![tool("dxc", true), tool("spirv-val", found)],
            problem: None,
        };
        Inventory { backends: vec![backend], devices: vec![device], missing: Vec::new() }
    }

    #[test]
    fn a_device_runs_only_with_every_toolchain_of_its_backend() {
        assert!(runnable(&inventory_with(true)).is_some());
        assert!(runnable(&inventory_with(false)).is_none());
        assert_eq!(mend(&inventory_with(false)), "scripts/setup");
    }
}
