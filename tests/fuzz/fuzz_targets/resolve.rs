//! Files that are mostly well formed: resolved together, told about, specialized for each device, written as JSON and
//! read again.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use peak_fuzz::{bound::within_a_second, grow, seeds};
use peak_grammar::ir::{KernelSelector, Library, Origin, Transformation};
use peak_grammar::specialize::{applicable_packs, find_device, transformation, workflow};
use peak_grammar::{Diagnostic, LANGUAGES, SourceFile, Sources, load, matching};

/// Names of a kind that are looked at, at most: each is looked at for each device.
const MAX_NAMES: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let files: Vec<SourceFile> = text
        .split(grow::NEXT_FILE)
        .enumerate()
        .map(|(at, text)| SourceFile::new(&format!("{at}.peak"), text))
        .collect();
    let (library, found) = within_a_second(|| load(&files));
    within_a_second(|| told(&files, &found));
    within_a_second(|| written(&library));
    within_a_second(|| specialized(&library, &files));
    within_a_second(|| matched(&library));
});

/// Each diagnostic has words, and places within its file.
fn told(files: &[SourceFile], found: &[Diagnostic]) {
    let sources = Sources::new(files);
    for diagnostic in found {
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        let places = diagnostic.related.iter().map(|related| (&related.file, related.span));
        for (file, span) in places.chain([(&diagnostic.file, diagnostic.span)]) {
            let text = sources.text(file).expect("the file is there");
            assert!(text.get(span.start..span.end).is_some(), "{diagnostic:?} points outside of {} bytes", text.len());
        }
        assert!(!format!("{:?}", sources.report(diagnostic)).is_empty());
    }
}

fn written(library: &Library) {
    let json = serde_json::to_string(library).expect("it can be written");
    let again: Library = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(&again, library, "JSON does not hold all of it");
}

/// What `peak explain` shows: each part is there, and has a place in a file.
fn specialized(library: &Library, files: &[SourceFile]) {
    let devices = library.devices.values().take(MAX_NAMES);
    for device in devices.clone() {
        let _ = applicable_packs(library, &device.name);
        let _ = device.matches.first().map(|piece| find_device(library, piece).expect("it matches itself"));
    }
    let devices: Vec<Option<&str>> = devices.map(|device| Some(device.name.as_str())).chain([None]).collect();
    let own = library.packs.values().flat_map(|pack| pack.transformations.keys());
    for name in library.transformations.keys().chain(own).take(MAX_NAMES) {
        for device in &devices {
            let Ok(special) = transformation(library, name, *device) else { continue };
            special.provenance.keys().for_each(|part| assert!(is_there(&special.transformation, part), "{part}"));
            special.provenance.values().for_each(|pack| assert!(library.packs.contains_key(pack), "{pack}"));
            special.transformation.passes.iter().for_each(|pass| in_file(files, &pass.origin));
            serde_json::to_string(&special).expect("it can be written");
        }
    }
    let nested = library.packs.values().flat_map(|pack| pack.workflows.values());
    for flow in library.workflows.iter().chain(nested).take(MAX_NAMES) {
        for device in &devices {
            for language in LANGUAGES.into_iter().map(Some).chain([None]) {
                if let Ok(chosen) = workflow(library, &flow.name, *device, language) {
                    assert_eq!(chosen.name, flow.name);
                }
            }
        }
    }
}

fn is_there(transformation: &Transformation, part: &str) -> bool {
    let Some((word, name)) = part.split_once(' ') else { return part == "transformation" };
    match word {
        "pass" => transformation.passes.iter().any(|pass| pass.name == name),
        "introduces" => transformation.introduces.iter().any(|parameter| parameter.name == name),
        "takes" => transformation.settings.iter().any(|setting| setting.name == name),
        "requires" => transformation.requires.iter().any(|requirement| requirement.name == name),
        _ => false,
    }
}

fn in_file(files: &[SourceFile], origin: &Origin) {
    let file = files.iter().find(|file| file.name == origin.file).expect("the file is there");
    let text = std::str::from_utf8(&file.bytes).expect("it was text");
    assert!(text.get(origin.start..origin.end).is_some(), "{origin:?}");
}

/// Each pattern against each kernel; what it binds can be put into its requirements.
fn matched(library: &Library) {
    for transformation in library.transformations.values().take(MAX_NAMES) {
        let KernelSelector::Computing(pattern) = &transformation.kernels else { continue };
        for kernel in library.kernels.values().take(MAX_NAMES) {
            let Ok(bindings) = matching::bind(pattern, kernel) else { continue };
            for requirement in &transformation.requires {
                let _ = requirement.condition.substitute(&|name| bindings.expr(name)).to_string();
            }
        }
    }
}

fuzz_mutator!(|bytes: &mut [u8], size: usize, max: usize, seed: u32| {
    grow::mutate(seeds::peak_files(), bytes, size, max, seed)
});
