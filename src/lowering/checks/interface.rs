//! The kernel's name changed, or its parameters no longer match what the launch passes.

use super::words::{declared, function, words};
use super::{PassFacts, Rejection};
use crate::context::KernelContext;
use crate::edit::tokens::Kind;
use peak_grammar::ir::{ArgumentKind, Launch, PlanStatement, Region};

pub const CODE: &str = "peak::answer-interface";

/// Types that bind a buffer in HLSL.
const BUFFERS: [&str; 6] =
    ["StructuredBuffer", "RWStructuredBuffer", "ByteAddressBuffer", "RWByteAddressBuffer", "Buffer", "RWBuffer"];

pub fn check(facts: &PassFacts<'_>) -> Option<Rejection> {
    let problem = match facts.after.backend.as_str() {
        "hlsl" => hlsl(facts.after),
        _ => facts.after.plan.launches().into_iter().find_map(|launch| parameters(facts.after, launch)),
    }?;
    Some(Rejection { code: CODE, region: Region::DeviceCode, message: problem, facts: launches(facts.after) })
}

fn launches(context: &KernelContext) -> Vec<String> {
    let line =
        |launch: &&Launch| format!("the host code launches `{}` with {}", launch.kernel, launch.arguments.join(", "));
    context.plan.launches().iter().map(line).collect()
}

fn no_entry(launch: &Launch) -> String {
    format!("the device code has no kernel `{}`, which the host code launches", launch.kernel)
}

/// HLSL binds by name: a buffer an array, a member of the push constants a scalar.
fn hlsl(context: &KernelContext) -> Option<String> {
    let text = format!("{}\n{}", context.regions.macros, context.regions.device_code);
    let (words, declares) = (words(&text), declared(&text));
    let launches = context.plan.launches();
    if let Some(launch) = launches.iter().find(|launch| function(&words, &launch.kernel).is_none()) {
        return Some(no_entry(launch));
    }
    let buffers = buffers(&words);
    let passed: Vec<&String> = launches.iter().flat_map(|launch| &launch.arguments).collect();
    let lacks = |name: &&&String| match is_array(context, name) {
        true => !buffers.contains(&name.as_str()),
        false => !declares.contains(name.as_str()),
    };
    if let Some(name) = passed.iter().find(lacks) {
        let kind = if is_array(context, name) { "buffer" } else { "push constant" };
        return Some(format!("the launch passes `{name}`, and the device code declares no {kind} of that name"));
    }
    let extra = buffers.iter().find(|name| passed.iter().all(|passed| passed != *name))?;
    Some(format!("the device code declares the buffer `{extra}`, which no launch passes"))
}

fn is_array(context: &KernelContext, name: &str) -> bool {
    let scratch =
        |statement: &PlanStatement| matches!(statement, PlanStatement::Scratch { name: known, .. } if known == name);
    let array = context.kernel.arguments.iter().any(|a| a.name == name && matches!(a.kind, ArgumentKind::Array { .. }));
    array || context.plan.statements.iter().any(scratch)
}

/// Names of the buffers that a text declares.
fn buffers<'a>(words: &[(Kind, &'a str)]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (index, _) in words.iter().enumerate().filter(|(_, (_, text))| BUFFERS.contains(text)) {
        let mut depth = 0i32;
        let name = words[index + 1..].iter().find(|(kind, text)| {
            depth += i32::from(*text == "<") - i32::from(*text == ">");
            depth == 0 && *kind == Kind::Identifier
        });
        found.extend(name.map(|(_, text)| *text));
    }
    found
}

/// CUDA and HIP bind by place: names and order of the parameters are the launch's.
fn parameters(context: &KernelContext, launch: &Launch) -> Option<String> {
    let words = words(&context.regions.device_code);
    let Some(start) = function(&words, &launch.kernel) else { return Some(no_entry(launch)) };
    let mut found: Vec<&str> = Vec::new();
    let (mut depth, mut name) = (0i32, "");
    for (kind, text) in &words[start..] {
        match *text {
            ")" if depth == 0 => break,
            "," if depth == 0 => found.push(std::mem::take(&mut name)),
            "(" | "[" | "<" => depth += 1,
            ")" | "]" | ">" => depth -= 1,
            text if depth == 0 && *kind == Kind::Identifier => name = text,
            _ => {}
        }
    }
    if !name.is_empty() {
        found.push(name);
    }
    (found != launch.arguments).then(|| {
        format!(
            "`{}` takes ({}), and the launch passes ({})",
            launch.kernel,
            found.join(", "),
            launch.arguments.join(", ")
        )
    })
}
