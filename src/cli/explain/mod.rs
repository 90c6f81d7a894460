//! `peak explain`: more on a diagnostic's code, or on anything that is declared: what it is, where it stands, and what a
//! device's packs make of it. Runs nothing.

mod codes;
mod parts;

use super::check::load_clean;
use super::list::{Item, Kind, declarations};
use super::output::App;
use crate::error::{Class, Error, Result};
use crate::library::Loaded;
use crate::session::SessionError;
use codes::{explanation, explanations};
use parts::{Part, clauses, declared, parts, place};
use peak_grammar::diagnostics::nearest;
use peak_grammar::ir::{Device, Origin, Transformation};
use peak_grammar::specialize::{self, Specialized};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Explains the code of a diagnostic, or a name: of a kernel, transformation, pass, device, pack, workflow or utility.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak explain unknown-name                        what a code means, what gives it, how to mend it\n  \
    peak explain tb-tiling                           a transformation as it is declared\n  \
    peak explain thread-tiling --device llvmpipe     as that device's packs make it, with where each part came from\n  \
    peak explain tb-tiling.use-tiles                 one pass")]
pub struct Arguments {
    /// A code, with or without `peak::`, or a name; TRANSFORMATION.PASS is one pass of several of that name.
    #[arg(value_name = "CODE|NAME")]
    name: String,
    /// Reads this file too; may be given several times.
    #[arg(long = "with", visible_alias = "use", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A device of the library: what its packs change is applied.
    #[arg(long)]
    device: Option<String>,
    /// The language: a device's facts in it, and the workflow that is chosen for it.
    #[arg(long)]
    backend: Option<String>,
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let code = if self.name.contains("::") { self.name.clone() } else { format!("peak::{}", self.name) };
        let text = explanation(&code);
        if let Some(text) = &text {
            app.print(&format!("{code}\n\n{text}"));
            app.event("explanation", json!({"code": code, "text": text}));
        }
        if self.name.contains("::") {
            return text.map(|_| ()).ok_or_else(|| self.unknown(&[]));
        }
        let loaded = load_clean(app, &self.files)?;
        let device = self.library_device(&loaded)?;
        let things = things(&loaded);
        let meant: Vec<&Thing> = things.iter().filter(|thing| thing.is_called(&self.name)).collect();
        if meant.is_empty() && text.is_none() {
            return Err(self.unknown(&things));
        }
        for thing in meant {
            self.explain(app, &loaded, thing, device)?;
        }
        Ok(())
    }

    fn library_device<'l>(&self, loaded: &'l Loaded) -> Result<Option<&'l Device>> {
        let known = loaded.ir.devices.keys().map(String::as_str);
        let find = |name: &String| {
            loaded.ir.devices.get(name).ok_or_else(|| SessionError::unknown("device", name, known).into())
        };
        self.device.as_ref().map(find).transpose()
    }

    fn explain(&self, app: &App, loaded: &Loaded, thing: &Thing, device: Option<&Device>) -> Result<()> {
        let mut text = heading(loaded, thing);
        let mut fields = json!({
            "kind": thing.kind,
            "name": thing.full_name(),
            "title": thing.title,
            "from": thing.origin.file,
            "line": loaded.sources.line_column(&thing.origin.file, thing.origin.start).0,
            "text": declared(loaded, &thing.origin),
            "pack": thing.pack,
            "device": device.map(|device| &device.name),
        });
        let special = match (thing.kind, device) {
            ("transformation", Some(device)) => Some(specialized(loaded, &thing.name, device)?),
            _ => None,
        };
        match &special {
            Some(special) => {
                let parts = parts(loaded, special);
                text.push_str(&specialized_text(special, &parts, device));
                fields["clauses"] = json!(clauses(&special.transformation));
                fields["packs"] = json!(special.packs);
                fields["parts"] = parts.iter().map(Part::fields).collect();
                fields["knowledge"] = special.knowledge.iter().map(knowledge_fields).collect();
            }
            None => text.push_str(&declared(loaded, &thing.origin)),
        }
        let notes = self.notes(loaded, thing, device);
        notes.iter().for_each(|note| text.push_str(&format!("\n\n{note}")));
        fields["notes"] = json!(notes);
        text.push('\n');
        app.print(&text);
        app.event("declaration", fields);
        Ok(())
    }

    /// What a device and a language add to what is declared.
    fn notes(&self, loaded: &Loaded, thing: &Thing, device: Option<&Device>) -> Vec<String> {
        let device_name = device.map(|device| device.name.as_str());
        match thing.kind {
            "device" => {
                let packs = specialize::applicable_packs(&loaded.ir, &thing.name);
                let packs: Vec<&str> = packs.iter().map(|pack| pack.name.as_str()).collect();
                let applying = if packs.is_empty() {
                    "no pack is for it".to_owned()
                } else {
                    format!("packs for it, bases first: {}", packs.join(", "))
                };
                let facts = self.backend.as_ref().zip(loaded.ir.devices.get(&thing.name)).map(|(backend, device)| {
                    let facts = specialize::with_facts(&loaded.ir, device).facts_for(backend);
                    let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                    format!("facts in force for {backend}: {}", facts.join(", "))
                });
                std::iter::once(applying).chain(facts).collect()
            }
            "workflow" if device.is_some() || self.backend.is_some() => {
                let chosen = specialize::workflow(&loaded.ir, &thing.name, device_name, self.backend.as_deref());
                vec![match chosen {
                    Ok(chosen) if chosen.origin == thing.origin => {
                        "this is the one that is carried out there".to_owned()
                    }
                    Ok(chosen) => format!("another is carried out there: {}", place(loaded, &chosen.origin)),
                    Err(error) => error.to_string(),
                }]
            }
            "pack" => device_name
                .map(|device| {
                    let applies =
                        specialize::applicable_packs(&loaded.ir, device).iter().any(|pack| pack.name == thing.name);
                    format!("it {} to {device}", if applies { "applies" } else { "does not apply" })
                })
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }

    fn unknown(&self, things: &[Thing]) -> Error {
        let bare = self.name.strip_prefix("peak::").unwrap_or(&self.name);
        let codes = explanations().map(|(code, _)| code.strip_prefix("peak::").unwrap_or(code));
        let near_code = nearest(bare, codes).map(|code| format!("`peak::{code}`"));
        let near_name = nearest(bare, things.iter().map(|thing| thing.name.as_str())).map(|name| format!("`{name}`"));
        let near: Vec<String> = near_name.into_iter().chain(near_code).collect();
        let help = match near.is_empty() {
            false => format!("did you mean {}?", near.join(" or ")),
            true => "codes stand in square brackets or before the message of a diagnostic; `peak list` shows the names"
                .to_owned(),
        };
        let (code, what) = match self.name.contains("::") {
            true => ("peak::unknown-code", "there is no diagnostic"),
            false => ("peak::unknown-name", "there is neither a diagnostic nor a declaration"),
        };
        Error::plain(Class::Input, code, format!("{what} `{}`", self.name), help)
    }
}

