//! The layout step: text to a tree of lines by indentation, with prose and fences set aside.
//!
//! Knows nothing of clauses beyond the words that open prose. Linear in the text, and never recursive while building.

use super::{Report, Span};
use crate::limits::{MAX_LEVELS, MAX_LINE_BYTES};

/// A clause's line and what is indented below it.
#[derive(Debug, Default)]
pub(crate) struct Node<'a> {
    /// The clause, without indentation, comment and trailing blanks.
    pub(crate) text: &'a str,
    /// Where the clause is.
    pub(crate) span: Span,
    /// Deeper clauses.
    pub(crate) children: Vec<Node<'a>>,
    /// Fenced blocks below it.
    pub(crate) fences: Vec<Fence>,
    /// Deeper lines verbatim, if the clause opens prose.
    pub(crate) prose: Option<Vec<RawLine<'a>>>,
    /// The bytes from the first to the last deeper line.
    pub(crate) below: Option<Span>,
}

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Fence {
    /// Its text, dedented to the fence.
    pub(crate) text: String,
    /// From the opening to the closing backticks.
    pub(crate) span: Span,
}

/// A line as it stands in the file, without its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawLine<'a> {
    /// The text.
    pub(crate) text: &'a str,
    /// Its offset in the file.
    pub(crate) start: usize,
    /// Spaces (a tab counts as two) before the first other character.
    pub(crate) indent: usize,
}

impl<'a> RawLine<'a> {
    pub(crate) fn new(text: &'a str, start: usize) -> RawLine<'a> {
        let blanks = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        RawLine { text, start, indent: blanks.map(|byte| if byte == b'\t' { 2 } else { 1 }).sum() }
    }

    /// Whether nothing is on it.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The line with `columns` of indentation removed, and the offset of what is left.
    pub(crate) fn dedented(&self, columns: usize) -> (&'a str, usize) {
        let blanks = self.text.len() - self.text.trim_start_matches([' ', '\t']).len();
        let cut = columns.min(blanks);
        (self.text.get(cut..).unwrap_or(""), self.start + cut)
    }

    fn span(&self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }
}

/// The tree of a text.
pub(crate) fn layout<'a>(text: &'a str, out: &mut Report<'_>) -> Vec<Node<'a>> {
    let lines = lines(text, out);
    let mut tree = Tree { open: vec![Level { indent: 0, nodes: Vec::new() }] };
    let mut tabs = Tabs::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let (clause, span) = clause_of(line);
        if clause.is_empty() {
            continue;
        }
        if clause.starts_with("```") {
            tabs.look(line, line.text.len() - line.text.trim_start().len());
            at = fence(&lines, at - 1, &mut tree, out);
            continue;
        }
        tabs.look(line, line.text.len().min(span.end - line.start));
        let mut node = Node { text: clause, span, ..Node::default() };
        if opens_prose(clause) {
            let end = prose_end(&lines, at, line.indent);
            let block = &lines[at..end];
            if !(clause.starts_with("in ") && holds_steps(block)) {
                node.below = block.iter().find(|line| !line.is_blank()).map(|line| line.span());
                node.prose = Some(block.to_vec());
                at = end;
            }
        }
        if !tree.add(node, line.indent, out) {
            at = prose_end(&lines, at, line.indent.saturating_sub(1));
        }
    }
    tabs.report(out);
    tree.finish()
}

/// The lines of the text; those beyond the bound are reported, together, and left blank.
fn lines<'a>(text: &'a str, out: &mut Report<'_>) -> Vec<RawLine<'a>> {
    let mut start = 0;
    let mut lines = Vec::new();
    let mut long: Option<(Span, usize)> = None;
    let mut count = 0;
    // The indentation of a line that is left out: what stands below it goes with it, since its head is gone.
    let mut left_out: Option<usize> = None;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        let mark = if start == 0 && line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let (line, at) = (&line[mark..], start + mark);
        let indent = line.len() - line.trim_start_matches(' ').len();
        left_out = left_out.filter(|head| indent > *head || line.trim().is_empty());
        if line.len() <= MAX_LINE_BYTES {
            let kept = if left_out.is_some() { "" } else { line };
            lines.push(RawLine::new(kept, at));
        } else {
            left_out = Some(left_out.unwrap_or(indent));
            let first = line.chars().next().map_or(0, char::len_utf8);
            long.get_or_insert((Span::new(at, at + first), line.len()));
            count += 1;
            lines.push(RawLine::new("", at));
        }
        start += whole.len();
    }
    if let Some((span, length)) = long {
        let more = if count > 1 { format!(" (and {} more such lines)", count - 1) } else { String::new() };
        let message = format!("a line of {length} bytes; the limit is {MAX_LINE_BYTES}{more}");
        let diagnostic = out.error("peak::line-too-long", span, message).label("starts here");
        out.push(
            diagnostic.help("it was skipped, with what stands below it; break it, or move code into its own file"),
        );
    }
    lines
}

