//! In how many loops each line of a function stands: natural loops of its flow graph. What the text does not say (a jump
//! through a register) is no edge, so a depth may be too small and never too large.

use peak_backend_api::CodeLine;
use std::collections::HashMap;

/// Blocks of a function that are looked at, at most; a larger one has no depths.
const BLOCKS_MAX: usize = 1 << 16;

/// The depth of each line, 0 outside every loop; `None` where the function is too large to tell.
pub(super) fn depths(lines: &[&CodeLine]) -> Option<Vec<u32>> {
    let graph = Graph::new(lines);
    if graph.starts.len() > BLOCKS_MAX {
        return None;
    }
    let depths = graph.depths();
    Some(graph.block_of.iter().map(|block| depths[*block]).collect())
}

struct Graph {
    /// The first line of each block.
    starts: Vec<usize>,
    /// The block of each line.
    block_of: Vec<usize>,
    next: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
}

impl Graph {
    fn new(lines: &[&CodeLine]) -> Graph {
        let mut starts = Vec::new();
        let mut block_of = Vec::with_capacity(lines.len());
        let mut ended = true;
        for (at, line) in lines.iter().enumerate() {
            // Several labels in a row are one place.
            let labelled = line.label.is_some() && at.checked_sub(1).is_none_or(|before| lines[before].label.is_none());
            if ended || labelled {
                starts.push(at);
            }
            block_of.push(starts.len() - 1);
            ended = line.instruction.as_ref().is_some_and(|found| !found.jumps.is_empty() || !found.goes_on);
        }
        let mut graph =
            Graph { next: vec![Vec::new(); starts.len()], before: vec![Vec::new(); starts.len()], starts, block_of };
        graph.connect(lines);
        graph
    }

