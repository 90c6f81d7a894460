//! Names that a text declares, by what they mean; a few of each that are always there.

use fastrand::Rng;

/// The names.
#[derive(Default)]
pub struct Names {
    pub tuning: Vec<String>,
    /// Scalar inputs, lets and settings.
    pub numbers: Vec<String>,
    pub arrays: Vec<String>,
    pub facts: Vec<String>,
    pub requirements: Vec<String>,
    pub passes: Vec<String>,
    pub kernels: Vec<String>,
    pub utilities: Vec<String>,
    pub transformations: Vec<String>,
    pub devices: Vec<String>,
    pub packs: Vec<String>,
    pub workflows: Vec<String>,
}

/// What a made declaration is called.
const WORDS: [&str; 8] = ["one", "two", "tiles", "loop-split", "wide", "gpu", "far", "x1"];

impl Names {
    /// Those of a text.
    pub fn of(lines: &[String]) -> Names {
        let mut names = Names::default();
        lines.iter().for_each(|line| names.line(line));
        names.facts.extend(["max_threads_per_block", "shared_memory_per_block", "warp", "l2"].map(str::to_owned));
        names
    }

    fn line(&mut self, line: &str) {
        let mut words = line.split([' ', ':']).filter(|word| !word.is_empty());
        let (Some(first), Some(second)) = (words.next(), words.next()) else { return };
        let name = second.to_owned();
        match first {
            "input" | "output" | "inout" if line.contains("array") => self.arrays.push(name),
            "input" | "let" | "takes" => self.numbers.push(name),
            "scratch" => self.arrays.push(name),
            "tune" | "introduces" => self.tuning.push(name),
            "require" | "requires" if line.contains(':') => self.requirements.push(name),
            "has" => {
                let facts = line.split('=').filter_map(|part| part.rsplit(' ').find(|word| !word.is_empty()));
                self.facts.extend(facts.filter(|word| word.starts_with(char::is_lowercase)).map(str::to_owned));
            }
            "pass" => self.passes.push(name),
            "kernel" => self.kernels.push(name),
            "utility" => self.utilities.push(name),
            "transformation" => self.transformations.push(name),
            "device" if !line.starts_with(' ') => self.devices.push(name),
            "pack" => self.packs.push(name),
            "workflow" => self.workflows.push(name),
            _ => {}
        }
    }
}

/// One of the names that are there, now and then another.
pub fn name(rng: &mut Rng, known: &[String]) -> String {
    match rng.choice(known) {
        Some(name) if rng.u8(..24) != 0 => name.clone(),
        _ => rng.choice(WORDS).unwrap_or("one").to_owned(),
    }
}

/// Some of the names, each once.
pub fn several(rng: &mut Rng, known: &[String], most: usize) -> String {
    let mut chosen: Vec<String> = Vec::new();
    for _ in 0..rng.usize(1..=most) {
        let one = name(rng, known);
        if !chosen.contains(&one) {
            chosen.push(one);
        }
    }
    chosen.join(", ")
}

/// A name for something new.
pub fn fresh(rng: &mut Rng) -> String {
    match rng.bool() {
        true => format!("{}-{}", rng.choice(WORDS).unwrap_or("one"), rng.u8(..)),
        false => rng.choice(WORDS).unwrap_or("one").to_owned(),
    }
}
