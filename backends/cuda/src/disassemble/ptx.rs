//! PTX as lines: labels, the source lines of `.loc`, and what each instruction is. Statements alone are read, no operand's
//! type; text that is no PTX gives lines without instructions.

use super::{is_header, piece};
use peak_backend_api::{CodeLine, Instruction, InstructionKind, SourcePlace, ptx_kind};
use std::collections::HashMap;

/// Every line, several statements of one line apart.
pub(super) fn lines(text: &str) -> Vec<CodeLine> {
    let mut reader = Reader { files: files(text), ..Reader::default() };
    text.lines().flat_map(cut).map(|line| reader.line(line)).collect()
}

/// The paths of `.file`, by number: they stand at the end.
fn files(text: &str) -> HashMap<&str, &str> {
    let file = |line: &'_ str| -> Option<(usize, usize, usize)> {
        let rest = line.trim_start().strip_prefix(".file")?;
        let (number, path) = rest.split_once('"')?;
        let start = line.len() - path.len();
        let _ = number.trim().parse::<u32>().ok()?;
        Some((line.len() - rest.len(), start - 1, start + path.find('"')?))
    };
    text.lines().filter_map(|line| file(line).map(|(a, b, c)| (line[a..b].trim(), &line[b + 1..c]))).collect()
}

/// The statements and labels of a line.
fn cut(line: &str) -> Vec<&str> {
    let code = code_of(line);
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, letter) in code.char_indices() {
        let label = letter == ':' && is_label(code[start..at].trim()) && !code[at + 1..].starts_with(':');
        let more = !code[at + letter.len_utf8()..].trim().is_empty();
        if more && (letter == ';' || label) {
            pieces.push(&line[start..=at]);
            start = at + 1;
        }
    }
    pieces.push(&line[start..]);
    pieces
}

/// The line without its comment.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn is_label(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|letter: char| letter.is_ascii_digit())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '%'))
}

#[derive(Default)]
struct Reader<'a> {
    files: HashMap<&'a str, &'a str>,
    function: Option<String>,
    /// Open braces of the function.
    depth: usize,
    at: Option<SourcePlace>,
    /// Whether a statement goes on from the line before.
    open: bool,
}

impl Reader<'_> {
    fn line(&mut self, text: &str) -> CodeLine {
        let code = code_of(text).trim();
        if self.depth == 0 {
            self.function = name_of(code).or(self.function.take().filter(|_| !code.ends_with(';')));
        }
        let mut line = CodeLine { text: text.to_owned(), function: self.function.clone(), ..CodeLine::default() };
        if self.depth > 0 && !self.open {
            if let Some(rest) = code.strip_prefix(".loc") {
                self.at = self.place(rest);
            } else if let Some(label) = code.strip_suffix(':').filter(|label| is_label(label)) {
                line.label = Some(label.to_owned());
            } else {
                line.instruction = instruction(code);
            }
        }
        line.at = line.instruction.as_ref().and(self.at.clone());
        self.open = line.instruction.is_some() && !code.ends_with(';') || self.open && !code.ends_with(';');
        self.count_braces(code);
        line
    }

    fn count_braces(&mut self, code: &str) {
        let opened = code.matches('{').count();
        let closed = code.matches('}').count();
        let was_inside = self.depth > 0;
        self.depth = (self.depth + opened).saturating_sub(closed);
        if was_inside && self.depth == 0 {
            (self.function, self.at, self.open) = (None, None, false);
        }
    }

    /// `1 7 9`, or `2 52 5, function_name $L__info_string0, inlined_at 1 7 9`.
    fn place(&self, text: &str) -> Option<SourcePlace> {
        let own = self.file_and_line(text)?;
        let outer = text.split_once("inlined_at").and_then(|(_, rest)| self.file_and_line(rest));
        let (path, line) = match outer {
            Some(outer) if is_header(own.0) => outer,
            _ => own,
        };
        (line > 0).then(|| SourcePlace { piece: piece(path), line })
    }

    fn file_and_line(&self, text: &str) -> Option<(&str, u32)> {
        let mut words = text.split_whitespace().map(|word| word.trim_end_matches(','));
        let path = self.files.get(words.next()?)?;
        Some((path, words.next()?.parse().ok()?))
    }
}

