//! Whether an entry point takes what its launch passes, said in sentences that a repair can work from.

use crate::parameters::Declared;
use crate::ptx::{Entry, Parameter};
use peak_backend_api::{
    EntryArgument, EntryArgumentKind, EntryRequest, ReflectedBuffer, ReflectedEntry, ReflectedScalar, Resources,
};

/// Width of a pointer, in bytes.
const POINTER_BYTES: u32 = 8;
/// Width of a tensor map, in bytes.
const TENSOR_MAP_BYTES: u32 = 128;
/// What a tensor map is aligned to at least, in bytes.
const TENSOR_MAP_ALIGNMENT: u32 = 64;

/// Finds the entry of a launch among those of the code.
///
/// # Errors
/// A sentence: there is none, or one under a mangled name.
pub(crate) fn find<'a>(entries: &'a [Entry], request: &EntryRequest) -> Result<&'a Entry, String> {
    let name = &request.name;
    if let Some(entry) = entries.iter().find(|entry| entry.symbol == *name) {
        return Ok(entry);
    }
    let mangled = format!("{}{name}", name.len());
    Err(match entries.iter().any(|entry| entry.symbol.starts_with("_Z") && entry.symbol.contains(&mangled)) {
        true => format!(
            "`{name}` has a mangled name, by which no launch finds it: write `extern \"C\" __global__ void {name}(...)`, \
             outside of templates and namespaces"
        ),
        false => format!(
            "the launch calls `{name}`, and the code defines no kernel of that name: keep the kernel's name, as \
             `extern \"C\" __global__ void {name}(...)`"
        ),
    })
}

/// Whether some launch may write an array: its parameter there is not seen to point to constants.
pub(crate) fn is_written(requests: &[EntryRequest], declared: &[Option<Vec<Declared>>], array: &str) -> bool {
    requests.iter().zip(declared).any(|(request, declared)| {
        let place = request.arguments.iter().position(|argument| argument.name == array);
        let parameter = |place: usize| declared.as_ref().and_then(|declared| declared.get(place));
        place.is_some_and(|place| parameter(place).is_none_or(|parameter| !parameter.read_only))
    })
}

/// Every mismatch between what the launch passes and what the code takes; empty where they fit. `is_written` says whether
/// any launch of the plan may write an array: a later one may read what an earlier one wrote.
pub(crate) fn mismatches(
    request: &EntryRequest,
    entry: &Entry,
    declared: Option<&[Declared]>,
    is_written: impl Fn(&str) -> bool,
) -> Vec<String> {
    // Names that do not stand for the parameters one by one tell nothing.
    let declared = declared.filter(|declared| declared.len() == entry.parameters.len());
    let mut problems: Vec<String> = block(request, entry).into_iter().collect();
    let names = declared.map(|declared| by_name(request, declared)).unwrap_or_default();
    if !names.is_empty() {
        problems.extend(names);
    } else if entry.parameters.len() != request.arguments.len() {
        problems.push(format!(
            "`{}` takes {} parameters, and its launch passes {}: {}",
            request.name,
            entry.parameters.len(),
            request.arguments.len(),
            listed(request.arguments.iter().map(|argument| &argument.name))
        ));
    } else {
        let pairs = request.arguments.iter().zip(&entry.parameters).enumerate();
        problems.extend(pairs.filter_map(|(index, (argument, parameter))| {
            let written = is_written(&argument.name);
            one(argument, *parameter, declared.map(|declared| &declared[index]), written)
        }));
    }
    problems
}

fn block(request: &EntryRequest, entry: &Entry) -> Option<String> {
    let (name, [x, y, z]) = (&request.name, request.block);
    if let Some([fx, fy, fz]) = entry.threads.filter(|threads| *threads != request.block) {
        return Some(format!("`{name}` demands blocks of ({fx}, {fy}, {fz}), and its launch has ({x}, {y}, {z})"));
    }
    let threads: u64 = request.block.iter().map(|side| u64::from(*side)).product();
    let most = entry.threads_max.filter(|most| *most < threads)?;
    Some(format!(
        "`{name}` has __launch_bounds__ of {most} threads, and its launch has blocks of {threads}, ({x}, {y}, {z}): bound it \
         with the same parameters as the launch's `block`"
    ))
}

