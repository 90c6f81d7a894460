//! Syntax to IR: scopes, names, sizes.

use super::{
    Base, Function, Inst, Lacking, Module, Operand, Reg, SPECIALS, SourcePlace, Space, Type, Variable, VariableId,
};
use crate::ptx::{
    FunctionSyntax, InstructionSyntax, OperandSyntax, PtxError, Statement, StatementKind, Tree, VariableSyntax, quote,
};
use std::collections::HashMap;
use std::sync::Arc;

/// The largest variable, in bytes. What fits the device is checked where it is placed.
const MAX_VARIABLE_BYTES: u64 = 1 << 32;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Name {
    Reg(Reg),
    Variable(VariableId),
}

/// Names of one pair of braces.
#[derive(Debug, Default)]
struct Scope<'t> {
    names: HashMap<&'t str, Name>,
    /// `%r<10>`: prefix, count, type.
    ranges: Vec<(&'t str, u64, Type)>,
}

/// Looks every name of a module up. `is_opcode` tells the opcodes that there are.
///
/// # Errors
/// A module variable of a type or a size that is not modelled, a function that is defined twice. What is wrong within a
/// function is an error of that function alone: [`Module::lacking`].
pub(crate) fn resolve(tree: &Tree<'_>, is_opcode: fn(&str) -> bool) -> Result<Module, PtxError> {
    let mut module = Module::default();
    let mut globals = Scope::default();
    for syntax in &tree.variables {
        let space = memory_space(syntax)?;
        for id in declare(&mut module, &mut globals, syntax, space)? {
            initialize(&mut module, &globals, syntax, id)?;
        }
    }
    let files: Files =
        tree.files.iter().map(|(at, name)| (*at, (Arc::from(base_name(name)), is_header(name)))).collect();
    let names: Vec<&str> = tree.functions.iter().map(|function| function.name).collect();
    for syntax in &tree.functions {
        let Some(body) = &syntax.body else { continue };
        let mut known = module.functions.iter().map(|it| &it.name).chain(module.lacking.iter().map(|it| &it.name));
        if known.any(|known| known == syntax.name) {
            return Err(PtxError::new(syntax.line, format!("`{}` is defined twice", syntax.name)));
        }
        match Resolver::new(&mut module, &globals, &files, &names, is_opcode).function(syntax, body) {
            Ok(function) => module.functions.push(function),
            Err(error) => {
                let (name, is_entry) = (syntax.name.to_owned(), syntax.is_entry);
                module.lacking.push(Lacking { name, is_entry, error });
            }
        }
    }
    Ok(module)
}

/// Names of source files by number, and whether each is a header of the toolkit.
type Files = HashMap<u32, (Arc<str>, bool)>;

fn is_header(path: &str) -> bool {
    path.contains("/include/")
}

/// NVRTC writes the working folder before a name that it was given.
fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

struct Resolver<'r, 't> {
    module: &'r mut Module,
    globals: &'r Scope<'t>,
    files: &'r Files,
    functions: &'r [&'t str],
    is_opcode: fn(&str) -> bool,
    scopes: Vec<Scope<'t>>,
    registers: Vec<Type>,
    labels: HashMap<&'t str, usize>,
    place: Option<SourcePlace>,
}

