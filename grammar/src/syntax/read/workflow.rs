//! Clauses of `workflow` and its steps.

use super::clause::{Piece, Rule, clause, clauses, missing_block, no_block};
use super::expression::values;
use super::transformation::setting_value;
use crate::ir::{FailurePolicy, OnFailure};
use crate::syntax::ast::{Adjustment, Application, Block, Header, WorkflowClause as Clause, WorkflowStep};
use crate::syntax::{Node, Report};

pub(super) fn workflow(header: Header, node: &Node<'_>, out: &mut Report<'_>) -> Block<Clause> {
    Block { header, clauses: clauses(Rule::workflow_line, node, out, workflow_clause) }
}

fn workflow_clause(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<Clause> {
    let clause = match piece.rule() {
        Rule::start_from => Clause::StartFrom(piece.name(Rule::word)),
        Rule::target => Clause::Target(piece.name(Rule::word)),
        Rule::on_backend => Clause::On(piece.name(Rule::word)),
        Rule::on_failure => Clause::OnFailure(on_failure(piece, out)),
        Rule::validate => Clause::Validate(piece.find(Rule::integer)?.count(out), piece.names(Rule::word)),
        Rule::tune_up_to => {
            Clause::Tune(positive(&piece.find(Rule::integer)?, out), piece.find(Rule::word).map(|word| word.as_name()))
        }
        Rule::time_at => {
            let timed = piece.all(Rule::timed);
            Clause::TimeAt(timed.filter_map(|timed| Some((timed.name(Rule::ident), values(&timed, out)?))).collect())
        }
        _ => return step(piece, node, out).map(Clause::Step),
    };
    no_block(node, out);
    Some(clause)
}

fn on_failure(piece: &Piece<'_>, out: &mut Report<'_>) -> OnFailure {
    let policy = |form: &Piece<'_>| match (form.has(Rule::k_ask), form.has(Rule::k_stop)) {
        (true, _) => Some(FailurePolicy::Ask),
        (_, true) => Some(FailurePolicy::Stop),
        _ => None,
    };
    let default = OnFailure::default();
    match piece.find(Rule::retry) {
        Some(retry) => OnFailure {
            retries: retry.find(Rule::integer).map_or(default.retries, |number| number.count(out)),
            then: policy(&retry).unwrap_or(default.then),
        },
        None => OnFailure { retries: default.retries, then: policy(piece).unwrap_or(default.then) },
    }
}

fn step(piece: &Piece<'_>, node: &Node<'_>, out: &mut Report<'_>) -> Option<WorkflowStep> {
    if !matches!(piece.rule(), Rule::choose | Rule::repeat) {
        no_block(node, out);
    } else if node.children.is_empty() {
        missing_block(node, out);
        return None;
    }
    let count =
        |piece: &Piece<'_>, out: &mut Report<'_>| piece.find(Rule::integer).map(|number| positive(&number, out));
    Some(match piece.rule() {
        Rule::apply => WorkflowStep::Apply(one_application(piece, out)?),
        Rule::attempt => WorkflowStep::Try(one_application(piece, out)?),
        Rule::choose => WorkflowStep::ChooseBest(branches(node, out)),
        Rule::repeat => WorkflowStep::Repeat {
            times: count(piece, out)?,
            until_gain_below: piece.find(Rule::gain).and_then(|gain| gain.find(Rule::number)).map(|p| p.number(out)),
            body: steps(node, out),
        },
        Rule::let_model => WorkflowStep::LetModelChoose(applications(piece, out)),
        Rule::search => WorkflowStep::Search {
            from: applications(piece, out),
            strategy: strategy(piece).to_owned(),
            width: count(piece, out),
            model_calls: piece.find(Rule::calls).and_then(|calls| count(&calls, out)),
        },
        Rule::checkpoint => WorkflowStep::Checkpoint(piece.find(Rule::text)?.quoted().value),
        Rule::restore => WorkflowStep::Restore(piece.find(Rule::text)?.quoted()),
        Rule::compare => WorkflowStep::CompareWith(piece.name(Rule::word)),
        _ => WorkflowStep::KeepBest,
    })
}

/// A count of something that is to happen: zero of it is a slip.
fn positive(number: &Piece<'_>, out: &mut Report<'_>) -> u32 {
    let count = number.count(out);
    if count == 0 {
        let diagnostic = out.error("peak::values", number.span(), "a count of at least 1 is needed");
        out.push(diagnostic.help("leave the step out to have none of it"));
    }
    count
}

fn strategy(piece: &Piece<'_>) -> &'static str {
    match (piece.has(Rule::k_mcts), piece.has(Rule::k_evolve)) {
        (true, _) => "mcts",
        (_, true) => "evolve",
        _ => "beam",
    }
}

fn branches(node: &Node<'_>, out: &mut Report<'_>) -> Vec<Vec<WorkflowStep>> {
    let mut branches = Vec::new();
    for child in &node.children {
        let Some(line) = clause(Rule::workflow_step_line, child, out) else { continue };
        let piece = line.piece();
        match piece.rule() {
            Rule::branch if child.children.is_empty() => missing_block(child, out),
            Rule::branch => branches.push(steps(child, out)),
            _ => branches.extend(step(&piece, child, out).map(|step| vec![step])),
        }
    }
    branches
}

pub(super) fn steps(node: &Node<'_>, out: &mut Report<'_>) -> Vec<WorkflowStep> {
    let read = clauses(Rule::workflow_step_line, node, out, |piece, node, out| {
        if piece.rule() == Rule::branch {
            let diagnostic =
                out.error("peak::unknown-clause", node.span, "`branch` stands below `choose best of` only");
            out.push(diagnostic.help("write its steps without it"));
            return None;
        }
        step(piece, node, out)
    });
    read.into_iter().map(|step| step.value).collect()
}

fn applications(piece: &Piece<'_>, out: &mut Report<'_>) -> Vec<Application> {
    piece.all(Rule::application).map(|form| application(&form, out)).collect()
}

fn one_application(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Application> {
    piece.find(Rule::application).map(|form| application(&form, out))
}

fn application(piece: &Piece<'_>, out: &mut Report<'_>) -> Application {
    let forms = piece.all(Rule::adjust).filter_map(|form| form.parts().next());
    let adjustments = forms.filter_map(|form| adjustment(&form, out)).collect();
    Application { transformation: piece.name(Rule::word), adjustments }
}

fn adjustment(piece: &Piece<'_>, out: &mut Report<'_>) -> Option<Adjustment> {
    let name = piece.name(Rule::ident);
    Some(match piece.rule() {
        Rule::narrow => Adjustment::Narrow(name, values(piece, out)?),
        Rule::rename_parameter => Adjustment::Rename(name, piece.names(Rule::ident).pop()?),
        _ => Adjustment::Give(name, setting_value(&piece.find(Rule::setting_value)?, out)?),
    })
}