/// Arguments bind by place, in the launch's order; names tell which one is wrong.
fn by_name(request: &EntryRequest, declared: &[Declared]) -> Vec<String> {
    let passes = |name: &str| request.arguments.iter().any(|argument| argument.name == name);
    let takes = |name: &str| declared.iter().any(|parameter| parameter.name == name);
    let entry = &request.name;
    let order = listed(request.arguments.iter().map(|argument| &argument.name));
    let lost = request.arguments.iter().filter(|argument| !takes(&argument.name)).map(|argument| {
        let name = &argument.name;
        format!(
            "the launch passes `{name}`, and `{entry}` has no parameter of that name: it takes, in this order, {order}"
        )
    });
    let added = declared.iter().filter(|parameter| !passes(&parameter.name)).map(|parameter| {
        let name = &parameter.name;
        format!("`{entry}` takes `{name}`, which its launch does not pass: it passes {order}")
    });
    let mut problems: Vec<String> = lost.chain(added).collect();
    let same = declared.iter().map(|parameter| &parameter.name).eq(request.arguments.iter().map(|it| &it.name));
    if problems.is_empty() && !same {
        let found = listed(declared.iter().map(|parameter| &parameter.name));
        problems.push(format!("`{entry}` takes {found}, and its launch passes {order}: keep the launch's order"));
    }
    problems
}

fn one(
    argument: &EntryArgument,
    parameter: Parameter,
    declared: Option<&Declared>,
    is_written: bool,
) -> Option<String> {
    let (name, width) = (&argument.name, parameter.bytes);
    let read_only = declared.is_some_and(|declared| declared.read_only) && !is_written;
    match argument.kind {
        EntryArgumentKind::Array { writable: true, .. } if read_only => Some(format!(
            "`{name}` is an output, and its parameter points to constants: declare it as `{name}_T *{name}`"
        )),
        EntryArgumentKind::Array { writable, .. } if width != POINTER_BYTES || parameter.opaque => {
            let constant = if writable { "" } else { "const " };
            Some(format!(
                "`{name}` is an array, and its parameter takes {width} bytes by value: declare it as `{constant}{name}_T *{name}`"
            ))
        }
        EntryArgumentKind::Scalar { bytes } if width != bytes => Some(format!(
            "the parameter `{name}` is {width} bytes wide, and the launch passes {bytes}: declare it as `{name}_T {name}`"
        )),
        EntryArgumentKind::TensorMap => tensor_map(name, parameter, declared),
        _ => None,
    }
}

