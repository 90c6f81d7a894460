//! Whole declarations, with what each must have.

use super::clause::{clause, values};
use super::names::{Names, fresh};
use super::place::Kind;
use fastrand::Rng;

/// Clauses beside what must be there, at most.
const MAX_CLAUSES: usize = 6;

/// The lines of a declaration.
pub fn declaration(rng: &mut Rng, names: &Names) -> Vec<String> {
    let first = |of: &[String]| of.first().cloned().unwrap_or_else(|| "one".to_owned());
    let (word, kind, head) = match rng.u8(..8) {
        0 => ("kernel", Kind::Kernel, kernel(rng)),
        1 => {
            ("utility", Kind::Utility, vec!["code for cuda".into(), "  ```".into(), "  int x;".into(), "  ```".into()])
        }
        2 => ("device", Kind::Device, vec!["speaks cuda, hlsl".to_owned()]),
        3 => ("pack", Kind::Pack, vec![format!("for devices {}", first(&names.devices))]),
        4 => ("workflow", Kind::Workflow, vec![format!("start from kernel {}", first(&names.kernels))]),
        5 => {
            let lines = [
                format!("kernels {}", first(&names.kernels)),
                format!("for devices {}", first(&names.devices)),
                format!("using workflow {}", first(&names.workflows)),
            ];
            ("build", Kind::Build, lines.to_vec())
        }
        _ => {
            let pass = ["pass only", "  in device code", "    Change it."];
            ("transformation", Kind::Transformation, pass.map(str::to_owned).to_vec())
        }
    };
    let mut lines = vec![format!("{word} {} \"Made\"", fresh(rng))];
    lines.extend(head.into_iter().map(|line| format!("  {line}")));
    for _ in 0..rng.usize(..=MAX_CLAUSES) {
        lines.extend(clause(rng, names, kind).into_iter().map(|line| format!("  {line}")));
    }
    lines
}

fn kernel(rng: &mut Rng) -> Vec<String> {
    let lines = [
        "element f32".to_owned(),
        format!("input n: int in {}", values(rng)),
        "input A: array[n] of f32, ones".to_owned(),
        "output B: array[n] of f32".to_owned(),
        format!("tune P in {}", values(rng)),
        "device code for cuda from \"a.cu\"".to_owned(),
        "host code".to_owned(),
        "  launch main".to_owned(),
        "    grid n".to_owned(),
        "    block P".to_owned(),
        "    arguments A, B, n".to_owned(),
    ];
    lines.to_vec()
}