impl<'r, 't> Resolver<'r, 't> {
    fn new(
        module: &'r mut Module,
        globals: &'r Scope<'t>,
        files: &'r Files,
        functions: &'r [&'t str],
        is_opcode: fn(&str) -> bool,
    ) -> Resolver<'r, 't> {
        let (scopes, registers, labels) = (vec![Scope::default()], Vec::new(), HashMap::new());
        Resolver { module, globals, files, functions, is_opcode, scopes, registers, labels, place: None }
    }

    fn function(mut self, syntax: &'r FunctionSyntax<'t>, body: &'r [Statement<'t>]) -> Result<Function, PtxError> {
        let mut passed = 0;
        let mut group = |this: &mut Self, list: &'r [VariableSyntax<'t>]| -> Result<Vec<VariableId>, PtxError> {
            let mut ids = Vec::new();
            for parameter in list {
                if parameter.words.first() != Some(&"param") {
                    return Err(PtxError::new(parameter.line, "a parameter that is not in `.param` is not modelled"));
                }
                let space = if syntax.is_entry { Space::EntryParam } else { Space::Passed(passed) };
                passed += 1;
                ids.extend(declare(this.module, &mut this.scopes[0], parameter, space)?);
            }
            Ok(ids)
        };
        let returns = group(&mut self, &syntax.returns)?;
        let parameters = group(&mut self, &syntax.parameters)?;
        let labels = self.find_labels(body)?;
        let targets = self.find_targets(body)?;
        let mut locals = Vec::new();
        let mut code = Vec::new();
        for statement in body {
            match &statement.kind {
                StatementKind::Open => self.scopes.push(Scope::default()),
                StatementKind::Close => {
                    self.scopes.pop();
                }
                StatementKind::Label(_) | StatementKind::Targets(_) => {}
                StatementKind::Location(own, outer) => self.locate(*own, *outer),
                StatementKind::Variable(variable) => self.variable(variable, &mut locals)?,
                StatementKind::Instruction(instruction) => code.push(self.instruction(statement.line, instruction)?),
                StatementKind::Unread(text) => return Err(self.unread(text, statement.line)),
            }
        }
        Ok(Function {
            name: syntax.name.to_owned(),
            is_entry: syntax.is_entry,
            returns,
            parameters,
            locals,
            registers: self.registers,
            code,
            labels,
            targets,
            threads: threads(syntax),
            cluster: numbers(syntax, &[".reqnctapercluster"]).map(|(_, numbers)| numbers),
        })
    }

    /// Labels may be used before they stand; nested scopes share a function's labels.
    fn find_labels(&mut self, body: &'r [Statement<'t>]) -> Result<Vec<usize>, PtxError> {
        let mut positions = Vec::new();
        let mut instructions = 0;
        for statement in body {
            match &statement.kind {
                StatementKind::Instruction(_) => instructions += 1,
                StatementKind::Label(name) => {
                    if self.labels.insert(name, positions.len()).is_some() {
                        return Err(PtxError::new(statement.line, format!("the label `{name}` stands twice")));
                    }
                    positions.push(instructions);
                }
                _ => {}
            }
        }
        Ok(positions)
    }

    /// Each `.branchtargets` belongs to the label before it.
    fn find_targets(&self, body: &'r [Statement<'t>]) -> Result<HashMap<usize, Vec<usize>>, PtxError> {
        let mut found = HashMap::new();
        for pair in body.windows(2) {
            let [
                Statement { kind: StatementKind::Label(own), .. },
                Statement { kind: StatementKind::Targets(names), line },
            ] = pair
            else {
                continue;
            };
            let labels =
                names.iter().map(|name| self.labels.get(name).copied().ok_or_else(|| self.unknown(name, *line)));
            let Some(own) = self.labels.get(own) else { continue };
            found.insert(*own, labels.collect::<Result<_, _>>()?);
        }
        Ok(found)
    }

    /// Line 0 means that what follows belongs to no line.
    /// Of code that a header brought the place where it was inlined says more.
    fn locate(&mut self, own: (u32, u32), outer: Option<(u32, u32)>) {
        let in_header = self.files.get(&own.0).is_some_and(|(_, is_header)| *is_header);
        let (file, line) = outer.filter(|_| in_header).unwrap_or(own);
        if line > 0 {
            let name = self.files.get(&file).map(|(name, _)| Arc::clone(name));
            let file = name.unwrap_or_else(|| Arc::from("the kernel's source"));
            self.place = Some(SourcePlace { file, line });
        }
    }

    fn variable(&mut self, syntax: &VariableSyntax<'t>, locals: &mut Vec<VariableId>) -> Result<(), PtxError> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if syntax.words.first() == Some(&"reg") {
            return registers(&mut self.registers, scope, syntax);
        }
        let space = match syntax.words.first() {
            Some(&"param") => Space::Call,
            _ => memory_space(syntax)?,
        };
        let ids = declare(self.module, scope, syntax, space)?;
        if space == Space::Local {
            locals.extend(&ids);
        }
        for id in ids {
            initialize(self.module, self.globals, syntax, id)?;
        }
        Ok(())
    }

    fn instruction(&mut self, line: u32, syntax: &InstructionSyntax<'t>) -> Result<Inst, PtxError> {
        let mut words = syntax.opcode.split('.');
        let name = words.next().unwrap_or_default().to_owned();
        if !(self.is_opcode)(&name) {
            return Err(self.no_opcode(syntax.opcode, line));
        }
        let (types, modifiers): (Vec<_>, Vec<_>) = words.partition(|word| Type::named(word).is_some());
        let guard = match syntax.guard {
            Some((register, negated)) => Some((self.register(register, line)?, negated)),
            None => None,
        };
        let operands = syntax.operands.iter().map(|it| self.operand(it, line)).collect::<Result<_, _>>()?;
        Ok(Inst {
            name,
            modifiers: modifiers.into_iter().map(str::to_owned).collect(),
            types: types.into_iter().filter_map(Type::named).collect(),
            operands,
            guard,
            line,
            place: self.place.clone(),
        })
    }

    fn register(&mut self, name: &'t str, line: u32) -> Result<Reg, PtxError> {
        match self.find(name) {
            Some(Name::Reg(reg)) => Ok(reg),
            _ => Err(self.unknown(name, line)),
        }
    }

    fn operand(&mut self, syntax: &OperandSyntax<'t>, line: u32) -> Result<Operand, PtxError> {
        Ok(match syntax {
            OperandSyntax::Integer(value) => Operand::Integer(*value),
            OperandSyntax::Single(bits) => Operand::Single(*bits),
            OperandSyntax::Double(bits) => Operand::Double(*bits),
            OperandSyntax::Not(name) => Operand::Not(self.register(name, line)?),
            OperandSyntax::Component(name) => match special(name) {
                Some(special) => Operand::Special(special),
                None => return Err(self.unknown(name, line)),
            },
            OperandSyntax::Name("_") => Operand::Sink,
            OperandSyntax::Name(name) => self.name(name, line)?,
            OperandSyntax::Symbol(name, offset) => match self.find(name) {
                Some(Name::Variable(id)) => Operand::Variable(id, *offset),
                _ => return Err(self.unknown(name, line)),
            },
            OperandSyntax::Address(name, offset) => match self.find(name) {
                Some(Name::Variable(id)) => Operand::Address(Base::Variable(id), *offset),
                Some(Name::Reg(reg)) => Operand::Address(Base::Reg(reg), *offset),
                None => return Err(self.unknown(name, line)),
            },
            OperandSyntax::Absolute(value) => Operand::Address(Base::Absolute, *value),
            OperandSyntax::Pair(first, second) => {
                Operand::Pair(self.optional(first, line)?, self.optional(second, line)?)
            }
            OperandSyntax::Vector(items) => Operand::Vector(self.operands(items, line)?),
            OperandSyntax::List(items) => Operand::List(self.operands(items, line)?),
        })
    }

    fn operands(&mut self, items: &[OperandSyntax<'t>], line: u32) -> Result<Vec<Operand>, PtxError> {
        items.iter().map(|item| self.operand(item, line)).collect()
    }

    fn optional(&mut self, name: &'t str, line: u32) -> Result<Option<Reg>, PtxError> {
        if name == "_" { Ok(None) } else { self.register(name, line).map(Some) }
    }

    fn name(&mut self, name: &'t str, line: u32) -> Result<Operand, PtxError> {
        Ok(match self.find(name) {
            Some(Name::Reg(reg)) => Operand::Reg(reg),
            Some(Name::Variable(id)) => Operand::Variable(id, 0),
            None => match (self.labels.get(name), special(name)) {
                (Some(label), _) => Operand::Label(*label),
                (_, Some(special)) => Operand::Special(special),
                _ if self.functions.contains(&name) => Operand::Function(name.to_owned()),
                _ => return Err(self.unknown(name, line)),
            },
        })
    }

    fn find(&mut self, name: &'t str) -> Option<Name> {
        for scope in self.scopes.iter_mut().rev() {
            if let Some(found) = scope.names.get(name) {
                return Some(*found);
            }
            if let Some(ty) = ranged(scope, name) {
                let reg = Reg(u32::try_from(self.registers.len()).ok()?);
                self.registers.push(ty);
                scope.names.insert(name, Name::Reg(reg));
                return Some(Name::Reg(reg));
            }
        }
        self.globals.names.get(name).copied()
    }

    fn unknown(&self, name: &str, line: u32) -> PtxError {
        self.error(line, format!("`{name}` is not declared, or not modelled"), false)
    }

    fn no_opcode(&self, opcode: &str, line: u32) -> PtxError {
        self.error(line, format!("`{opcode}` is not modelled: the simulator has no such instruction"), true)
    }

    /// A statement whose operands the grammar does not hold: mostly of an instruction that is not modelled either.
    fn unread(&self, text: &str, line: u32) -> PtxError {
        let opcode = text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("");
        match (self.is_opcode)(opcode.split('.').next().unwrap_or("")) {
            true => self.error(line, format!("this is not PTX that the simulator reads: `{}`", quote(text)), false),
            false => self.no_opcode(opcode, line),
        }
    }

    fn error(&self, line: u32, problem: String, unmodelled: bool) -> PtxError {
        PtxError { line, problem, source_line: self.place.as_ref().map(ToString::to_string), unmodelled }
    }
}