/// Something that is declared.
struct Thing {
    kind: &'static str,
    name: String,
    /// The transformation, for a pass.
    of: Option<String>,
    title: Option<String>,
    origin: Origin,
    pack: Option<String>,
}

impl Thing {
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.of.is_some() && self.full_name() == name
    }

    fn full_name(&self) -> String {
        match &self.of {
            Some(of) => format!("{of}.{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Every declaration, and every pass of a transformation.
fn things(loaded: &Loaded) -> Vec<Thing> {
    let thing = |item: Item| {
        let Item { kind, name, title, origin, pack, .. } = item;
        Some(Thing { kind: Kind::word(kind), name, of: None, title, origin: origin?, pack })
    };
    let mut things: Vec<Thing> = declarations(loaded).into_iter().filter_map(thing).collect();
    let nested = loaded
        .ir
        .packs
        .values()
        .flat_map(|pack| pack.transformations.values().map(|own| (own, Some(pack.name.clone()))));
    let all = loaded.ir.transformations.values().map(|own| (own, None)).chain(nested);
    for (transformation, pack) in all {
        things.extend(passes(transformation, pack.as_ref()));
    }
    things
}

fn passes(of: &Transformation, pack: Option<&String>) -> impl Iterator<Item = Thing> {
    of.passes.iter().map(move |pass| Thing {
        kind: "pass",
        name: pass.name.clone(),
        of: Some(of.name.clone()),
        title: pass.title.clone(),
        origin: pass.origin.clone(),
        pack: pack.cloned(),
    })
}

fn heading(loaded: &Loaded, thing: &Thing) -> String {
    let pack = thing.pack.as_ref().map(|pack| format!(", of the pack {pack}")).unwrap_or_default();
    format!("{} {}  ({}{pack})\n\n", thing.kind, thing.full_name(), place(loaded, &thing.origin))
}

fn specialized(loaded: &Loaded, name: &str, device: &Device) -> Result<Specialized> {
    specialize::transformation(&loaded.ir, name, Some(&device.name)).map_err(|error| Error::new(Class::Input, error))
}

fn specialized_text(special: &Specialized, parts: &[Part], device: Option<&Device>) -> String {
    let device = device.map(|device| device.name.as_str()).unwrap_or_default();
    let mut text = match special.packs.as_slice() {
        [] => format!("no pack is for {device}: it is as declared\n"),
        packs => format!("on {device}, with its packs, bases first: {}\n", packs.join(", ")),
    };
    text.extend(clauses(&special.transformation).iter().map(|clause| format!("\n{clause}\n")));
    for part in parts {
        let from = match &part.pack {
            Some(pack) => format!("pack {pack}"),
            None => "as declared".to_owned(),
        };
        let mut lines = part.text.lines();
        text.push_str(&format!("\n{}  # {from}, {}", lines.next().unwrap_or(&part.name), part.place));
        lines.for_each(|line| text.push_str(&format!("\n{line}")));
        text.push('\n');
    }
    for known in &special.knowledge {
        text.push_str(&format!("\nknown from {}:\n  {}\n", known.source, known.prose.source().replace('\n', "\n  ")));
    }
    text.trim_end().to_owned()
}

fn knowledge_fields(known: &specialize::Knowledge) -> Value {
    json!({"source": known.source, "text": known.prose.source()})
}
