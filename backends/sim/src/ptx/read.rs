//! Reads each statement with the grammar, and puts bodies together.

use super::cut::{Piece, PieceKind, cut, quote, without_comments};
use super::syntax::{
    Declarator, FunctionSyntax, InstructionSyntax, OperandSyntax, Statement, StatementKind, Tree, VariableSyntax,
};
use super::{MAX_SCOPES, MAX_TEXT_BYTES, PtxError};
use pest::Parser;
use pest::iterators::Pair;

#[allow(missing_docs, reason = "pest names its rules after the grammar, which documents them")]
mod grammar {
    /// The grammar of one statement.
    #[derive(pest_derive::Parser)]
    #[grammar = "../ptx.pest"]
    pub(super) struct Ptx;
}
use grammar::{Ptx, Rule};

/// Reads a module and hands its tree to `then` (the tree borrows a copy without comments).
///
/// # Errors
/// The first statement that is not PTX, with its line, or what `then` gives.
pub(crate) fn read<T>(text: &str, then: impl FnOnce(&Tree<'_>) -> Result<T, PtxError>) -> Result<T, PtxError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(PtxError::new(1, format!("the text is over {MAX_TEXT_BYTES} bytes")));
    }
    let text = without_comments(text);
    then(&tree(&cut(&text)?)?)
}

fn tree<'t>(pieces: &[Piece<'t>]) -> Result<Tree<'t>, PtxError> {
    let mut tree = Tree::default();
    let mut pieces = pieces.iter();
    while let Some(piece) = pieces.next() {
        let text = piece.text;
        match piece.kind {
            PieceKind::Header => {
                let mut function = header(piece)?;
                function.body = Some(body(&mut pieces, piece.line)?);
                tree.functions.push(function);
            }
            PieceKind::Statement if text.contains(".func") || text.contains(".entry") => {
                tree.functions.push(header(piece)?);
            }
            PieceKind::Statement if text.starts_with(".pragma") => {}
            PieceKind::Statement => tree.variables.push(variable(piece)?),
            PieceKind::Line if text.starts_with(".file") => {
                let parts: Vec<_> = parse(Rule::file, piece)?.into_inner().collect();
                if let [index, name, ..] = parts.as_slice() {
                    tree.files.push((small(integer(index, piece)?), name.as_str().trim_matches('"')));
                }
            }
            PieceKind::Line if text.starts_with(".target") => {
                tree.target = parse(Rule::target, piece)?.into_inner().next().map(|name| name.as_str());
            }
            PieceKind::Line if text.starts_with(".address_size") => {
                let size = parse(Rule::address_size, piece)?.into_inner().next();
                if size.is_none_or(|size| size.as_str() != "64") {
                    return Err(PtxError::new(piece.line, "only 64-bit addresses are modelled"));
                }
            }
            PieceKind::Line if text.starts_with(".version") => {
                parse(Rule::version, piece)?;
            }
            PieceKind::Line => {}
            _ => return Err(unreadable(piece)),
        }
    }
    Ok(tree)
}

/// A body up to its closing brace.
fn body<'t>(pieces: &mut std::slice::Iter<'_, Piece<'t>>, header_line: u32) -> Result<Vec<Statement<'t>>, PtxError> {
    let mut depth = 0;
    let mut statements = Vec::new();
    for piece in pieces {
        let kind = match piece.kind {
            PieceKind::Open => {
                depth += 1;
                if depth > MAX_SCOPES {
                    return Err(PtxError::new(piece.line, format!("scopes nest deeper than {MAX_SCOPES}")));
                }
                StatementKind::Open
            }
            PieceKind::Close => {
                depth -= 1;
                if depth == 0 {
                    return Ok(statements);
                }
                StatementKind::Close
            }
            PieceKind::Label => StatementKind::Label(piece.text),
            PieceKind::Line if piece.text.starts_with(".loc") => {
                let mut parts = parse(Rule::location, piece)?.into_inner();
                let mut next = || parts.next().map_or(Ok(0), |part| integer(&part, piece));
                let own = (small(next()?), small(next()?));
                StatementKind::Location(own, inlined_at(piece.text))
            }
            PieceKind::Statement if piece.text.starts_with(".pragma") => continue,
            PieceKind::Statement if piece.text.starts_with(".branchtargets") => {
                let names = parse(Rule::targets, piece)?.into_inner();
                let names = names.filter(|part| part.as_rule() == Rule::name);
                StatementKind::Targets(names.map(|name| name.as_str()).collect())
            }
            PieceKind::Statement if piece.text.starts_with('.') => StatementKind::Variable(variable(piece)?),
            PieceKind::Statement => match instruction(piece) {
                Ok(instruction) => StatementKind::Instruction(instruction),
                Err(_) => StatementKind::Unread(piece.text),
            },
            PieceKind::Line | PieceKind::Header => return Err(unreadable(piece)),
        };
        // The body's own braces are not statements.
        if depth > 1 || !matches!(kind, StatementKind::Open) {
            statements.push(Statement { line: piece.line, kind });
        }
    }
    Err(PtxError::new(header_line, "a body that does not end"))
}