fn special(name: &str) -> Option<&'static str> {
    SPECIALS.iter().find(|known| **known == name).copied()
}

/// The type of a name that a range such as `%r<10>` declares.
fn ranged(scope: &Scope<'_>, name: &str) -> Option<Type> {
    let stem = name.trim_end_matches(|it: char| it.is_ascii_digit());
    let number: u64 = name[stem.len()..].parse().ok()?;
    scope.ranges.iter().find(|(prefix, count, _)| *prefix == stem && number < *count).map(|(_, _, ty)| *ty)
}

fn registers<'t>(
    registers: &mut Vec<Type>,
    scope: &mut Scope<'t>,
    syntax: &VariableSyntax<'t>,
) -> Result<(), PtxError> {
    let [_, ty] = syntax.words.as_slice() else {
        return Err(PtxError::new(syntax.line, format!("registers of `.{}` are not modelled", syntax.words.join("."))));
    };
    let Some(ty) = Type::named(ty) else {
        return Err(PtxError::new(syntax.line, format!("registers of type `.{ty}` are not modelled")));
    };
    for declarator in &syntax.declarators {
        if let Some(count) = declarator.count {
            scope.ranges.push((declarator.name, u64::try_from(count).unwrap_or(0), ty));
        } else {
            let reg = Reg(u32::try_from(registers.len()).unwrap_or(u32::MAX));
            registers.push(ty);
            scope.names.insert(declarator.name, Name::Reg(reg));
        }
    }
    Ok(())
}

