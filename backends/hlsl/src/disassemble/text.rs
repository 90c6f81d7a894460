//! The text of a SPIR-V module as lines: labels, the source lines of `OpLine`, and what each instruction is. Text that is no
//! SPIR-V gives lines without instructions.

use super::kinds;
use peak_backend_api::{CodeLine, Instruction, SourcePlace};
use std::collections::HashMap;

/// Every line of a module whose entry point is `entry`, the source text that it carries left out.
pub(super) fn lines(text: &str, entry: &str) -> Vec<CodeLine> {
    let text = without_source(text);
    let module = Module::read(&text);
    let mut reader = Reader { module: &module, entry, function: None, at: None };
    text.lines().map(|line| reader.line(line)).collect()
}

/// The text without the string of `OpSource`: it spans lines, and may hold anything.
fn without_source(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        let mut rest = line;
        let starts =
            !inside && ["OpSource ", "OpSourceContinued "].iter().any(|name| line.trim_start().starts_with(name));
        if starts && let Some((before, string)) = line.split_once('"') {
            kept.push_str(before.trim_end());
            kept.push('\n');
            (inside, rest) = (true, string);
        }
        match inside {
            true => inside = !closes(rest),
            false => {
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    kept
}

/// Whether a quote that no backslash stands before ends the string.
fn closes(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|letter| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    })
}

/// One instruction of the text, in words.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    /// `%12`, where it has a result.
    pub result: Option<&'a str>,
    /// `OpLoad`.
    pub opcode: &'a str,
    /// Its operands; the type first, where it has a result with one.
    pub operands: Vec<&'a str>,
}

impl<'a> Words<'a> {
    /// Reads `%12 = OpLoad %float %11`; `None` where the line is none.
    fn read(line: &'a str) -> Option<Words<'a>> {
        let code = line.split(';').next()?.trim();
        let (result, rest) = match code.split_once(" = ") {
            Some((result, rest)) if result.starts_with('%') => (Some(result.trim()), rest),
            _ => (None, code),
        };
        let mut words = rest.split_whitespace();
        let opcode = words.next().filter(|word| word.starts_with("Op"))?;
        Some(Words { result, opcode, operands: words.collect() })
    }
}

/// What identifiers of a module stand for.
#[derive(Default)]
pub(super) struct Module<'a> {
    /// Types and constants, as they are declared.
    declared: HashMap<&'a str, Words<'a>>,
    /// The type of every value.
    types: HashMap<&'a str, &'a str>,
    files: HashMap<&'a str, &'a str>,
    /// The function of the entry point.
    entry: Option<&'a str>,
}

impl<'a> Module<'a> {
    fn read(text: &'a str) -> Module<'a> {
        let mut module = Module::default();
        for line in text.lines() {
            let Some(words) = Words::read(line) else { continue };
            match (words.opcode, words.result) {
                ("OpString", Some(id)) => {
                    let name = line.split('"').nth(1).unwrap_or_default();
                    module.files.insert(id, name);
                }
                ("OpEntryPoint", _) => module.entry = words.operands.get(1).copied(),
                (opcode, Some(id)) if opcode.starts_with("OpType") => {
                    module.declared.insert(id, words);
                }
                (_, Some(id)) => {
                    module.types.extend(words.operands.first().map(|of| (id, *of)));
                }
                _ => {}
            }
        }
        module
    }

    /// The declaration of a type.
    pub fn declaration(&self, of: &str) -> Option<&Words<'a>> {
        self.declared.get(of)
    }

    /// The type of a value.
    pub fn type_of(&self, id: &str) -> Option<&'a str> {
        self.types.get(id).copied()
    }

    /// Bytes of a number or a vector of numbers.
    pub fn bytes(&self, of: &str) -> Option<u32> {
        let declared = self.declaration(of)?;
        let number = |place: usize| declared.operands.get(place)?.parse::<u32>().ok();
        match declared.opcode {
            "OpTypeInt" | "OpTypeFloat" => Some(number(0)? / 8),
            // A vector of vectors there is none, so this ends.
            "OpTypeVector" => {
                let element = self.declaration(declared.operands.first()?)?;
                let bits: u32 = element.operands.first()?.parse().ok()?;
                Some(bits / 8 * number(1)?)
            }
            _ => None,
        }
    }
}