fn parse<'t>(rule: Rule, piece: &Piece<'t>) -> Result<Pair<'t, Rule>, PtxError> {
    match Ptx::parse(rule, piece.text) {
        Ok(mut pairs) => pairs.next().ok_or_else(|| unreadable(piece)),
        Err(_) => Err(unreadable(piece)),
    }
}

fn unreadable(piece: &Piece<'_>) -> PtxError {
    PtxError::new(piece.line, format!("this is not PTX that the simulator reads: `{}`", quote(piece.text)))
}

fn header<'t>(piece: &Piece<'t>) -> Result<FunctionSyntax<'t>, PtxError> {
    let mut function = FunctionSyntax {
        name: "",
        line: piece.line,
        is_entry: false,
        returns: Vec::new(),
        parameters: Vec::new(),
        directives: Vec::new(),
        body: None,
    };
    for part in parse(Rule::header, piece)?.into_inner() {
        match part.as_rule() {
            Rule::kind => function.is_entry = part.as_str() == ".entry",
            Rule::name => function.name = part.as_str(),
            Rule::returns => {
                for list in part.into_inner() {
                    function.returns = parameters(list, piece)?;
                }
            }
            Rule::parameters => function.parameters = parameters(part, piece)?,
            Rule::directive => {
                let mut parts = part.into_inner();
                let name = parts.next().map_or("", |word| word.as_str());
                let numbers = parts.map(|number| integer(&number, piece)).collect::<Result<_, _>>()?;
                function.directives.push((name, numbers));
            }
            _ => {}
        }
    }
    Ok(function)
}

fn parameters<'t>(list: Pair<'t, Rule>, piece: &Piece<'t>) -> Result<Vec<VariableSyntax<'t>>, PtxError> {
    list.into_inner().map(|parameter| declaration(parameter, piece)).collect()
}

fn variable<'t>(piece: &Piece<'t>) -> Result<VariableSyntax<'t>, PtxError> {
    declaration(parse(Rule::variable, piece)?, piece)
}

/// A variable or a parameter: they differ only in where the name stands.
fn declaration<'t>(pair: Pair<'t, Rule>, piece: &Piece<'t>) -> Result<VariableSyntax<'t>, PtxError> {
    let mut variable =
        VariableSyntax { line: piece.line, words: Vec::new(), align: None, declarators: Vec::new(), values: None };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::align => variable.align = part.into_inner().next().map(|it| integer(&it, piece)).transpose()?,
            Rule::dotted => variable.words.push(&part.as_str()[1..]),
            Rule::name => {
                variable.declarators.push(Declarator { name: part.as_str(), count: None, extents: Vec::new() });
            }
            Rule::extent => {
                let extent = part.into_inner().next().map(|it| integer(&it, piece)).transpose()?;
                if let Some(last) = variable.declarators.last_mut() {
                    last.extents.push(extent);
                }
            }
            Rule::declarator => variable.declarators.push(declarator(part, piece)?),
            Rule::values => {
                let values = part.into_inner().map(|value| operand(value, piece)).collect::<Result<_, _>>()?;
                variable.values = Some(values);
            }
            _ => {}
        }
    }
    Ok(variable)
}

fn declarator<'t>(pair: Pair<'t, Rule>, piece: &Piece<'t>) -> Result<Declarator<'t>, PtxError> {
    let mut declarator = Declarator { name: "", count: None, extents: Vec::new() };
    for part in pair.into_inner() {
        let rule = part.as_rule();
        if rule == Rule::name {
            declarator.name = part.as_str();
            continue;
        }
        let number = part.into_inner().next().map(|it| integer(&it, piece)).transpose()?;
        match rule {
            Rule::count => declarator.count = number,
            _ => declarator.extents.push(number),
        }
    }
    Ok(declarator)
}

