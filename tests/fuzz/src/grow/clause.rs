//! One clause for each kind of block, made by the grammar. A clause that opens a block brings its lines.

use super::expression::{assignment, condition, number};
use super::names::{Names, fresh, name, several};
use super::place::Kind;
use crate::text::NUMBERS;
use fastrand::Rng;

/// The lines of a clause, without the blanks that all of them share.
pub fn clause(rng: &mut Rng, names: &Names, kind: Kind) -> Vec<String> {
    match kind {
        Kind::Kernel => kernel(rng, names),
        Kind::Plan => plan(rng, names),
        Kind::Launch => vec![launch(rng, names)],
        Kind::Utility => utility(rng),
        Kind::Transformation => transformation(rng, names),
        Kind::Pass => pass(rng, names),
        Kind::Steps => step(rng, names),
        Kind::HostSteps => vec![format!("set {} to {}", target(rng, names), number(rng, names, 2))],
        Kind::Checks => vec![check(rng, names)],
        Kind::Device => device(rng, names),
        Kind::Pack => pack(rng, names),
        Kind::Specialize => specialize(rng, names),
        Kind::Workflow => workflow(rng, names),
        Kind::WorkflowSteps => workflow_step(rng, names),
        Kind::Branches => opened("branch", workflow_step(rng, names)),
        Kind::Build => vec![build(rng, names)],
    }
}

fn opened(head: impl Into<String>, body: Vec<String>) -> Vec<String> {
    std::iter::once(head.into()).chain(body.into_iter().map(|line| format!("  {line}"))).collect()
}

fn one(rng: &mut Rng, of: &[&str]) -> String {
    rng.choice(of).copied().unwrap_or("").to_owned()
}

fn integer(rng: &mut Rng) -> i64 {
    match rng.u8(..24) {
        0 => rng.choice(NUMBERS).and_then(|it| it.parse().ok()).unwrap_or(1),
        _ => rng.i64(1..=16),
    }
}

/// `in VALUES`.
pub fn values(rng: &mut Rng) -> String {
    match rng.u8(..4) {
        0 => {
            let base = rng.i64(2..=4);
            let low = base.pow(rng.u32(..4));
            format!("powers of {base} from {low} to {}", low.saturating_mul(integer(rng)))
        }
        1 => {
            let low = integer(rng);
            let step = if rng.bool() { format!(" step {}", rng.i64(1..=4)) } else { String::new() };
            format!("{low} to {}{step}", low.saturating_add(rng.i64(0..=12)))
        }
        _ => {
            let mut all: Vec<i64> = (0..rng.usize(1..=5)).map(|_| integer(rng)).collect();
            all.sort_unstable();
            all.dedup();
            all.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
        }
    }
}

fn parameter(rng: &mut Rng, names: &Names) -> String {
    let made = match rng.choice(&names.tuning) {
        Some(known) if rng.bool() => format!("{}_{}", known, rng.u8(..9)),
        _ => format!("P{}", rng.u8(..20)),
    };
    format!("{made} in {}", values(rng))
}

fn requirement(rng: &mut Rng, names: &Names) -> String {
    let made = condition(rng, names, 3);
    match rng.u8(..3) {
        0 => made,
        1 if !names.requirements.is_empty() => format!("{}: {made}", name(rng, &names.requirements)),
        _ => format!("{}: {made}", fresh(rng)),
    }
}

fn array(rng: &mut Rng, names: &Names) -> String {
    let shape: Vec<String> = (0..rng.usize(1..=3)).map(|_| number(rng, names, 1)).collect();
    let element = one(rng, &["f32", "f16", "bf16", "f64", "i32", "u8", "int", "i64"]);
    format!("array[{}] of {element}", shape.join(", "))
}

fn kernel(rng: &mut Rng, names: &Names) -> Vec<String> {
    let letter = char::from(rng.u8(b'D'..=b'Z'));
    vec![match rng.u8(..20) {
        0..=5 => format!("tune {}", parameter(rng, names)),
        6..=11 => format!("require {}", requirement(rng, names)),
        12 => format!("input {}: int in {}", letter.to_ascii_lowercase(), values(rng)),
        13 => format!("input {}: int in {}; checked at {}", letter.to_ascii_lowercase(), values(rng), values(rng)),
        14 => {
            let direction = one(rng, &["input", "output", "inout"]);
            let initializer = one(rng, &["", ", zeros", ", ones", ", random normal", ", random uniform -1.5 to 1e3"]);
            format!("{direction} {letter}: {}{initializer}", array(rng, names))
        }
        15 => format!("computes {}", assignment(rng, names)),
        16 => return opened("computes", (0..rng.usize(1..4)).map(|_| assignment(rng, names)).collect()),
        17 => one(rng, &["tolerance exact", "tolerance relative 1e-3", "tolerance relative to the sum's length"]),
        18 => one(rng, &["element f16, accumulate f32", "element f64", "accumulate f32"]),
        _ => return opened("host code", plan(rng, names)),
    }]
}

