//! What a SPIR-V module states about its entry point: threads a block, buffers, scalars, shared memory.
//!
//! It reads; what a launch needs is compared in [`crate::interface`].

use crate::{error, resources};
use peak_backend_api::{CompileError, ReflectedBuffer, ReflectedEntry, ReflectedScalar, Resources};
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Decoration, ExecutionMode, Op, StorageClass};
use std::collections::{HashMap, HashSet};

/// A module's entry point.
pub(crate) struct Reflection {
    /// All that is declared: names, bindings, scalars, threads a block.
    pub entry: ReflectedEntry,
    /// Names of the buffers, scalars and other resources that the code touches.
    pub used: HashSet<String>,
    /// Resources that no launch can bind: textures, samplers, constant buffers, each with its kind in words.
    pub unbindable: Vec<(String, &'static str)>,
    /// Whether the module has a block of push constants at all: an unused one may be gone.
    pub has_scalar_block: bool,
    /// Bytes of shared memory a block.
    pub shared_bytes: u64,
    /// Instructions in functions.
    pub instructions: u64,
}

/// Reads a module whose one entry point is `entry`.
///
/// # Errors
/// A module that does not parse: a defect of the compiler.
pub(crate) fn reflect(words: &[u32], entry: &str) -> Result<Reflection, CompileError> {
    let module = rspirv::dr::load_words(words).map_err(|failure| error::internal("rspirv", &failure.to_string()))?;
    let index = Index::new(&module);
    let mut found = Reflection {
        entry: ReflectedEntry {
            name: entry.to_owned(),
            block: block(&module),
            buffers: Vec::new(),
            scalars: Vec::new(),
            scalar_bytes: 0,
            resources: Resources::default(),
        },
        used: HashSet::new(),
        unbindable: Vec::new(),
        has_scalar_block: false,
        shared_bytes: 0,
        instructions: module.all_functions_instructions(),
    };
    for variable in module.types_global_values.iter().filter(|it| it.class.opcode == Op::Variable) {
        index.read_variable(variable, &mut found);
    }
    found.entry.buffers.sort_by_key(|buffer| (buffer.set, buffer.binding));
    found.entry.resources = resources::of_entry(&found);
    Ok(found)
}

trait Count {
    fn all_functions_instructions(&self) -> u64;
}

impl Count for Module {
    fn all_functions_instructions(&self) -> u64 {
        let blocks = self.functions.iter().flat_map(|function| &function.blocks);
        let instructions = blocks.flat_map(|block| &block.instructions);
        instructions.filter(|it| !matches!(it.class.opcode, Op::Line | Op::NoLine)).count() as u64
    }
}

fn block(module: &Module) -> Option<[u32; 3]> {
    let mode = module.entry_points.first().and_then(|_| {
        module
            .execution_modes
            .iter()
            .find(|it| it.operands.get(1) == Some(&Operand::ExecutionMode(ExecutionMode::LocalSize)))
    })?;
    let size: Vec<u32> = mode.operands[2..].iter().filter_map(literal).collect();
    size.try_into().ok()
}

fn literal(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    }
}

fn id(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::IdRef(id) => Some(*id),
        _ => None,
    }
}

/// A module's names, decorations and types by identifier.
struct Index<'a> {
    names: HashMap<u32, &'a str>,
    member_names: HashMap<(u32, u32), &'a str>,
    decorations: HashMap<(u32, Decoration), u32>,
    member_decorations: HashMap<(u32, u32, Decoration), u32>,
    definitions: HashMap<u32, &'a Instruction>,
    used: HashSet<u32>,
    /// Variable and member of every access that names a member by a constant.
    accessed: HashSet<(u32, u32)>,
    /// Variables that are read as a whole.
    read_whole: HashSet<u32>,
}