fn memory_space(syntax: &VariableSyntax<'_>) -> Result<Space, PtxError> {
    Ok(match syntax.words.first().copied() {
        Some("global") => Space::Global,
        Some("const") => Space::Const,
        Some("local") => Space::Local,
        Some("shared") => Space::Shared,
        Some("extern") if syntax.words.get(1) == Some(&"shared") => Space::Dynamic,
        Some("visible" | "weak" | "common") => {
            return memory_space(&VariableSyntax {
                line: syntax.line,
                words: syntax.words[1..].to_vec(),
                align: syntax.align,
                declarators: Vec::new(),
                values: None,
            });
        }
        _ => {
            let words = syntax.words.join(".");
            return Err(PtxError::new(syntax.line, format!("variables of `.{words}` are not modelled")));
        }
    })
}

/// Declares every name of a declaration as a variable.
fn declare<'t>(
    module: &mut Module,
    scope: &mut Scope<'t>,
    syntax: &VariableSyntax<'t>,
    space: Space,
) -> Result<Vec<VariableId>, PtxError> {
    let error = |problem: String| PtxError::new(syntax.line, problem);
    let types: Vec<Type> = syntax.words.iter().filter_map(|word| Type::named(word)).collect();
    let [ty] = types.as_slice() else {
        return Err(error(format!("variables of `.{}` are not modelled", syntax.words.join("."))));
    };
    let lanes = match syntax.words.iter().find(|word| matches!(**word, "v2" | "v4")) {
        Some(&"v2") => 2,
        Some(_) => 4,
        None => 1,
    };
    let mut ids = Vec::new();
    for declarator in &syntax.declarators {
        let mut bytes = u64::from(ty.bytes()) * lanes;
        // `.ptr .align 16` in a kernel's parameter speaks of what it points to.
        let natural = bytes;
        for extent in &declarator.extents {
            let extent = match extent {
                Some(extent) => u64::try_from(*extent).unwrap_or(u64::MAX),
                None if space == Space::Dynamic => 0,
                None => return Err(error(format!("`{}` has no size", declarator.name))),
            };
            bytes = bytes.saturating_mul(extent);
        }
        if bytes > MAX_VARIABLE_BYTES {
            return Err(error(format!("`{}` has over {MAX_VARIABLE_BYTES} bytes", declarator.name)));
        }
        let pointer = syntax.words.contains(&"ptr");
        let align = syntax.align.filter(|_| !pointer).map_or(natural, |align| u64::try_from(align).unwrap_or(0));
        if !align.is_power_of_two() || align > 1024 {
            return Err(error(format!("`{}` has an alignment of {align}", declarator.name)));
        }
        let id = VariableId(u32::try_from(module.variables.len()).unwrap_or(u32::MAX));
        let name = declarator.name.to_owned();
        module.variables.push(Variable { name, space, bytes, align, initial: Vec::new(), relocations: Vec::new() });
        scope.names.insert(declarator.name, Name::Variable(id));
        ids.push(id);
    }
    Ok(ids)
}