fn instruction<'t>(piece: &Piece<'t>) -> Result<InstructionSyntax<'t>, PtxError> {
    let mut instruction = InstructionSyntax { guard: None, opcode: "", operands: Vec::new() };
    for part in parse(Rule::instruction, piece).map_err(|error| operands_of(piece).unwrap_or(error))?.into_inner() {
        match part.as_rule() {
            Rule::guard => {
                let negated = part.as_str()[1..].trim_start().starts_with('!');
                instruction.guard = part.into_inner().last().map(|name| (name.as_str(), negated));
            }
            Rule::opcode => instruction.opcode = part.as_str(),
            Rule::EOI => {}
            _ => instruction.operands.push(operand(part, piece)?),
        }
    }
    Ok(instruction)
}

/// What is said of an instruction that the grammar reads no further than its opcode: tensor coordinates, say.
fn operands_of(piece: &Piece<'_>) -> Option<PtxError> {
    let mut parts = parse(Rule::beginning, piece).ok()?.into_inner();
    let opcode = parts.find(|part| part.as_rule() == Rule::opcode)?.as_str();
    let dotted = opcode.contains('.');
    dotted.then(|| PtxError::new(piece.line, format!("`{}` is not modelled with operands of this form", quote(opcode))))
}

fn operand<'t>(pair: Pair<'t, Rule>, piece: &Piece<'t>) -> Result<OperandSyntax<'t>, PtxError> {
    let text = pair.as_str();
    Ok(match pair.as_rule() {
        Rule::name => OperandSyntax::Name(text),
        Rule::component => OperandSyntax::Component(text),
        Rule::integer => OperandSyntax::Integer(integer(&pair, piece)?),
        Rule::single => OperandSyntax::Single(hexadecimal(text, 1 << 31, piece)? as u32),
        Rule::double => OperandSyntax::Double(hexadecimal(text, 1 << 63, piece)?),
        Rule::decimal => OperandSyntax::Double(text.parse::<f64>().map_err(|_| unreadable(piece))?.to_bits()),
        Rule::negation => OperandSyntax::Not(text[1..].trim_start()),
        Rule::vector => {
            OperandSyntax::Vector(pair.into_inner().map(|it| operand(it, piece)).collect::<Result<_, _>>()?)
        }
        Rule::list => OperandSyntax::List(pair.into_inner().map(|it| operand(it, piece)).collect::<Result<_, _>>()?),
        Rule::pair => {
            let mut names = pair.into_inner().map(|name| name.as_str());
            OperandSyntax::Pair(names.next().unwrap_or("_"), names.next().unwrap_or("_"))
        }
        Rule::symbol => {
            let mut parts = pair.into_inner();
            let name = parts.next().map_or("", |name| name.as_str());
            OperandSyntax::Symbol(name, parts.next().map_or(Ok(0), |it| integer(&it, piece))?)
        }
        Rule::address => address(pair, piece)?,
        _ => return Err(unreadable(piece)),
    })
}

fn address<'t>(pair: Pair<'t, Rule>, piece: &Piece<'t>) -> Result<OperandSyntax<'t>, PtxError> {
    let mut parts = pair.into_inner();
    let base = parts.next().ok_or_else(|| unreadable(piece))?;
    let offset = match parts.next().and_then(|offset| offset.into_inner().next()) {
        Some(number) => integer(&number, piece)?,
        None => 0,
    };
    Ok(match base.as_rule() {
        Rule::name => OperandSyntax::Address(base.as_str(), offset),
        _ => OperandSyntax::Absolute(integer(&base, piece)?.wrapping_add(offset)),
    })
}

/// The bits of `0f3F800000`; a minus sign before it flips the sign bit.
fn hexadecimal(text: &str, sign: u64, piece: &Piece<'_>) -> Result<u64, PtxError> {
    let (flip, text) = text.strip_prefix('-').map_or((0, text), |rest| (sign, rest));
    u64::from_str_radix(&text[2..], 16).map(|bits| bits ^ flip).map_err(|_| unreadable(piece))
}

/// An integer of 64 bits, signed or not: the bits are what counts.
fn integer(pair: &Pair<'_, Rule>, piece: &Piece<'_>) -> Result<i64, PtxError> {
    let text = pair.as_str();
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = digits.strip_suffix('U').unwrap_or(digits);
    let lower = digits.to_ascii_lowercase();
    let value = match lower.as_bytes() {
        [b'0', b'x', ..] => u64::from_str_radix(&lower[2..], 16),
        [b'0', b'b', ..] => u64::from_str_radix(&lower[2..], 2),
        [b'0', _, ..] => u64::from_str_radix(&lower[1..], 8),
        _ => lower.parse(),
    };
    let value = value.map_err(|_| unreadable(piece))?.cast_signed();
    Ok(if negative { value.wrapping_neg() } else { value })
}

/// File and line after `inlined_at`.
fn inlined_at(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_once("inlined_at")?.1.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn small(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