/// The name that `.entry NAME(` or `.func (...) NAME(` declares.
fn name_of(code: &str) -> Option<String> {
    let entry = code.split_once(".entry ").map(|(_, rest)| rest);
    let function = || {
        let rest = code.split_once(".func ")?.1.trim_start();
        Some(if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest })
    };
    let name = entry.or_else(function)?.trim_start().split(['(', ' ', '\t', '{']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Reads `@%p1 bra $L__BB0_3;`. Directives and braces are none.
fn instruction(code: &str) -> Option<Instruction> {
    let code = code.trim_end_matches(';').trim();
    let (predicate, rest) = match code.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).map(|(predicate, rest)| (Some(predicate), rest.trim()))?,
        None => (None, code),
    };
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if !opcode.starts_with(|letter: char| letter.is_ascii_lowercase()) || opcode.ends_with(':') {
        return None;
    }
    let mut found = Instruction::plain(opcode, InstructionKind::Other);
    (found.kind, found.bytes) = ptx_kind(opcode, operands);
    let base = opcode.split('.').next().unwrap_or_default();
    if base == "bra" {
        found.jumps.push(operands.trim().to_owned());
    }
    let leaves = matches!(base, "bra" | "brx" | "ret" | "exit" | "trap");
    found.goes_on = predicate.is_some() || !leaves;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//\n.version 9.0\n.func (.param .b32 r) helper(.param .b32 a)\n;\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\
        \t.reg .pred %p<2>;\n\t.loc\t1 3 5\n\tld.param.u64 \t%rd1, [k_param_0];\n$L1:\n\t.loc\t2 9 1, function_name $s, inlined_at 1 4 9\n\
        \tld.global.v4.f32 \t{%f1, %f2, %f3, %f4}, [%rd1];\n\t{ .reg .b32 t; mov.u32 t, %r1; mov.u32 %r2, t; }\n\
        \tcall.uni (r),\n\thelper,\n\t(\n\tp\n\t);\n\t.loc\t1 0 0\n\t@%p1 bra \t$L1;\n\tret;\n}\n\
        \t.file\t1 \"/tmp/device code\"\n\t.file\t2 \"/cuda/include/cuda_fp16.h\"\n";

    fn shown(line: &CodeLine) -> Option<String> {
        let found = line.instruction.as_ref()?;
        let at = line.at.as_ref().map_or("-".to_owned(), |at| format!("{}:{}", at.piece, at.line));
        let (function, bytes) = (line.function.as_deref().unwrap_or("-"), found.bytes.unwrap_or(0));
        Some(format!("{function} {at} {} {:?} {bytes} {:?} {}", found.opcode, found.kind, found.jumps, found.goes_on))
    }

    #[test]
    fn statements_are_read_with_their_places() {
        let lines = lines(TEXT);
        let found: Vec<String> = lines.iter().filter_map(shown).collect();
        assert_eq!(
            found,
            [
                "k device code:3 ld.param.u64 ConstantLoad 8 [] true",
                "k device code:4 ld.global.v4.f32 GlobalLoad 16 [] true",
                "k device code:4 mov.u32 Move 0 [] true",
                "k device code:4 mov.u32 Move 0 [] true",
                "k device code:4 call.uni Control 0 [] true",
                "k - bra Control 0 [\"$L1\"] true",
                "k - ret Control 0 [] false",
            ]
        );
        assert_eq!(lines.iter().filter_map(|line| line.label.as_deref()).collect::<Vec<_>>(), ["$L1"]);
        assert_eq!(lines.last().and_then(|line| line.function.as_deref()), None);
    }

    #[test]
    fn other_text_has_no_instructions() {
        for text in
            ["", "{", "}}}", ".entry {", ".entry f(\n{", "x: y: z;", ".file 1 \"", ".loc 1 1 1", "@", "\u{1F600}:;"]
        {
            assert!(lines(text).iter().all(|line| line.instruction.is_none()), "{text:?}");
        }
    }
}
