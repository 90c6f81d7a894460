//! A model for tests, in a thread: reads each prompt of a mailbox and answers it from the code that the prompt shows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Answers until it is stopped.
pub struct Model {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

impl Model {
    /// Answers in a folder, which need not be there yet.
    pub fn answering(folder: &Path) -> Model {
        let (stop, folder) = (Arc::new(AtomicBool::new(false)), folder.to_owned());
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut seen = BTreeSet::new();
            let mut asked = Vec::new();
            // Once more after the stop: a prompt may have come just before it.
            loop {
                let last = stopped.load(Ordering::Relaxed);
                for prompt in prompts(&folder).into_iter().filter(|prompt| seen.insert(prompt.clone())) {
                    let text = std::fs::read_to_string(&prompt).expect("a prompt is written whole");
                    if !last {
                        write(&prompt.to_string_lossy().replace(".prompt.", ".completion."), &answer(&text));
                    }
                    asked.push(text);
                }
                if last {
                    return asked;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Model { stop, thread }
    }

    /// Stops, and gives every prompt that came.
    pub fn stop(self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the model knows an answer to every prompt")
    }
}

fn prompts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.to_string_lossy().ends_with(".prompt.md")).collect()
}

/// Under another name first, so that no half of it is read.
fn write(path: &str, text: &str) {
    let whole = format!("{path}.new");
    std::fs::write(&whole, text).expect("written");
    std::fs::rename(&whole, path).expect("renamed");
}

fn answer(prompt: &str) -> String {
    let language = if prompt.contains("In CUDA,") { "cuda" } else { "hlsl" };
    let code = |old: &str, new: &str| {
        let text = device_code(prompt, language);
        assert!(text.contains(old), "{old} is not in\n{text}");
        format!("```{language}\n{}```\n", text.replace(old, new))
    };
    const ADD: &str = "sum += A[row * n + k] * B[k * n + column];";
    const LOOP: &str = "for (int k = 0; k < n; ++k) {";
    let is = |words: &str| prompt.contains(&format!("Do this to the {words}"));
    match () {
        () if is("device code:\n\nHold the product") => {
            code(ADD, "const ACCUMULATOR product = A[row * n + k] * B[k * n + column];\n        sum += product;")
        }
        () if is("device code:\n\nHold `row * n`") => {
            let moved = code("A[row * n + k]", "A[start + k]");
            moved.replace("ACCUMULATOR sum = 0;", "const int start = row * n;\n    ACCUMULATOR sum = 0;")
        }
        // The first answer leaves code out, and is asked for again.
        () if is("device code:\n\nSplit the loop") && !prompt.contains("# An earlier answer failed") => {
            code(LOOP, "for (int k = 0; k < n; k += 1) { // ... rest of the code")
        }
        () if is("device code:\n\nSplit the loop") => {
            code(LOOP, "for (int k0 = 0; k0 < n; k0 += TILE)\n    for (int k = k0; k < k0 + TILE; ++k) {")
        }
        () if is("macros:") => format!("```{language}\n#define AT(r, c) ((r) * n + (c))\n```\n"),
        () => code("C[row * n + column]", "C[AT(row, column)]"),
    }
}

/// The device code that a prompt shows as the region to change.
fn device_code(prompt: &str, language: &str) -> String {
    let (_, rest) = prompt.split_once("## device code (the region to change)").expect("the region");
    let (_, rest) = rest.split_once(&format!("```{language}\n")).expect("a fence");
    rest.split_once("\n```").expect("its end").0.to_owned() + "\n"
}