struct Reader<'a> {
    module: &'a Module<'a>,
    entry: &'a str,
    function: Option<String>,
    at: Option<SourcePlace>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, text: &'a str) -> CodeLine {
        let words = Words::read(text);
        if let Some(("OpFunction", Some(id))) = words.as_ref().map(|words| (words.opcode, words.result)) {
            let is_entry = self.module.entry == Some(id);
            self.function = Some(if is_entry { self.entry.to_owned() } else { id.to_owned() });
        }
        let mut line = CodeLine { text: text.to_owned(), function: self.function.clone(), ..CodeLine::default() };
        let Some(words) = words.filter(|_| self.function.is_some()) else { return line };
        match words.opcode {
            "OpLine" => self.at = self.place(&words),
            "OpNoLine" => self.at = None,
            "OpLabel" => line.label = words.result.map(str::to_owned),
            "OpFunctionEnd" => (self.function, self.at) = (None, None),
            _ => line.instruction = self.instruction(&words),
        }
        line.at = line.instruction.as_ref().and(self.at.clone());
        if line.instruction.as_ref().is_some_and(|found| !found.goes_on) {
            // A line's reach ends with its block.
            self.at = None;
        }
        line
    }

    fn place(&self, words: &Words<'_>) -> Option<SourcePlace> {
        let piece = *self.module.files.get(words.operands.first()?)?;
        let line = words.operands.get(1)?.parse().ok().filter(|line| *line > 0)?;
        Some(SourcePlace { piece: piece.to_owned(), line })
    }

    /// Declarations of structure are none.
    fn instruction(&self, words: &Words<'_>) -> Option<Instruction> {
        let (kind, bytes) = kinds::kind(words, self.module)?;
        let labels = || words.operands.iter().filter(|operand| operand.starts_with('%'));
        let jumps = match words.opcode {
            "OpBranch" => labels().collect(),
            "OpBranchConditional" | "OpSwitch" => labels().skip(1).collect(),
            _ => Vec::new(),
        };
        let leaves =
            ["OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue", "OpKill", "OpUnreachable"];
        let mut found = Instruction::plain(words.opcode, kind);
        found.bytes = bytes;
        found.jumps = jumps.into_iter().map(|label| (*label).to_owned()).collect();
        found.goes_on = !leaves.contains(&words.opcode);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "OpEntryPoint GLCompute %main \"matmul\" %A\n%7 = OpString \"device code\"\n%float = OpTypeFloat 32\n\
        %v4float = OpTypeVector %float 4\n%_ptr_StorageBuffer_v4float = OpTypePointer StorageBuffer %v4float\n\
        %_ptr_Workgroup_float = OpTypePointer Workgroup %float\n%main = OpFunction %void None %3\n%4 = OpLabel\n\
        OpLine %7 12 3\n%8 = OpAccessChain %_ptr_StorageBuffer_v4float %A %int_0 %9\n%10 = OpLoad %v4float %8\n\
        %11 = OpAccessChain %_ptr_Workgroup_float %S %9\nOpStore %11 %12\n%13 = OpExtInst %float %1 Fma %12 %12 %12\n\
        %14 = OpFMul %v4float %10 %10\nOpLoopMerge %20 %21 None\nOpBranchConditional %b %20 %21\n%20 = OpLabel\nOpReturn\n\
        OpFunctionEnd\n";

    #[test]
    fn a_module_is_read() {
        let shown = |line: &CodeLine| {
            let found = line.instruction.as_ref()?;
            let at = line.at.as_ref().map_or("-".to_owned(), |at| format!("{}:{}", at.piece, at.line));
            Some(format!("{at} {} {:?} {:?} {:?}", found.opcode, found.kind, found.bytes, found.jumps))
        };
        let lines = lines(TEXT, "matmul");
        assert_eq!(
            lines.iter().filter_map(shown).collect::<Vec<_>>(),
            [
                "device code:12 OpAccessChain Integer None []",
                "device code:12 OpLoad GlobalLoad Some(16) []",
                "device code:12 OpAccessChain Integer None []",
                "device code:12 OpStore SharedStore Some(4) []",
                "device code:12 OpExtInst FmaF32 None []",
                "device code:12 OpFMul F32 None []",
                "device code:12 OpBranchConditional Control None [\"%20\", \"%21\"]",
                "- OpReturn Control None []",
            ]
        );
        assert!(lines.iter().filter_map(|line| line.function.as_deref()).all(|name| name == "matmul"));
    }

    #[test]
    fn the_source_that_a_module_carries_is_left_out() {
        let source = "OpSource HLSL 660 %7 \"#line 1 \\\"x\\\"\n%f = OpFunction\nOpReturn\n\"\nOpName %A \"A\"\n";
        assert_eq!(without_source(source), "OpSource HLSL 660 %7\nOpName %A \"A\"\n");
        assert!(lines(source, "f").iter().all(|line| line.instruction.is_none()));
    }

    #[test]
    fn other_text_has_no_instructions() {
        for text in
            ["", "%1 = ", "OpLine", "OpFunction", "%f = OpFunction\nOpLine %1\nOpLabel", "%f = OpFunction\n\u{1F600}"]
        {
            assert!(lines(text, "f").iter().all(|line| line.instruction.is_none()), "{text:?}");
        }
    }
}
