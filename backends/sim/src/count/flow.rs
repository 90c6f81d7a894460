//! A function's code cut into flows, and the loops around each. A loop is a round trip of the flow graph: every jump back in
//! the graph's own order ends one, so that code of any shape has some.

use crate::ir::{Function, Inst, Operand};

/// Flows that a function may have for its loops to be told apart; in a longer one rounds are not.
const FLOWS_MAX: usize = 1 << 15;

/// The flow graph.
pub(super) struct Graph {
    /// The first instruction of each flow.
    pub starts: Vec<usize>,
    /// Loops, the largest first.
    pub loops: Vec<Loop>,
}

/// A loop, by numbers of flows.
pub(super) struct Loop {
    /// Where a round begins.
    pub head: usize,
    /// In order.
    pub body: Vec<usize>,
}

impl Graph {
    pub fn new(function: &Function) -> Graph {
        let starts = starts(function);
        if starts.len() > FLOWS_MAX {
            return Graph { starts, loops: Vec::new() };
        }
        let next = edges(function, &starts);
        let loops = loops(&next);
        Graph { starts, loops }
    }
}

/// Whether the flow ends after an instruction: it may go elsewhere, or fewer threads go on.
fn ends(inst: &Inst) -> bool {
    matches!(inst.name.as_str(), "bra" | "brx" | "ret" | "exit" | "trap" | "call")
}

fn starts(function: &Function) -> Vec<usize> {
    let after = function.code.iter().enumerate().filter(|(_, inst)| ends(inst)).map(|(at, _)| at + 1);
    let mut starts: Vec<usize> = after.chain(function.labels.iter().copied()).chain([0]).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|at| *at < function.code.len());
    starts
}

/// The flows that come after each.
fn edges(function: &Function, starts: &[usize]) -> Vec<Vec<usize>> {
    let flow_at = |at: usize| starts.binary_search(&at).ok();
    let of = |flow: usize| {
        let end = starts.get(flow + 1).copied().unwrap_or(function.code.len());
        let last = &function.code[end - 1];
        let labels: Vec<usize> = match (last.name.as_str(), last.operands.as_slice()) {
            ("bra", [Operand::Label(label)]) => vec![*label],
            ("brx", [_, Operand::Label(list)]) => function.targets.get(list).cloned().unwrap_or_default(),
            _ => Vec::new(),
        };
        let leaves = matches!(last.name.as_str(), "bra" | "brx" | "ret" | "exit" | "trap") && last.guard.is_none();
        let jumps = labels.into_iter().filter_map(|label| flow_at(function.labels[label]));
        let mut next: Vec<usize> = jumps.chain((!leaves).then(|| flow_at(end)).flatten()).collect();
        next.sort_unstable();
        next.dedup();
        next
    };
    (0..starts.len()).map(of).collect()
}

fn loops(next: &[Vec<usize>]) -> Vec<Loop> {
    let ranks = ranks(next);
    let mut before = vec![Vec::new(); next.len()];
    next.iter().enumerate().for_each(|(from, to)| to.iter().for_each(|to| before[*to].push(from)));
    let mut loops: Vec<Loop> = Vec::new();
    for head in 0..next.len() {
        let back = |from: &&usize| ranks[**from].zip(ranks[head]).is_some_and(|(from, head)| from >= head);
        let mut open: Vec<usize> = before[head].iter().filter(back).copied().collect();
        if open.is_empty() {
            continue;
        }
        let mut inside = vec![false; next.len()];
        inside[head] = true;
        while let Some(flow) = open.pop() {
            if !std::mem::replace(&mut inside[flow], true) {
                // What is never reached is in no loop, and neither is what comes before the head alone.
                open.extend(before[flow].iter().filter(|from| ranks[**from] > ranks[head]));
            }
        }
        let body = (0..next.len()).filter(|flow| inside[*flow]).collect();
        loops.push(Loop { head, body });
    }
    loops.sort_by_key(|it| std::cmp::Reverse(it.body.len()));
    loops
}

/// The place of each flow that is reached: each before those that it leads to, jumps back aside.
fn ranks(next: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut ranks = vec![None; next.len()];
    let mut seen = vec![false; next.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        open.push((0, 0));
    }
    let mut place = next.len();
    while let Some((flow, edge)) = open.pop() {
        match next[flow].get(edge) {
            Some(to) => {
                open.push((flow, edge + 1));
                if !std::mem::replace(&mut seen[*to], true) {
                    open.push((*to, 0));
                }
            }
            None => {
                place -= 1;
                ranks[flow] = Some(place);
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(next: &[&[usize]]) -> Vec<(usize, Vec<usize>)> {
        let next: Vec<Vec<usize>> = next.iter().map(|to| to.to_vec()).collect();
        loops(&next).into_iter().map(|it| (it.head, it.body)).collect()
    }

    #[test]
    fn loops_nest() {
        assert_eq!(found(&[&[1], &[2], &[]]), []);
        assert_eq!(found(&[&[1], &[1, 2], &[]]), [(1, vec![1])]);
        assert_eq!(found(&[&[1], &[2], &[2, 3], &[1, 4], &[]]), [(1, vec![1, 2, 3]), (2, vec![2])]);
        assert_eq!(found(&[&[1], &[2, 4], &[3], &[1], &[]]), [(1, vec![1, 2, 3])], "tested at its head");
    }

    #[test]
    fn every_round_trip_has_a_head() {
        // Two ways into a circle.
        let circle = found(&[&[1, 2], &[2], &[1]]);
        assert_eq!(circle.len(), 1);
        assert!(circle[0].1.contains(&1) && circle[0].1.contains(&2), "{circle:?}");
    }
}