    fn connect(&mut self, lines: &[&CodeLine]) {
        let mut labels: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, label) in lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.label.as_deref()?))) {
            labels.entry(label).or_default().push(at);
        }
        for block in 0..self.starts.len() {
            let end = self.starts.get(block + 1).copied().unwrap_or(lines.len());
            let last = lines[self.starts[block]..end].iter().rev().find_map(|line| line.instruction.as_ref());
            // A label may be declared again in a scope of its own: then the nearest is meant.
            let nearest =
                |label: &String| labels.get(label.as_str())?.iter().min_by_key(|at| at.abs_diff(end - 1)).copied();
            let mut next: Vec<usize> = last.map_or(&[][..], |last| &last.jumps).iter().filter_map(nearest).collect();
            next.iter_mut().for_each(|at| *at = self.block_of[*at]);
            if last.is_none_or(|last| last.goes_on) && block + 1 < self.starts.len() {
                next.push(block + 1);
            }
            next.sort_unstable();
            next.dedup();
            next.iter().for_each(|to| self.before[*to].push(block));
            self.next[block] = next;
        }
    }

    /// How many loops each block is in: two loops of one head are one.
    fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.starts.len()];
        let order = self.order();
        let dominators = self.dominators(&order);
        let mut ends: HashMap<usize, Vec<usize>> = HashMap::new();
        for from in &order {
            for head in self.next[*from].iter().filter(|head| dominates(&dominators, **head, *from)) {
                ends.entry(*head).or_default().push(*from);
            }
        }
        for (head, ends) in ends {
            let mut inside = vec![false; self.starts.len()];
            inside[head] = true;
            let mut open = ends;
            while let Some(block) = open.pop() {
                if !std::mem::replace(&mut inside[block], true) {
                    // What is never reached is in no loop.
                    open.extend(self.before[block].iter().filter(|before| dominators[**before].is_some()));
                }
            }
            depths.iter_mut().zip(inside).filter(|(_, inside)| *inside).for_each(|(depth, _)| *depth += 1);
        }
        depths
    }

    /// Blocks that are reached, each before those that it leads to, loops aside.
    fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.starts.len()];
        let mut order = Vec::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        if let Some(first) = seen.first_mut() {
            *first = true;
            open.push((0, 0));
        }
        while let Some((block, edge)) = open.pop() {
            match self.next[block].get(edge) {
                Some(to) => {
                    open.push((block, edge + 1));
                    if !std::mem::replace(&mut seen[*to], true) {
                        open.push((*to, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        order
    }

    /// The immediate dominator of each block that is reached (Cooper, Harvey and Kennedy 2001), with its rank in the order.
    fn dominators(&self, order: &[usize]) -> Vec<Option<(usize, usize)>> {
        let mut found: Vec<Option<(usize, usize)>> = vec![None; self.starts.len()];
        let rank: HashMap<usize, usize> = order.iter().enumerate().map(|(rank, block)| (*block, rank)).collect();
        if let Some(first) = found.first_mut() {
            *first = Some((0, 0));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().skip(1) {
                let known = self.before[*block].iter().filter(|before| found[**before].is_some()).copied();
                let Some(common) = known.reduce(|a, b| meet(&found, a, b)) else { continue };
                let new = Some((common, rank[block]));
                changed |= std::mem::replace(&mut found[*block], new) != new;
            }
        }
        found
    }
}

/// The nearest block that dominates both.
fn meet(dominators: &[Option<(usize, usize)>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let (Some((above_a, rank_a)), Some((above_b, rank_b))) = (dominators[a], dominators[b]) else { return a };
        if rank_a > rank_b { a = above_a } else { b = above_b }
    }
    a
}

fn dominates(dominators: &[Option<(usize, usize)>], head: usize, mut block: usize) -> bool {
    while let Some((above, _)) = dominators[block] {
        if block == head {
            return true;
        }
        if above == block {
            return false;
        }
        block = above;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use peak_backend_api::{Instruction, InstructionKind};

    /// `a:` is a label, `>a` jumps and may go on, `!a` jumps always, `.` leaves, anything else goes on.
    fn depths_of(text: &str) -> String {
        let line = |word: &str| {
            let mut line = CodeLine { text: word.to_owned(), ..CodeLine::default() };
            let mut instruction = Instruction::plain(word, InstructionKind::Other);
            match word.chars().next() {
                _ if word.ends_with(':') => {
                    line.label = Some(word.trim_end_matches(':').to_owned());
                    return line;
                }
                Some('>') => instruction.jumps = vec![word[1..].to_owned()],
                Some('!') => (instruction.jumps, instruction.goes_on) = (vec![word[1..].to_owned()], false),
                Some('.') => instruction.goes_on = false,
                _ => {}
            }
            line.instruction = Some(instruction);
            line
        };
        let lines: Vec<CodeLine> = text.split_whitespace().map(line).collect();
        let lines: Vec<&CodeLine> = lines.iter().collect();
        let depths = depths(&lines).expect("it is small");
        depths.iter().map(u32::to_string).collect()
    }

    #[test]
    fn loops_nest() {
        assert_eq!(depths_of("x y ."), "000");
        assert_eq!(depths_of("x a: y >a ."), "01110");
        assert_eq!(depths_of("a: x b: y >b z >a ."), "11222110");
        // A loop that is tested at its head, as SPIR-V has it.
        assert_eq!(depths_of("a: >end x !a end: ."), "111100");
        // Two ways back to one head are one loop.
        assert_eq!(depths_of("a: x >a y >a ."), "111110");
    }

    #[test]
    fn what_is_no_loop_is_none() {
        assert_eq!(depths_of(""), "");
        assert_eq!(depths_of("x >a y a: z ."), "000000");
        assert_eq!(depths_of("x . dead: y !dead"), "00000", "never reached");
        assert_eq!(depths_of("x >nowhere ."), "000");
        // Two ways into a circle: no head, so no natural loop.
        assert_eq!(depths_of(">b a: x b: y >a ."), "0000000");
    }

    #[test]
    fn a_label_of_an_inner_scope_is_the_nearest() {
        assert_eq!(depths_of("a: x >a y y y a: z >a ."), "1110001110");
    }
}