/// What stands on a line before its comment.
fn clause_of<'a>(line: &RawLine<'a>) -> (&'a str, Span) {
    let mut quote = None;
    let mut end = line.text.len();
    // Most lines hold none of these: a scan that does nothing else is much quicker.
    let first = line.text.bytes().position(|byte| matches!(byte, b'#' | b'"' | b'`')).unwrap_or(end);
    for (at, byte) in line.text.bytes().enumerate().skip(first) {
        match (quote, byte) {
            (None, b'#') => {
                end = at;
                break;
            }
            (None, b'"' | b'`') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    let kept = line.text[..end].trim_end();
    let clause = kept.trim_start();
    (clause, Span::new(line.start + kept.len() - clause.len(), line.start + kept.len()))
}

fn opens_prose(clause: &str) -> bool {
    if !clause.starts_with(['b', 'k', 'i']) {
        return false;
    }
    let mut words = clause.split_whitespace();
    match words.next() {
        Some("because" | "knows") => words.next().is_none(),
        Some("known") => words.eq(["failures"]),
        Some("in") => true,
        _ => false,
    }
}

fn holds_steps(block: &[RawLine<'_>]) -> bool {
    let first = block.iter().find(|line| !clause_of(line).0.is_empty());
    let word = first.and_then(|line| line.text.split_whitespace().next());
    matches!(word, Some("insert" | "rewrite" | "rename" | "set"))
}

/// The index of the first non-blank line from `at` that is no deeper than `indent`.
fn prose_end(lines: &[RawLine<'_>], at: usize, indent: usize) -> usize {
    let rest = lines.get(at..).unwrap_or(&[]);
    at + rest.iter().position(|line| !line.is_blank() && line.indent <= indent).unwrap_or(rest.len())
}

/// Takes the fence that opens on line `at`; gives the index of the line after it.
fn fence(lines: &[RawLine<'_>], at: usize, tree: &mut Tree<'_>, out: &mut Report<'_>) -> usize {
    let opening = &lines[at];
    let holder = tree.holder(opening.indent);
    let floor = holder.as_ref().map(|(indent, _)| *indent);
    // One walk finds the closing line or the end of the holding block, whichever comes first.
    let leaves = |line: &RawLine<'_>| floor.is_some_and(|floor| !line.is_blank() && line.indent <= floor);
    let stop = lines[at + 1..].iter().position(|line| leaves(line) || line.text.trim() == "```");
    let end = stop.map_or(lines.len(), |offset| at + 1 + offset);
    let closing = lines.get(end).filter(|line| !leaves(line)).map(|_| end);
    let start = opening.start + opening.text.len() - opening.text.trim_start().len();
    let last = closing.unwrap_or(end - 1);
    let span = Span::new(start, lines[last].start + lines[last].text.len());
    let mut text = String::new();
    for line in &lines[at + 1..end] {
        text.push_str(line.dedented(opening.indent).0.trim_end());
        text.push('\n');
    }
    if closing.is_none() {
        let opening = Span::new(start, opening.start + opening.text.len());
        let diagnostic = out.error("peak::unterminated-fence", opening, "this fence is not closed");
        out.push(diagnostic.label("opened here").help("close it with a line of three backticks before its block ends"));
    }
    match holder {
        Some((_, node)) => {
            node.fences.push(Fence { text, span });
            node.below = Some(node.below.map_or(span, |below| below.to(span)));
        }
        None => {
            let diagnostic = out.error("peak::unexpected-block", span, "a fenced block that belongs to no clause");
            out.push(diagnostic.help("indent it below the clause that it belongs to"));
        }
    }
    closing.map_or(end, |index| index + 1)
}

/// Levels that are open while the tree is built.
struct Tree<'a> {
    open: Vec<Level<'a>>,
}

struct Level<'a> {
    indent: usize,
    nodes: Vec<Node<'a>>,
}

impl<'a> Tree<'a> {
    /// Adds a clause at its level. False where it is too deep: then it and what is below it is skipped.
    fn add(&mut self, node: Node<'a>, indent: usize, out: &mut Report<'_>) -> bool {
        self.close(indent);
        let deepest = self.open.last().map_or(0, |level| level.indent);
        let has_parent = self.open.last().is_some_and(|level| !level.nodes.is_empty());
        if indent > deepest && has_parent {
            if self.open.len() >= MAX_LEVELS {
                let message = format!("nested deeper than {MAX_LEVELS} levels");
                out.push(out.error("peak::too-deep", node.span, message).help("what is deeper was skipped"));
                return false;
            }
            if self.open.last().and_then(|level| level.nodes.last()).is_some_and(|parent| !parent.children.is_empty()) {
                let diagnostic = out.error("peak::indentation", node.span, "the block above it is indented further");
                out.push(diagnostic.help("align it with the first line of its block"));
            }
            self.open.push(Level { indent, nodes: Vec::new() });
        } else if indent != deepest {
            let message = "the indentation fits no level above";
            let diagnostic = out.error("peak::indentation", node.span, message);
            let wanted = if deepest == 0 { "the left margin".to_owned() } else { format!("{deepest} spaces") };
            out.push(diagnostic.help(format!("the level here is {wanted}; this line has {indent}")));
        }
        if let Some(level) = self.open.last_mut() {
            level.nodes.push(node);
        }
        true
    }

    /// Closes every level deeper than `indent`, except that a stray indentation falls to the level below it.
    fn close(&mut self, indent: usize) {
        while self.open.len() > 1 && self.open.last().is_some_and(|level| level.indent > indent) {
            self.close_last();
        }
    }

    fn close_last(&mut self) {
        let Some(level) = self.open.pop() else { return };
        let parent = self.open.last_mut().and_then(|level| level.nodes.last_mut());
        if let Some(parent) = parent {
            let first = level.nodes.first().map(|node| node.span);
            let last = level.nodes.last().map(|node| node.below.map_or(node.span, |below| node.span.to(below)));
            if let (Some(first), Some(last)) = (first, last) {
                parent.below = Some(parent.below.map_or(first.to(last), |below| below.to(last)));
            }
            match parent.children.is_empty() {
                true => parent.children = level.nodes,
                false => parent.children.extend(level.nodes),
            }
        }
    }

    /// The clause that something at `indent` stands below, with its indentation.
    fn holder(&mut self, indent: usize) -> Option<(usize, &mut Node<'a>)> {
        self.close(indent);
        let level = self.open.iter_mut().rev().find(|level| level.indent < indent)?;
        Some((level.indent, level.nodes.last_mut()?))
    }

    fn finish(mut self) -> Vec<Node<'a>> {
        while self.open.len() > 1 {
            self.close_last();
        }
        self.open.pop().map(|level| level.nodes).unwrap_or_default()
    }
}

/// Tabs outside prose and code: the first, and how many lines have one.
#[derive(Default)]
struct Tabs {
    first: Option<Span>,
    lines: usize,
}

impl Tabs {
    fn look(&mut self, line: &RawLine<'_>, until: usize) {
        let Some(at) = line.text.get(..until).and_then(|text| text.find('\t')) else { return };
        self.first.get_or_insert(Span::new(line.start + at, line.start + at + 1));
        self.lines += 1;
    }

    fn report(&self, out: &mut Report<'_>) {
        let Some(span) = self.first else { return };
        let more = match self.lines {
            1 => String::new(),
            lines => format!(" (and on {} more lines)", lines - 1),
        };
        let diagnostic = out.error("peak::tab", span, format!("a tab stands where only spaces may{more}"));
        out.push(diagnostic.label("a tab").help("replace each tab by two spaces"));
    }
}

impl Node<'_> {
    /// From the clause to the last line below it.
    pub(crate) fn whole(&self) -> Span {
        self.below.map_or(self.span, |below| self.span.to(below))
    }
}
