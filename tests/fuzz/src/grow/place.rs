//! Blocks of a text, and what clauses each takes.

/// What a block takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Kernel,
    Plan,
    Launch,
    Utility,
    Transformation,
    Pass,
    Steps,
    HostSteps,
    Checks,
    Device,
    Pack,
    Specialize,
    Workflow,
    WorkflowSteps,
    Branches,
    Build,
}

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub kind: Kind,
    /// Blanks before each of its lines.
    pub indent: usize,
    /// The line after its head.
    pub first: usize,
    /// The line after its last.
    pub end: usize,
}

/// Every block of a text.
pub fn places(lines: &[String]) -> Vec<Place> {
    (0..lines.len()).filter_map(|at| place(lines, at)).collect()
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn place(lines: &[String], at: usize) -> Option<Place> {
    let kind = kind(&lines[at])?;
    let own = depth(&lines[at]);
    let inside = |line: &&String| line.trim().is_empty() || depth(line) > own;
    let count = lines[at + 1..].iter().take_while(inside).count();
    let indent = lines.get(at + 1).map(|line| depth(line)).filter(|next| *next > own).unwrap_or(own + 2);
    Some(Place { kind, indent, first: at + 1, end: at + 1 + count })
}

fn kind(line: &str) -> Option<Kind> {
    let words = line.trim_start();
    let outermost = !line.starts_with(' ');
    let starts = |word: &str| words.starts_with(word);
    Some(match words.split(' ').next().unwrap_or("") {
        "kernel" if outermost => Kind::Kernel,
        "utility" if outermost => Kind::Utility,
        "device" if outermost => Kind::Device,
        "pack" if outermost => Kind::Pack,
        "build" if outermost => Kind::Build,
        "transformation" => Kind::Transformation,
        "workflow" => Kind::Workflow,
        "pass" => Kind::Pass,
        "replace" if starts("replace pass") => Kind::Pass,
        "specialize" => Kind::Specialize,
        "host" => Kind::Plan,
        "launch" => Kind::Launch,
        "repeat" if starts("repeat at") => Kind::WorkflowSteps,
        "repeat" => Kind::Plan,
        "in" if starts("in host") => Kind::HostSteps,
        "in" if starts("in macros") || starts("in device") => Kind::Steps,
        "checks" => Kind::Checks,
        "choose" => Kind::Branches,
        "branch" => Kind::WorkflowSteps,
        _ => return None,
    })
}
