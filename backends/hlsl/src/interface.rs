//! Whether an entry point takes what its launch passes, said in sentences that a repair can work from.

use crate::reflect::Reflection;
use peak_backend_api::{EntryArgument, EntryArgumentKind, EntryRequest, ReflectedBuffer};

/// The widest element that may stand over a narrower array, in bytes: `float4` over an array of `float`.
const VECTOR_BYTES_MAX: u32 = 16;
/// What Vulkan guarantees for push constants, in bytes.
pub(crate) const SCALAR_BYTES_MAX: u32 = 128;

/// Every mismatch between what the launch passes and what the code takes; empty where they fit.
pub(crate) fn mismatches(request: &EntryRequest, found: &Reflection) -> Vec<String> {
    let mut problems = Vec::new();
    problems.extend(block(request, found));
    problems.extend(request.arguments.iter().filter_map(|argument| missing(argument, request, found)));
    problems.extend(extra_buffers(request, found));
    problems.extend(extra_scalars(request, found));
    problems.extend(found.unbindable.iter().filter(|(name, _)| found.used.contains(name)).map(unbindable));
    problems.extend(shared_places(&found.entry.buffers));
    if found.entry.scalar_bytes > SCALAR_BYTES_MAX {
        let bytes = found.entry.scalar_bytes;
        problems.push(format!(
            "the push constants take {bytes} bytes, and {SCALAR_BYTES_MAX} is the most that a device need give"
        ));
    }
    problems
}

fn block(request: &EntryRequest, found: &Reflection) -> Option<String> {
    let [x, y, z] = request.block;
    let [fx, fy, fz] = found.entry.block?;
    (request.block != [fx, fy, fz]).then(|| {
        format!(
            "`{}` has numthreads({fx}, {fy}, {fz}), and its launch has blocks of ({x}, {y}, {z}): write numthreads with the \
             same parameters as the launch's `block`",
            request.name
        )
    })
}

fn missing(argument: &EntryArgument, request: &EntryRequest, found: &Reflection) -> Option<String> {
    let (name, entry) = (&argument.name, &request.name);
    match argument.kind {
        EntryArgumentKind::Array { element_bytes, writable } => {
            let Some(buffer) = found.entry.buffers.iter().find(|buffer| buffer.name == *name) else {
                let class = if writable { "RWStructuredBuffer" } else { "StructuredBuffer" };
                return Some(format!(
                    "the launch of `{entry}` passes the array `{name}`, and the code declares no buffer of that name: add \
                     `{class}<{name}_T> {name};` at global scope"
                ));
            };
            array(buffer, element_bytes, writable)
        }
        EntryArgumentKind::TensorMap => Some(format!(
            "the launch of `{entry}` passes the tensor map `{name}`, and HLSL has no tensor maps: pass its array"
        )),
        EntryArgumentKind::Scalar { bytes } => match found.entry.scalars.iter().find(|scalar| scalar.name == *name) {
            Some(scalar) if scalar.bytes != bytes => Some(format!(
                "the push constant `{name}` is {} bytes wide, and the launch passes {bytes}: declare it with the type of the argument",
                scalar.bytes
            )),
            Some(_) => None,
            // An unused block leaves no trace in the module, so its members can't be told from missing ones.
            None if !found.has_scalar_block => None,
            None => Some(format!(
                "the launch of `{entry}` passes the number `{name}`, and the struct under [[vk::push_constant]] has no \
                 member of that name: add it"
            )),
        },
    }
}

fn array(buffer: &ReflectedBuffer, element_bytes: u32, writable: bool) -> Option<String> {
    let name = &buffer.name;
    if buffer.writable && !writable {
        return Some(format!(
            "`{name}` is an input, and the code declares it writable: use StructuredBuffer instead of RWStructuredBuffer"
        ));
    }
    if !buffer.writable && writable {
        return Some(format!(
            "`{name}` is an output, and the code declares it read-only: use RWStructuredBuffer instead of StructuredBuffer"
        ));
    }
    if buffer.set != 0 {
        return Some(format!("`{name}` stands in register space {}: leave the register out", buffer.set));
    }
    let stride = buffer.stride?;
    let fits = stride == element_bytes || (stride <= VECTOR_BYTES_MAX && stride.is_multiple_of(element_bytes.max(1)));
    (!fits).then(|| {
        format!(
            "the elements of `{name}` take {stride} bytes in the code, and {element_bytes} in the launch: use `{name}_T`, or a \
             vector of it of at most {VECTOR_BYTES_MAX} bytes"
        )
    })
}

fn extra_buffers<'a>(request: &'a EntryRequest, found: &'a Reflection) -> impl Iterator<Item = String> + 'a {
    let unpassed = move |buffer: &&ReflectedBuffer| {
        found.used.contains(&buffer.name)
            && !passes(request, &buffer.name, |kind| matches!(kind, EntryArgumentKind::Array { .. }))
    };
    found.entry.buffers.iter().filter(unpassed).map(move |buffer| {
        format!(
            "`{}` uses the buffer `{}`, which its launch does not pass: {}",
            request.name,
            buffer.name,
            passed(request)
        )
    })
}

fn extra_scalars<'a>(request: &'a EntryRequest, found: &'a Reflection) -> impl Iterator<Item = String> + 'a {
    // Entries of one source share the struct: a member that only another entry reads is nobody's mistake.
    let unpassed =
        move |name: &&String| !passes(request, name, |kind| matches!(kind, EntryArgumentKind::Scalar { .. }));
    let scalars = found.entry.scalars.iter().map(|scalar| &scalar.name).filter(|name| found.used.contains(*name));
    scalars.filter(unpassed).map(move |name| {
        format!(
            "`{}` reads the push constant `{name}`, which its launch does not pass: {}",
            request.name,
            passed(request)
        )
    })
}

fn passes(request: &EntryRequest, name: &str, kind: impl Fn(EntryArgumentKind) -> bool) -> bool {
    request.arguments.iter().any(|argument| argument.name == name && kind(argument.kind))
}

fn passed(request: &EntryRequest) -> String {
    let names: Vec<_> = request.arguments.iter().map(|argument| format!("`{}`", argument.name)).collect();
    if names.is_empty() { "it passes nothing".to_owned() } else { format!("it passes {}", names.join(", ")) }
}

fn unbindable((name, kind): &(String, &'static str)) -> String {
    if name == "$Globals" {
        return "a variable at global scope is neither `static` nor `groupshared`, so that HLSL takes it for a constant that the \
                host fills: make it `static const`, a macro, or a member of the struct under [[vk::push_constant]]"
            .to_owned();
    }
    format!(
        "the code uses `{name}`, {kind}: a launch passes only structured buffers, byte-address buffers and push constants"
    )
}

/// Two buffers in one place would silently be one.
fn shared_places(buffers: &[ReflectedBuffer]) -> impl Iterator<Item = String> + '_ {
    let pairs = buffers.windows(2).filter(|pair| (pair[0].set, pair[0].binding) == (pair[1].set, pair[1].binding));
    pairs
        .map(|pair| format!("`{}` and `{}` stand in one register: leave the registers out", pair[0].name, pair[1].name))
}
