//! The text of `nvdisasm` as lines: sections, labels, source lines, instructions. Text of another form gives lines without
//! instructions.

use super::{is_header, piece, sass_kinds};
use peak_backend_api::{CodeLine, Instruction, InstructionKind, SourcePlace};

/// How the section of an entry begins.
const SECTION: &str = ".section\t.text.";
/// How a note of a source line begins.
const NOTE: &str = "//## File ";

/// Every line of the text.
pub(super) fn lines(text: &str) -> Vec<CodeLine> {
    let (mut function, mut at): (Option<String>, Option<SourcePlace>) = (None, None);
    // Where a line was inlined, a note for each call follows its own, innermost first.
    let mut noted = false;
    let read = |text: &str| {
        let code = text.trim();
        if let Some(section) = code.strip_prefix(SECTION) {
            (function, at) = (Some(section.split([',', '"']).next().unwrap_or_default().to_owned()), None);
        } else if code.starts_with(".section") {
            (function, at) = (None, None);
        }
        let mut line = CodeLine { text: text.to_owned(), function: function.clone(), ..CodeLine::default() };
        if let Some(note) = code.strip_prefix(NOTE) {
            at = place(note, at.take().filter(|_| noted));
            noted = true;
            return line;
        }
        noted = false;
        if function.is_some() {
            line.label = code.strip_suffix(':').filter(|label| !label.contains(' ')).map(str::to_owned);
            line.instruction = instruction(code);
            line.at = line.instruction.as_ref().and(at.clone());
        }
        line
    };
    text.lines().map(read).collect()
}

/// Reads `"/folder/device code", line 7 inlined at "/folder/device code", line 9`; `outer` is the place that an earlier note
/// of the same code gave.
fn place(note: &str, outer: Option<SourcePlace>) -> Option<SourcePlace> {
    if outer.is_some() {
        return outer;
    }
    let quoted = |text: &str| -> Option<(String, u32)> {
        let (path, rest) = text.trim_start().strip_prefix('"')?.split_once('"')?;
        let digits: String = rest.strip_prefix(", line ")?.chars().take_while(char::is_ascii_digit).collect();
        Some((path.to_owned(), digits.parse().ok()?))
    };
    let own = quoted(note)?;
    let caller = note.split_once("inlined at").and_then(|(_, rest)| quoted(rest));
    let (path, line) = if is_header(&own.0) { caller.unwrap_or(own) } else { own };
    (line > 0).then(|| SourcePlace { piece: piece(&path), line })
}

/// Reads `/*0690*/               @P1 BRA `(.L_x_4) ;`.
fn instruction(code: &str) -> Option<Instruction> {
    let (offset, rest) = code.strip_prefix("/*")?.split_once("*/")?;
    u64::from_str_radix(offset, 16).ok()?;
    let rest = rest.split(';').next()?.trim();
    let (predicate, rest) = match rest.strip_prefix('@') {
        Some(rest) => rest.split_once(' ').map(|(predicate, rest)| (Some(predicate), rest.trim()))?,
        None => (None, rest),
    };
    let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    if !opcode.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return None;
    }
    let mut found = Instruction::plain(opcode, InstructionKind::Other);
    (found.kind, found.bytes) = sass_kinds::kind(opcode);
    let base = opcode.split('.').next().unwrap_or_default();
    if matches!(base, "BRA" | "JMP") {
        let label = operands.split_once("`(").and_then(|(_, rest)| rest.split(')').next());
        found.jumps.extend(label.map(str::to_owned));
    }
    // A second predicate may stand among the operands: `BRA P0, `(.L_x_4)`.
    let always = predicate.is_none() && operands.trim_start().starts_with(['`', '0']);
    found.goes_on = match base {
        "BRA" | "JMP" => !always,
        "EXIT" | "RET" | "BRX" | "JMX" | "KILL" => predicate.is_some(),
        _ => true,
    };
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\t.target\tsm_90a\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n\
        \t//## File \"/cuda/include/cuda_fp16.h\", line 9 inlined at \"/tmp/device code\", line 4\n\
        \t//## File \"/tmp/device code\", line 4\n\
        \x20       /*0000*/                   LDG.E.128 R4, desc[UR6][R2.64] ;\n.L_x_0:\n\
        \t//## File \"/tmp/macros\", line 2\n\
        \x20       /*0010*/                   FFMA R1, R2, R3, R1 ;\n\
        \x20       /*0020*/               @P1 BRA `(.L_x_0) ;\n        /*0030*/                   EXIT ;\n\
        .L_x_1:\n        /*0040*/                   BRA `(.L_x_1);\n\t.section\t.nv.shared.k\n  /*0050*/ NOP ;\n";

    #[test]
    fn the_tools_text_is_read() {
        let shown = |line: &CodeLine| {
            let found = line.instruction.as_ref()?;
            let at = line.at.as_ref().map_or("-".to_owned(), |at| format!("{}:{}", at.piece, at.line));
            let function = line.function.as_deref().unwrap_or("-");
            Some(format!("{function} {at} {} {:?} {:?} {}", found.opcode, found.kind, found.jumps, found.goes_on))
        };
        assert_eq!(
            lines(TEXT).iter().filter_map(shown).collect::<Vec<_>>(),
            [
                "k device code:4 LDG.E.128 GlobalLoad [] true",
                "k macros:2 FFMA FmaF32 [] true",
                "k macros:2 BRA Control [\".L_x_0\"] true",
                "k macros:2 EXIT Control [] false",
                "k macros:2 BRA Control [\".L_x_1\"] false",
            ]
        );
    }

    #[test]
    fn other_text_has_no_instructions() {
        for text in ["", "/*", "/**/", "/*zz*/ NOP ;", "/*00*/ @P0", "//## File \"", "//## File \"a\", line x"] {
            let text = format!("\t.section\t.text.k,\n{text}");
            assert!(lines(&text).iter().all(|line| line.instruction.is_none()), "{text:?}");
        }
    }
}