/// Lays out what stands after the equals sign.
fn initialize(
    module: &mut Module,
    globals: &Scope<'_>,
    syntax: &VariableSyntax<'_>,
    id: VariableId,
) -> Result<(), PtxError> {
    let Some(values) = &syntax.values else { return Ok(()) };
    let error = |problem: &str| PtxError::new(syntax.line, problem.to_owned());
    let ty = syntax.words.iter().find_map(|word| Type::named(word)).ok_or_else(|| error("no type"))?;
    let width = ty.bytes() as usize;
    let (mut bytes, mut relocations) = (Vec::new(), Vec::new());
    for value in values {
        let bits = match value {
            OperandSyntax::Integer(value) if ty.is_integer() || ty.is_half() => value.cast_unsigned(),
            OperandSyntax::Single(bits) if ty == Type::F32 => u64::from(*bits),
            OperandSyntax::Double(bits) if ty == Type::F64 => *bits,
            OperandSyntax::Name(name) | OperandSyntax::Symbol(name, _) if width == 8 => {
                let Some(Name::Variable(target)) = globals.names.get(name) else {
                    return Err(error("an initial value that is not modelled"));
                };
                let offset = if let OperandSyntax::Symbol(_, offset) = value { *offset } else { 0 };
                relocations.push((bytes.len(), *target, offset));
                0
            }
            _ => return Err(error("an initial value that is not modelled")),
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
    }
    let variable = &mut module.variables[id.0 as usize];
    if !matches!(variable.space, Space::Global | Space::Const) || bytes.len() as u64 > variable.bytes {
        return Err(error("initial values for a variable that can't hold them"));
    }
    (variable.initial, variable.relocations) = (bytes, relocations);
    Ok(())
}

/// `.maxntid` and `.reqntid`.
fn threads(syntax: &FunctionSyntax<'_>) -> Option<([u32; 3], bool)> {
    let (name, numbers) = numbers(syntax, &[".maxntid", ".reqntid"])?;
    Some((numbers, name == ".reqntid"))
}

/// The first directive of some names, with its numbers in x, y, z; missing ones are 1.
fn numbers<'t>(syntax: &FunctionSyntax<'t>, names: &[&str]) -> Option<(&'t str, [u32; 3])> {
    let (name, numbers) = syntax.directives.iter().find(|(name, _)| names.contains(name))?;
    let at = |axis: usize| numbers.get(axis).map_or(1, |it| u32::try_from(*it).unwrap_or(u32::MAX));
    Some((*name, [at(0), at(1), at(2)]))
}