fn plan(rng: &mut Rng, names: &Names) -> Vec<String> {
    let letter = char::from(rng.u8(b'D'..=b'Z'));
    vec![match rng.u8(..12) {
        0..=2 => format!("let v{} = {}", rng.u8(..9), number(rng, names, 3)),
        3..=5 => format!("reject when {} \"{}\"", condition(rng, names, 2), one(rng, &["no", "it is {so}", "é"])),
        6 => format!("scratch {letter}: {}", array(rng, names)),
        7 => format!("fill {} with {}", name(rng, &names.arrays), one(rng, &["0", "-1", "1.5", "1e30"])),
        8 => {
            let swizzle = one(rng, &["", " swizzle 32", " swizzle 128"]);
            let sides: Vec<String> = (0..rng.usize(1..=3)).map(|_| number(rng, names, 1)).collect();
            format!(
                "tensor map MAP{} over {} box ({}){swizzle}",
                rng.u8(..4),
                name(rng, &names.arrays),
                sides.join(", ")
            )
        }
        9 => return opened(format!("repeat {} times", number(rng, names, 1)), plan(rng, names)),
        _ => {
            let body = (0..rng.usize(1..5)).map(|_| launch(rng, names)).collect();
            return opened(format!("launch {}", one(rng, &["main", "first", "second"])), body);
        }
    }]
}

fn launch(rng: &mut Rng, names: &Names) -> String {
    let sizes = |rng: &mut Rng| {
        let all: Vec<String> = (0..rng.usize(1..=3)).map(|_| number(rng, names, 2)).collect();
        all.join(", ")
    };
    match rng.u8(..6) {
        0 => format!("grid {}", sizes(rng)),
        1 => format!("block {}", sizes(rng)),
        2 => format!("shared {} bytes", number(rng, names, 2)),
        3 => format!("cluster {}", sizes(rng)),
        4 => "cooperative".to_owned(),
        _ => format!("arguments {}", several(rng, &names.arrays, 4)),
    }
}

fn languages(rng: &mut Rng) -> String {
    one(rng, &["cuda", "cuda, hip", "hlsl", "cuda, hip, hlsl"])
}

fn fence(code: &str) -> Vec<String> {
    vec!["```".to_owned(), code.to_owned(), "```".to_owned()]
}

fn utility(rng: &mut Rng) -> Vec<String> {
    match rng.u8(..3) {
        0 => vec!["takes rows, cols".to_owned()],
        _ => opened(format!("code for {}", languages(rng)), fence("#define COPY(a) (a)")),
    }
}

fn prose(rng: &mut Rng, names: &Names) -> Vec<String> {
    let mut words = vec!["Keep the loop over `k`".to_owned()];
    for _ in 0..rng.usize(..4) {
        words.push(match rng.u8(..5) {
            0 => format!("{{{}}}", name(rng, &names.tuning)),
            1 => format!("{{{}}}", name(rng, &names.numbers)),
            2 => format!("{{device.{}}}", name(rng, &names.facts)),
            3 => "{{ braces }}".to_owned(),
            _ => "and `a[{i}]`,".to_owned(),
        });
    }
    vec![words.join(" ") + "."]
}

fn setting(rng: &mut Rng) -> String {
    let made = format!("s{}", rng.u8(..4));
    match rng.u8(..4) {
        0 => format!("takes {made}: bool = {}", one(rng, &["yes", "no"])),
        1 => format!("takes {made}: text = \"words\""),
        2 => format!("takes {made} = {}", integer(rng)),
        _ => format!("takes {made}: int = {}", integer(rng)),
    }
}