impl<'a> Index<'a> {
    fn new(module: &'a Module) -> Index<'a> {
        let mut index = Index {
            names: HashMap::new(),
            member_names: HashMap::new(),
            decorations: HashMap::new(),
            member_decorations: HashMap::new(),
            definitions: HashMap::new(),
            used: HashSet::new(),
            accessed: HashSet::new(),
            read_whole: HashSet::new(),
        };
        module.debug_names.iter().for_each(|name| index.add_name(name));
        module.annotations.iter().for_each(|annotation| index.add_decoration(annotation));
        index.definitions.extend(module.types_global_values.iter().filter_map(|it| Some((it.result_id?, it))));
        let blocks = module.functions.iter().flat_map(|function| &function.blocks);
        blocks.flat_map(|block| &block.instructions).for_each(|instruction| index.add_use(instruction));
        index
    }

    fn add_use(&mut self, instruction: &Instruction) {
        let mut ids = instruction.operands.iter().filter_map(id);
        self.used.extend(ids.clone());
        let Some(base) = ids.next() else { return };
        match instruction.class.opcode {
            Op::AccessChain | Op::InBoundsAccessChain => {
                let member = ids.next().map_or(0, |constant| self.constant(constant));
                self.accessed.insert((base, member as u32));
            }
            _ => {
                self.read_whole.insert(base);
            }
        }
    }

    fn add_name(&mut self, name: &'a Instruction) {
        match (name.class.opcode, name.operands.as_slice()) {
            (Op::Name, [Operand::IdRef(id), Operand::LiteralString(text)]) => {
                self.names.insert(*id, text);
            }
            (Op::MemberName, [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::LiteralString(text)]) => {
                self.member_names.insert((*id, *member), text);
            }
            _ => {}
        }
    }

    fn add_decoration(&mut self, annotation: &Instruction) {
        match (annotation.class.opcode, annotation.operands.as_slice()) {
            (Op::Decorate, [Operand::IdRef(id), Operand::Decoration(decoration), rest @ ..]) => {
                self.decorations.insert((*id, *decoration), rest.first().and_then(literal).unwrap_or(0));
            }
            (
                Op::MemberDecorate,
                [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::Decoration(decoration), rest @ ..],
            ) => {
                let value = rest.first().and_then(literal).unwrap_or(0);
                self.member_decorations.insert((*id, *member, *decoration), value);
            }
            _ => {}
        }
    }

    fn read_variable(&self, variable: &Instruction, found: &mut Reflection) {
        let Some(Operand::StorageClass(class)) = variable.operands.first() else { return };
        let Some((variable, pointee)) = variable.result_id.zip(variable.result_type.and_then(|it| self.pointee(it)))
        else {
            return;
        };
        let name = self.names.get(&variable).copied().unwrap_or("a resource without a name");
        match class {
            StorageClass::Workgroup => found.shared_bytes += self.bytes(pointee),
            StorageClass::PushConstant => {
                found.has_scalar_block = true;
                self.read_scalars(pointee, &mut found.entry);
                found.used.extend(self.used_members(variable, pointee));
            }
            StorageClass::StorageBuffer => found.entry.buffers.push(self.buffer(variable, pointee, name)),
            StorageClass::Uniform if self.decorations.contains_key(&(pointee, Decoration::BufferBlock)) => {
                found.entry.buffers.push(self.buffer(variable, pointee, name));
            }
            StorageClass::Uniform => found.unbindable.push((name.to_owned(), "a constant buffer")),
            StorageClass::UniformConstant => found.unbindable.push((name.to_owned(), "a texture, image or sampler")),
            _ => return,
        }
        if self.used.contains(&variable) {
            found.used.insert(name.to_owned());
        }
    }

    fn buffer(&self, variable: u32, pointee: u32, name: &str) -> ReflectedBuffer {
        let decoration = |decoration| self.decorations.get(&(variable, decoration)).copied();
        let array = self.definitions.get(&pointee).and_then(|it| it.operands.first()).and_then(id);
        let read_only = self.member_decorations.contains_key(&(pointee, 0, Decoration::NonWritable))
            || decoration(Decoration::NonWritable).is_some();
        let byte_address = self.names.get(&pointee).is_some_and(|name| name.contains("ByteAddressBuffer"));
        let stride = array.and_then(|array| self.decorations.get(&(array, Decoration::ArrayStride)).copied());
        ReflectedBuffer {
            name: name.to_owned(),
            set: decoration(Decoration::DescriptorSet).unwrap_or(0),
            binding: decoration(Decoration::Binding).unwrap_or(0),
            writable: !read_only,
            stride: stride.filter(|_| !byte_address),
        }
    }

    fn read_scalars(&self, block: u32, entry: &mut ReflectedEntry) {
        let members = self.definitions.get(&block).map_or(&[][..], |it| &it.operands[..]);
        for (member, kind) in members.iter().filter_map(id).enumerate() {
            let member = member as u32;
            let bytes = self.bytes(kind) as u32;
            let offset = self.member_decorations.get(&(block, member, Decoration::Offset)).copied().unwrap_or(0);
            let name = self.member_names.get(&(block, member)).copied().unwrap_or("unnamed").to_owned();
            entry.scalar_bytes = entry.scalar_bytes.max(offset.saturating_add(bytes).next_multiple_of(4));
            entry.scalars.push(ReflectedScalar { name, offset, bytes });
        }
    }

    fn used_members(&self, variable: u32, block: u32) -> impl Iterator<Item = String> + '_ {
        let named = self.member_names.iter().filter(move |((owner, _), _)| *owner == block);
        named
            .filter(move |((_, member), _)| {
                self.read_whole.contains(&variable) || self.accessed.contains(&(variable, *member))
            })
            .map(|(_, name)| (*name).to_owned())
    }

    fn pointee(&self, pointer: u32) -> Option<u32> {
        let definition = self.definitions.get(&pointer).filter(|it| it.class.opcode == Op::TypePointer)?;
        definition.operands.get(1).and_then(id)
    }

    /// Bytes of a type without padding, as shared memory and scalars have it; 0 where it has no size.
    fn bytes(&self, kind: u32) -> u64 {
        let Some(definition) = self.definitions.get(&kind) else { return 0 };
        let operands = &definition.operands;
        let element = || operands.first().and_then(id).map_or(0, |element| self.bytes(element));
        match definition.class.opcode {
            Op::TypeInt | Op::TypeFloat => operands.first().and_then(literal).map_or(0, |bits| u64::from(bits / 8)),
            Op::TypeBool => 4,
            Op::TypeVector | Op::TypeMatrix => element() * u64::from(operands.get(1).and_then(literal).unwrap_or(0)),
            Op::TypeArray => {
                element().saturating_mul(operands.get(1).and_then(id).map_or(0, |length| self.constant(length)))
            }
            Op::TypeStruct => operands.iter().filter_map(id).map(|member| self.bytes(member)).sum(),
            _ => 0,
        }
    }

    fn constant(&self, constant: u32) -> u64 {
        let operand = self.definitions.get(&constant).and_then(|it| it.operands.first());
        operand.and_then(literal).map_or(0, u64::from)
    }
}