fn tensor_map(name: &str, parameter: Parameter, declared: Option<&Declared>) -> Option<String> {
    let mend = format!("declare it as `const __grid_constant__ CUtensorMap {name}`");
    let Parameter { bytes, alignment, opaque } = parameter;
    if bytes != TENSOR_MAP_BYTES || alignment < TENSOR_MAP_ALIGNMENT || !opaque {
        return Some(format!(
            "`{name}` is a tensor map, which takes {TENSOR_MAP_BYTES} bytes by value, aligned to {TENSOR_MAP_ALIGNMENT}, and \
             its parameter takes {bytes}, aligned to {alignment}: {mend}"
        ));
    }
    // Bulk copies read a map where the launch put it, never in a thread's own memory.
    declared.filter(|declared| !declared.grid_constant).map(|_| {
        format!(
            "`{name}` is a tensor map, and without `__grid_constant__` its address is that of a thread's copy: {mend}"
        )
    })
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// What a runtime binds: the launch's names at the code's places. The block is the launch's, since the tuning parameters
/// that it is made of are compiled in. A pointer may be written unless the launch says that it is an input.
pub(crate) fn reflected(request: &EntryRequest, entry: &Entry, resources: Resources) -> ReflectedEntry {
    let (mut buffers, mut scalars, mut end) = (Vec::new(), Vec::new(), 0u32);
    for (place, (argument, parameter)) in request.arguments.iter().zip(&entry.parameters).enumerate() {
        let offset = end.next_multiple_of(parameter.alignment);
        end = offset + parameter.bytes;
        let name = argument.name.clone();
        match argument.kind {
            EntryArgumentKind::Array { writable, .. } => {
                let binding = u32::try_from(place).unwrap_or(u32::MAX);
                buffers.push(ReflectedBuffer { name, set: 0, binding, writable, stride: None });
            }
            // A tensor map is a value like a number, and wider.
            EntryArgumentKind::Scalar { .. } | EntryArgumentKind::TensorMap => {
                scalars.push(ReflectedScalar { name, offset, bytes: parameter.bytes })
            }
        }
    }
    let (name, block) = (request.name.clone(), Some(request.block));
    ReflectedEntry { name, block, buffers, scalars, scalar_bytes: end, resources }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::declared;
    use crate::ptx::entries;
    use peak_backend_api::SourcePiece;

    fn request(block: [u32; 3]) -> EntryRequest {
        let array = |name: &str, writable| EntryArgument {
            name: name.to_owned(),
            kind: EntryArgumentKind::Array { element_bytes: 4, writable },
        };
        let n = EntryArgument { name: "n".to_owned(), kind: EntryArgumentKind::Scalar { bytes: 4 } };
        EntryRequest { name: "f".to_owned(), block, arguments: vec![array("A", false), array("C", true), n] }
    }

    /// What is said of a kernel with these parameters, as source and as PTX.
    fn said(source: &str, ptx: &str) -> String {
        let piece = SourcePiece { name: "device code".to_owned(), text: format!("__global__ void f({source}) {{}}") };
        let found = entries(&format!(".entry f({ptx})\n.maxntid 32, 1, 1\n{{}}"));
        let (request, declared) = (request([32, 1, 1]), declared(&[piece], "f"));
        let is_written =
            |array: &str| is_written(std::slice::from_ref(&request), std::slice::from_ref(&declared), array);
        mismatches(&request, &found[0], declared.as_deref(), is_written).join("\n")
    }

    const PTX: &str = ".param .u64 a, .param .u64 b, .param .u32 c";

    #[test]
    fn a_kernel_that_fits_is_reflected() {
        assert_eq!(said("const float *A, float *C, int n", PTX), "");
        assert_eq!(said("ARGUMENTS", PTX), "", "places and widths are enough where a macro hides the names");
        let found = reflected(&request([32, 1, 1]), &entries(&format!(".entry f({PTX}){{}}"))[0], Resources::default());
        assert_eq!((found.buffers[1].binding, found.buffers[1].writable), (1, true));
        assert_eq!((found.scalars[0].offset, found.scalars[0].bytes, found.scalar_bytes), (16, 4, 20));
    }

    #[test]
    fn mismatches_are_sentences() {
        let lost = said("float *C, int n", ".param .u64 a, .param .u32 b");
        assert!(lost.contains("passes `A`") && lost.contains("in this order, `A`, `C`, `n`"), "{lost}");
        let added = said("float *A, float *C, int n, int m", &format!("{PTX}, .param .u32 d"));
        assert!(added.contains("takes `m`, which its launch does not pass"), "{added}");
        let order = said("float *C, float *A, int n", PTX);
        assert!(order.contains("takes `C`, `A`, `n`") && order.contains("keep the launch's order"), "{order}");
        let constant = said("const float *A, const float *C, int n", PTX);
        assert!(constant.contains("`C` is an output"), "{constant}");
        let wide = said("float *A, float *C, long long n", ".param .u64 a, .param .u64 b, .param .u64 c");
        assert!(wide.contains("`n` is 8 bytes wide, and the launch passes 4"), "{wide}");
        let value = said("float A, float *C, int n", ".param .f32 a, .param .u64 b, .param .u32 c");
        assert!(value.contains("declare it as `const A_T *A`"), "{value}");
        let hidden = said("ARGUMENTS", ".param .u64 a");
        assert!(hidden.contains("takes 1 parameters, and its launch passes 3: `A`, `C`, `n`"), "{hidden}");
    }

    #[test]
    fn a_tensor_map_is_taken_by_value_as_a_grid_constant() {
        let map = EntryArgument { name: "A".to_owned(), kind: EntryArgumentKind::TensorMap };
        let request = EntryRequest { name: "f".to_owned(), block: [32, 1, 1], arguments: vec![map] };
        let said = |source: &str, ptx: &str| {
            let text = format!("__global__ void f({source}) {{}}");
            let piece = SourcePiece { name: "device code".to_owned(), text };
            let found = entries(&format!(".entry f({ptx}){{}}"));
            mismatches(&request, &found[0], declared(&[piece], "f").as_deref(), |_| false).join("\n")
        };
        let fits = ".param .align 128 .b8 a[128]";
        assert_eq!(said("const __grid_constant__ CUtensorMap A", fits), "");
        assert_eq!(said("const __grid_constant__ CUtensorMap A", ".param .align 64 .b8 a[128]"), "");
        assert_eq!(said("ARGUMENTS", fits), "", "where a macro hides the words, width and alignment are enough");
        let copied = said("const CUtensorMap A", fits);
        assert!(copied.contains("without `__grid_constant__`"), "{copied}");
        for (source, ptx) in [
            ("const float *A", ".param .u64 a"),
            ("const __grid_constant__ Other A", ".param .align 4 .b8 a[128]"),
            ("const __grid_constant__ Other A", ".param .align 64 .b8 a[64]"),
        ] {
            let wrong = said(source, ptx);
            assert!(wrong.contains("declare it as `const __grid_constant__ CUtensorMap A`"), "{wrong}");
        }
        let reflected = reflected(&request, &entries(&format!(".entry f({fits}){{}}"))[0], Resources::default());
        assert_eq!((reflected.scalars[0].bytes, reflected.scalar_bytes), (128, 128));
    }

    #[test]
    fn what_one_launch_writes_another_may_read() {
        let piece = |source: &str| SourcePiece {
            name: "device code".to_owned(),
            text: format!("__global__ void f({source}) {{}}"),
        };
        let of = |source: &str| declared(&[piece(source)], "f");
        let (writes, reads) = (of("const float *A, float *C, int n"), of("const float *A, const float *C, int n"));
        let launches = [request([32, 1, 1]), request([64, 1, 1])];
        assert!(is_written(&launches, &[writes, reads.clone()], "C"));
        assert!(is_written(&launches, &[reads.clone(), None], "C"), "what is hidden is not guessed");
        assert!(!is_written(&launches, &[reads.clone(), reads], "C"));
    }

    #[test]
    fn blocks_and_names_are_compared() {
        let found = entries(&format!(".entry f({PTX})\n.maxntid 32, 1, 1\n{{}}"));
        let large = mismatches(&request([64, 1, 1]), &found[0], None, |_| true);
        assert!(large[0].contains("__launch_bounds__ of 32 threads"), "{large:?}");
        let found = entries(&format!(".entry f({PTX})\n.reqntid 64\n{{}}"));
        let other = mismatches(&request([32, 1, 1]), &found[0], None, |_| true);
        assert!(other[0].contains("demands blocks of (64, 1, 1)"), "{other:?}");
        let mangled = find(&entries(".entry _Z1fPf(){}"), &request([1, 1, 1])).map(|_| ());
        assert!(mangled.is_err_and(|words| words.contains("extern \"C\"")));
        let none = find(&[], &request([1, 1, 1])).map(|_| ());
        assert!(none.is_err_and(|words| words.contains("no kernel of that name")));
    }
}