fn transformation(rng: &mut Rng, names: &Names) -> Vec<String> {
    vec![match rng.u8(..16) {
        0 => format!("for kernels {}", several(rng, &names.kernels, 2)),
        1 => format!("for kernels computing {}", assignment(rng, names)),
        2 => format!("on {}", languages(rng)),
        3 => format!("needs tuning {}", several(rng, &names.tuning, 3)),
        4 => format!("needs let {}", several(rng, &names.numbers, 2)),
        5 => format!("after {}", several(rng, &names.transformations, 2)),
        6 => format!("conflicts with {}", several(rng, &names.transformations, 2)),
        7 => return opened("because", prose(rng, names)),
        8 => setting(rng),
        9 => format!("introduces {}", parameter(rng, names)),
        10 | 11 => format!("requires {}", requirement(rng, names)),
        12 => format!("expects registers to {} by at least 1.5 times", one(rng, &["fall", "rise"])),
        13 => return opened("known failures", prose(rng, names)),
        _ => return opened(format!("pass {} \"A pass\"", fresh(rng)), pass(rng, names)),
    }]
}

fn region(rng: &mut Rng) -> String {
    one(rng, &["macros", "device code", "device code", "host code"])
}

fn pass(rng: &mut Rng, names: &Names) -> Vec<String> {
    vec![match rng.u8(..10) {
        0..=2 => return opened(format!("in {}", region(rng)), prose(rng, names)),
        3 | 4 => {
            let only = if rng.u8(..3) == 0 { format!(" for {}", languages(rng)) } else { String::new() };
            return opened(format!("in {}{only}", one(rng, &["macros", "device code"])), step(rng, names));
        }
        5 => {
            let set = format!("set {} to {}", target(rng, names), number(rng, names, 2));
            return opened("in host code", vec![set]);
        }
        6 => one(rng, &["keeps results", "may break results", "may break the build"]),
        7 => return opened("checks", vec![check(rng, names)]),
        8 => format!("replace requirement {}: {}", name(rng, &names.requirements), condition(rng, names, 2)),
        _ => format!("retire {}", several(rng, &names.tuning, 2)),
    }]
}

fn target(rng: &mut Rng, names: &Names) -> String {
    match rng.u8(..4) {
        0 => "grid".to_owned(),
        1 => "block".to_owned(),
        2 => "shared".to_owned(),
        _ => name(rng, &names.numbers),
    }
}

fn step(rng: &mut Rng, names: &Names) -> Vec<String> {
    let pattern = |rng: &mut Rng| {
        one(rng, &["`f($A)`", "`for ($$$) { $$$BODY }`", "`$A + $B`", "`__syncthreads();`", "`int $X = 0;`"])
    };
    let which = one(rng, &["", "every ", "first ", "last ", "exactly 2 ", "innermost "]);
    let within = match rng.u8(..4) {
        0 => format!(" {} {}", one(rng, &["before", "after", "inside"]), pattern(rng)),
        _ => String::new(),
    };
    let any = one(rng, &["", "", " if any"]);
    match rng.u8(..6) {
        0 => vec![format!("rewrite {which}{} to {}{within}{any}", pattern(rng), pattern(rng))],
        1 => vec![format!("rewrite {which}{} to nothing{within}{any}", pattern(rng))],
        2 => vec![format!("rename `{}` to `sum`", one(rng, &["acc", "t", "row"]))],
        3 => vec![format!("insert {}", name(rng, &names.utilities))],
        4 => vec![format!("insert {} before {which}{}{within}{any}", name(rng, &names.utilities), pattern(rng))],
        _ => opened(format!("insert {}", one(rng, &["at the top", "at the end", "after `f($A);`"])), fence("int x;")),
    }
}

fn check(rng: &mut Rng, names: &Names) -> String {
    let region = region(rng);
    match rng.u8(..4) {
        0 => format!("{region} mentions {}", name(rng, &names.tuning)),
        1 => format!("{region} does not mention `a[i]`"),
        2 => format!("{region} has {} nested loops", integer(rng)),
        _ => format!("{region} has {} barriers", integer(rng)),
    }
}

fn device(rng: &mut Rng, names: &Names) -> Vec<String> {
    vec![match rng.u8(..6) {
        0 => format!("speaks {}", one(rng, &["cuda sm_90a, hlsl", "hip gfx942", "cuda", "hlsl"])),
        1 => format!("matches \"{}\"", one(rng, &["GPU", "é", "A very long name"])),
        2 | 3 => {
            let only = if rng.u8(..3) == 0 { format!("for {} ", languages(rng)) } else { String::new() };
            let fact = |rng: &mut Rng| {
                format!(
                    "{} = {}{}",
                    name(rng, &names.facts).replace('-', "_"),
                    integer(rng),
                    one(rng, &["", " KiB", " MiB"])
                )
            };
            let facts: Vec<String> = (0..rng.usize(1..4)).map(|_| fact(rng)).collect();
            format!("has {only}{}", facts.join(", "))
        }
        4 => format!(
            "peaks at {}.{} {}",
            rng.u16(..),
            rng.u16(..),
            one(rng, &["TFLOPS f32", "TFLOPS f16 on tensor cores", "TB/s memory"])
        ),
        _ => return opened("knows", prose(rng, names)),
    }]
}

