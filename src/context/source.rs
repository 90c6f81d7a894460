//! From a context and a configuration to the request that a backend compiles.

use super::launch::{ConcretePlan, scalar_element};
use super::scope::Facts;
use super::{Configuration, KernelContext};
use indexmap::IndexMap;
use peak_backend_api::{
    ArgumentValue, Backend, CompileRequest, EntryArgument, EntryArgumentKind, EntryRequest, LaunchStep, PreludeSpec,
    SourcePiece, TENSOR_MAP_TYPE,
};
use peak_grammar::ir::{ArgumentKind, Region};

/// The request: prelude, macros, device code, and what the plan's launches call. `plan` is for the same configuration.
#[must_use]
pub fn compile_request(
    context: &KernelContext,
    configuration: &Configuration,
    plan: &ConcretePlan,
    backend: &dyn Backend,
    target: &str,
    facts: &Facts,
) -> CompileRequest {
    let piece = |name: &str, text: &str| SourcePiece { name: name.to_owned(), text: text.to_owned() };
    CompileRequest {
        pieces: vec![
            piece("prelude", &backend.prelude(&prelude_spec(context, configuration, plan))),
            piece(Region::Macros.words(), &context.regions.macros),
            piece(Region::DeviceCode.words(), &context.regions.device_code),
        ],
        entries: entries(context, plan),
        target: target.to_owned(),
        shared_bytes_limit: facts.get("shared_memory_per_block").and_then(|bytes| u64::try_from(*bytes).ok()),
        threads_limit: facts.get("max_threads_per_block").and_then(|threads| u32::try_from(*threads).ok()),
    }
}

/// What the prelude defines.
#[must_use]
pub fn prelude_spec(context: &KernelContext, configuration: &Configuration, plan: &ConcretePlan) -> PreludeSpec {
    let scalars = context.kernel.arguments.iter().filter_map(|argument| match &argument.kind {
        ArgumentKind::Scalar { element, .. } => Some((argument.name.clone(), element.name().to_owned())),
        ArgumentKind::Array { .. } => None,
    });
    let buffers = plan.buffers.iter().map(|buffer| (buffer.name.clone(), buffer.element.name().to_owned()));
    PreludeSpec {
        element: context.kernel.element.name().to_owned(),
        accumulator: context.kernel.accumulator.name().to_owned(),
        argument_types: buffers.chain(scalars).chain(tensor_maps(plan)).collect(),
        configuration: configuration.iter().map(|(name, value)| (name.clone(), *value)).collect(),
    }
}

/// Every tensor map that a launch passes, once, with the type that stands for it.
fn tensor_maps(plan: &ConcretePlan) -> IndexMap<String, String> {
    let launches = plan.sequence.steps.iter().filter_map(|step| match step {
        LaunchStep::Launch { arguments, .. } => Some(arguments),
        LaunchStep::Fill { .. } => None,
    });
    let maps = launches.flatten().filter(|argument| matches!(argument.value, ArgumentValue::TensorMap(_)));
    maps.map(|argument| (argument.name.clone(), TENSOR_MAP_TYPE.to_owned())).collect()
}

fn entries(context: &KernelContext, plan: &ConcretePlan) -> Vec<EntryRequest> {
    let mut entries: Vec<EntryRequest> = Vec::new();
    for step in &plan.sequence.steps {
        let LaunchStep::Launch { entry, block, arguments, .. } = step else { continue };
        if entries.iter().any(|known| known.name == *entry && known.block == *block) {
            continue;
        }
        let arguments = arguments
            .iter()
            .map(|argument| EntryArgument {
                name: argument.name.clone(),
                kind: match &argument.value {
                    ArgumentValue::Buffer(buffer) => array_kind(plan, buffer),
                    ArgumentValue::TensorMap(_) => EntryArgumentKind::TensorMap,
                    ArgumentValue::Bytes(_) => EntryArgumentKind::Scalar {
                        bytes: u32::try_from(scalar_element(context, &argument.name).bytes()).unwrap_or(4),
                    },
                },
            })
            .collect();
        entries.push(EntryRequest { name: entry.clone(), block: *block, arguments });
    }
    entries
}

fn array_kind(plan: &ConcretePlan, name: &str) -> EntryArgumentKind {
    use super::launch::BufferRole;
    let buffer = plan.buffers.iter().find(|buffer| buffer.name == name);
    EntryArgumentKind::Array {
        element_bytes: buffer.and_then(|buffer| u32::try_from(buffer.element.bytes()).ok()).unwrap_or(0),
        writable: !matches!(buffer.map(|buffer| &buffer.role), Some(BufferRole::Input(_))),
    }
}
