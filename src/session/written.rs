//! Where the parts of a declaration were written. The IR keeps where a declaration begins; its file is read once more
//! for what stands inside it. Decides nothing.

use crate::library::Loaded;
use peak_grammar::SourceFile;
use peak_grammar::ir::{Application, Origin, Workflow, WorkflowStep};
use peak_grammar::syntax::ast::{
    self, Block, Declaration, PackClause, PassClause, SpecializeClause, TransformationClause, WorkflowClause,
};
use peak_grammar::syntax::{Name, Span};

/// A place in a file.
#[derive(Clone, Debug)]
pub struct Written {
    /// The file, as diagnostics name it.
    pub file: String,
    /// Where in it.
    pub span: Span,
}

/// What is looked for in a transformation.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// `on LANGUAGE, ...`.
    On,
    /// `for kernels ...`.
    ForKernels,
    /// A name of `needs tuning`.
    NeedsTuning(&'a str),
    /// A name of `needs let`.
    NeedsLet(&'a str),
    /// A name of `after`.
    After(&'a str),
    /// A name of `conflicts with`.
    ConflictsWith(&'a str),
    /// The parameter of an `introduces`.
    Introduces(&'a str),
    /// The name of a `replace requirement`.
    Replaces(&'a str),
    /// A name of a `retire`.
    Retires(&'a str),
}

/// Where the application at `index` of [`applications`] names its transformation.
pub fn application(loaded: &Loaded, workflow: &Workflow, index: usize) -> Option<Written> {
    let file = parsed(loaded, &workflow.origin)?;
    let block = workflows(&file).find(|block| block.header.span.start == workflow.origin.start)?;
    let mut found = Vec::new();
    for clause in &block.clauses {
        if let WorkflowClause::Step(step) = &clause.value {
            collect_written(step, &mut found);
        }
    }
    Some(Written { file: workflow.origin.file.clone(), span: found.get(index)?.transformation.span })
}

/// What a workflow does with an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `apply`: the run ends where it fails.
    Apply,
    /// `apply` in a branch of `choose best of`.
    Branch,
    /// `try`.
    Try,
    /// One of those of `let the model choose` or `search`.
    Candidate,
}

/// Every application of a workflow with its role, in the order of the text.
pub fn applications(steps: &[WorkflowStep]) -> Vec<(&Application, Role)> {
    let mut found = Vec::new();
    steps.iter().for_each(|step| collect(step, Role::Apply, &mut found));
    found
}

fn collect<'a>(step: &'a WorkflowStep, apply: Role, found: &mut Vec<(&'a Application, Role)>) {
    match step {
        WorkflowStep::Apply(one) => found.push((one, apply)),
        WorkflowStep::Try(one) => found.push((one, Role::Try)),
        WorkflowStep::LetModelChoose(from) | WorkflowStep::Search { from, .. } => {
            found.extend(from.iter().map(|one| (one, Role::Candidate)));
        }
        WorkflowStep::ChooseBest(branches) => {
            branches.iter().flatten().for_each(|step| collect(step, Role::Branch, found));
        }
        WorkflowStep::Repeat { body, .. } => body.iter().for_each(|step| collect(step, apply, found)),
        WorkflowStep::Checkpoint(_)
        | WorkflowStep::Restore(_)
        | WorkflowStep::CompareWith(_)
        | WorkflowStep::KeepBest => {}
    }
}

fn collect_written<'a>(step: &'a ast::WorkflowStep, found: &mut Vec<&'a ast::Application>) {
    match step {
        ast::WorkflowStep::Apply(one) | ast::WorkflowStep::Try(one) => found.push(one),
        ast::WorkflowStep::LetModelChoose(from) | ast::WorkflowStep::Search { from, .. } => found.extend(from),
        ast::WorkflowStep::ChooseBest(branches) => {
            branches.iter().flatten().for_each(|step| collect_written(step, found));
        }
        ast::WorkflowStep::Repeat { body, .. } => body.iter().for_each(|step| collect_written(step, found)),
        ast::WorkflowStep::Checkpoint(_)
        | ast::WorkflowStep::Restore(_)
        | ast::WorkflowStep::CompareWith(_)
        | ast::WorkflowStep::KeepBest => {}
    }
}

/// Where a transformation, or what a pack puts in place of a part of it, says something.
pub fn part(loaded: &Loaded, transformation: &str, part: Part<'_>) -> Option<Written> {
    let packs = loaded.ir.packs.values();
    let own = packs.clone().find_map(|pack| pack.transformations.get(transformation));
    let declared = loaded.ir.transformations.get(transformation).or(own);
    let here = declared.and_then(|declared| in_declaration(loaded, &declared.origin, part));
    let special = || {
        packs
            .flat_map(|pack| &pack.specializations)
            .filter(|special| special.transformation == transformation)
            .find_map(|special| in_specialization(loaded, &special.origin, transformation, part))
    };
    here.or_else(special)
}

fn in_declaration(loaded: &Loaded, origin: &Origin, part: Part<'_>) -> Option<Written> {
    let file = parsed(loaded, origin)?;
    let block = transformations(&file).find(|block| block.header.span.start == origin.start)?;
    let span = block.clauses.iter().find_map(|clause| in_clause(&clause.value, clause.span, part))?;
    Some(Written { file: origin.file.clone(), span })
}

fn in_specialization(loaded: &Loaded, origin: &Origin, name: &str, part: Part<'_>) -> Option<Written> {
    let file = parsed(loaded, origin)?;
    let clauses = pack_clauses(&file).filter_map(|clause| match clause {
        PackClause::Specialize { transformation, clauses } if transformation.value == name => Some(clauses),
        _ => None,
    });
    let span = clauses.flatten().find_map(|clause| match (&clause.value, part) {
        (SpecializeClause::ReplacePass(pass), _) => in_pass(pass, part),
        (SpecializeClause::Introduces(form), Part::Introduces(wanted)) => named(&form.name, wanted),
        _ => None,
    })?;
    Some(Written { file: origin.file.clone(), span })
}

fn in_clause(clause: &TransformationClause, span: Span, part: Part<'_>) -> Option<Span> {
    use TransformationClause as Clause;
    match (clause, part) {
        (Clause::On(_), Part::On) | (Clause::ForKernels(_) | Clause::Computing(_), Part::ForKernels) => Some(span),
        (Clause::NeedsTuning(names), Part::NeedsTuning(wanted))
        | (Clause::NeedsLet(names), Part::NeedsLet(wanted))
        | (Clause::After(names), Part::After(wanted))
        | (Clause::ConflictsWith(names), Part::ConflictsWith(wanted)) => {
            names.iter().find_map(|name| named(name, wanted))
        }
        (Clause::Introduces(form), Part::Introduces(wanted)) => named(&form.name, wanted),
        (Clause::Pass(pass), _) => in_pass(pass, part),
        _ => None,
    }
}

fn in_pass(pass: &ast::Pass, part: Part<'_>) -> Option<Span> {
    pass.clauses.iter().find_map(|clause| match (&clause.value, part) {
        (PassClause::ReplaceRequirement(name, _), Part::Replaces(wanted)) => named(name, wanted),
        (PassClause::Retire(names), Part::Retires(wanted)) => names.iter().find_map(|name| named(name, wanted)),
        _ => None,
    })
}

fn named(name: &Name, wanted: &str) -> Option<Span> {
    (name.value == wanted).then_some(name.span)
}

fn parsed(loaded: &Loaded, origin: &Origin) -> Option<ast::File> {
    let text = loaded.sources.text(&origin.file)?;
    Some(peak_grammar::parse(&SourceFile::new(&origin.file, text)).0)
}

/// Every workflow of a file, packs' own included.
fn workflows(file: &ast::File) -> impl Iterator<Item = &Block<WorkflowClause>> {
    let outside = file.declarations.iter().filter_map(|declaration| match declaration {
        Declaration::Workflow(block) => Some(block),
        _ => None,
    });
    let inside = pack_clauses(file).filter_map(|clause| match clause {
        PackClause::Workflow(block) => Some(block),
        _ => None,
    });
    outside.chain(inside)
}

/// Every transformation of a file, packs' own included.
fn transformations(file: &ast::File) -> impl Iterator<Item = &Block<TransformationClause>> {
    let outside = file.declarations.iter().filter_map(|declaration| match declaration {
        Declaration::Transformation(block) => Some(block),
        _ => None,
    });
    let inside = pack_clauses(file).filter_map(|clause| match clause {
        PackClause::Transformation(block) => Some(block),
        _ => None,
    });
    outside.chain(inside)
}

fn pack_clauses(file: &ast::File) -> impl Iterator<Item = &PackClause> {
    let packs = file.declarations.iter().filter_map(|declaration| match declaration {
        Declaration::Pack(block) => Some(block),
        _ => None,
    });
    packs.flat_map(|pack| pack.clauses.iter().map(|clause| &clause.value))
}