fn pack(rng: &mut Rng, names: &Names) -> Vec<String> {
    match rng.u8(..8) {
        0 => vec![format!("for devices {}", several(rng, &names.devices, 3))],
        1 => vec![format!("extends {}", name(rng, &names.packs))],
        2 => opened("knows", prose(rng, names)),
        3 => opened(format!("transformation {}", fresh(rng)), transformation(rng, names)),
        4 => {
            let mut body = vec![format!("start from kernel {}", name(rng, &names.kernels))];
            body.extend(workflow(rng, names));
            opened(format!("workflow {}", name(rng, &names.workflows)), body)
        }
        _ => opened(format!("specialize {}", name(rng, &names.transformations)), specialize(rng, names)),
    }
}

fn specialize(rng: &mut Rng, names: &Names) -> Vec<String> {
    match rng.u8(..6) {
        0 | 1 => opened(format!("replace pass {}", name(rng, &names.passes)), pass(rng, names)),
        2 => vec![format!("introduces {} in {}", name(rng, &names.tuning), values(rng))],
        3 => vec![format!("requires {}", requirement(rng, names))],
        4 => vec![setting(rng)],
        _ => opened("knows", prose(rng, names)),
    }
}

fn application(rng: &mut Rng, names: &Names) -> String {
    let made = name(rng, &names.transformations);
    let adjust = |rng: &mut Rng| match rng.u8(..3) {
        0 => format!("{} in {}", name(rng, &names.tuning), values(rng)),
        1 => format!("{} as {}", name(rng, &names.tuning), name(rng, &names.tuning)),
        _ => format!("s{} = {}", rng.u8(..4), integer(rng)),
    };
    match rng.u8(..3) {
        0 => {
            let all: Vec<String> = (0..rng.usize(1..3)).map(|_| adjust(rng)).collect();
            format!("{made} with {}", all.join(", "))
        }
        _ => made,
    }
}

fn workflow(rng: &mut Rng, names: &Names) -> Vec<String> {
    vec![match rng.u8(..14) {
        0 => format!("start from kernel {}", name(rng, &names.kernels)),
        1 => format!("target {}", name(rng, &names.devices)),
        2 => format!("on {}", one(rng, &["cuda", "hip", "hlsl"])),
        3 => one(rng, &["on failure ask", "on failure stop", "on failure retry 3 times, then stop"]),
        4 => format!("validate {} samples", integer(rng)),
        5 => format!(
            "tune up to {} configurations after each step by {}",
            integer(rng),
            one(rng, &["random", "exhaustive"])
        ),
        6 => format!("time at {} = {}", name(rng, &names.numbers), values(rng)),
        _ => return workflow_step(rng, names),
    }]
}

fn workflow_step(rng: &mut Rng, names: &Names) -> Vec<String> {
    vec![match rng.u8(..12) {
        0..=3 => format!("apply {}", application(rng, names)),
        4 => format!("try {} or keep going", application(rng, names)),
        5 => {
            let branches = (0..rng.usize(1..3)).map(|_| format!("apply {}", application(rng, names))).collect();
            return opened("choose best of", branches);
        }
        6 => {
            let gain = one(rng, &["", " until the gain is below 2 percent"]);
            let body = vec![format!("try {} or keep going", application(rng, names))];
            return opened(format!("repeat at most {} times{gain}", integer(rng)), body);
        }
        7 => format!("let the model choose from {}", application(rng, names)),
        8 => {
            let how = one(rng, &["beam 4", "mcts", "evolve 2, at most 60 model calls"]);
            format!("search {} with {how}", several(rng, &names.transformations, 2))
        }
        9 => one(rng, &["checkpoint \"a\"", "restore \"a\"", "checkpoint \"b\""]),
        10 => "compare with cublas".to_owned(),
        _ => "keep best".to_owned(),
    }]
}

fn build(rng: &mut Rng, names: &Names) -> String {
    match rng.u8(..5) {
        0 => format!("kernels {}", several(rng, &names.kernels, 3)),
        1 => format!("sizes {} in {}", name(rng, &names.numbers), values(rng)),
        2 => format!("for devices {}", several(rng, &names.devices, 3)),
        3 => format!("using workflow {}", name(rng, &names.workflows)),
        _ => "output \"dist/\"".to_owned(),
    }
}
