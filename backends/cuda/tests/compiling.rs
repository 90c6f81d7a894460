//! What NVRTC makes of kernels: architectures, headers, interfaces, limits, hostile text. Needs no GPU.

use peak_backend_api::{
    Artifact, ArtifactKind, CompileError, CompileRequest, EntryArgument, EntryArgumentKind, EntryRequest, PreludeSpec,
    Severity, SourcePiece,
};

/// Compiles a kernel `copy` of A, C and numbers of these widths, in blocks of 64; `None` where the toolchain is missing.
fn compile(element: &str, numbers: &[(&str, u32)], target: &str, code: &str) -> Option<Result<Artifact, CompileError>> {
    let element_bytes = if element == "f32" { 4 } else { 2 };
    let array = |name: &str, writable| EntryArgument {
        name: name.to_owned(),
        kind: EntryArgumentKind::Array { element_bytes, writable },
    };
    let number = |(name, bytes): &(&str, u32)| EntryArgument {
        name: (*name).to_owned(),
        kind: EntryArgumentKind::Scalar { bytes: *bytes },
    };
    let arguments = [array("A", false), array("C", true)].into_iter().chain(numbers.iter().map(number)).collect();
    let entry = EntryRequest { name: "copy".to_owned(), block: [64, 1, 1], arguments };
    compile_entry(element, entry, target, code)
}

fn compile_entry(
    element: &str,
    entry: EntryRequest,
    target: &str,
    code: &str,
) -> Option<Result<Artifact, CompileError>> {
    let backend = peak_backend_cuda::backend();
    let prelude = backend.prelude(&PreludeSpec {
        element: element.to_owned(),
        accumulator: "f32".to_owned(),
        argument_types: ["A", "B", "C"].map(|name| (name.to_owned(), element.to_owned())).into(),
        configuration: vec![("BLOCK_X".to_owned(), 64)],
    });
    let piece = |name: &str, text: &str| SourcePiece { name: name.to_owned(), text: text.to_owned() };
    let result = backend.compile(&CompileRequest {
        pieces: vec![piece("prelude", &prelude), piece("macros", ""), piece("device code", code)],
        entries: vec![entry],
        target: target.to_owned(),
        shared_bytes_limit: None,
        threads_limit: None,
    });
    if let Err(CompileError::Toolchain { name, .. }) = &result {
        assert!(std::env::var("PEAK_REQUIRE").is_err(), "{name} is required and missing");
        eprintln!("skipped (1): {name} is missing");
        return None;
    }
    Some(result)
}

const COPY: &str = "extern \"C\" __global__ void copy(const A_T *A, C_T *C) {\n    const int i = blockIdx.x * BLOCK_X + threadIdx.x;\n    C[i] = A[i];\n}\n";

/// Every problem of a kernel that compiles and does not fit.
fn problems(numbers: &[(&str, u32)], code: &str) -> Option<String> {
    match compile("f32", numbers, "", code)? {
        Err(CompileError::Interface(problems)) => Some(problems.join("\n")),
        other => panic!("expected a mismatch, got {other:?}"),
    }
}

#[test]
fn every_architecture_gives_what_its_name_says() {
    for number in ["75", "80", "86", "89", "90", "90a", "100", "100a", "120", "120a"] {
        let Some(machine) = compile("f32", &[], &format!("sm_{number}"), COPY) else { return };
        let machine = machine.unwrap_or_else(|error| panic!("sm_{number}: {error}"));
        assert_eq!(machine.kind, ArtifactKind::Cubin);
        assert!(machine.bytes.starts_with(b"\x7fELF"), "sm_{number}");
        assert!(machine.compiler.contains(&format!("--gpu-architecture=sm_{number} ")), "{}", machine.compiler);
        let portable = compile("f32", &[], &format!("compute_{number}"), COPY).and_then(Result::ok).expect("PTX");
        assert_eq!(portable.kind, ArtifactKind::Ptx);
        let text = String::from_utf8(portable.bytes).expect("PTX is text");
        assert!(text.contains(&format!(".target sm_{number}\n")) && text.contains("\t.loc\t"), "{text}");
        assert_eq!(machine.resources, portable.resources);
        assert!(machine.resources.registers.is_some_and(|count| (4..64).contains(&count)), "{:?}", machine.resources);
        assert!(
            machine.resources.instructions.is_some_and(|count| (8..200).contains(&count)),
            "{:?}",
            machine.resources
        );
        assert_eq!((machine.resources.spill_bytes, machine.resources.shared_bytes), (Some(0), Some(0)));
    }
}

#[test]
fn an_unsupported_architecture_is_named_with_those_that_are() {
    for (target, word) in [("sm_52", "sm_75"), ("sm_999", "sm_90"), ("gfx942", "`gfx942` is no architecture")] {
        let Some(Err(CompileError::Interface(problems))) = compile("f32", &[], target, COPY) else {
            panic!("{target} is refused");
        };
        assert!(problems[0].contains(word), "{problems:?}");
    }
}

#[test]
fn typical_kernels_compile() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels");
    let cases: &[(&str, &str, &str)] = &[
        ("axpy_half2", "axpy", "pp44"),
        ("histogram", "histogram", "pp4"),
        ("layer_norm", "layer_norm", "pppp44"),
        ("matmul_naive", "matmul", "ppp4"),
        ("matmul_tiled", "matmul", "ppp4"),
        ("reduction", "reduce", "pp4"),
        ("scan", "scan", "ppp4"),
        ("softmax", "softmax", "pp4"),
        ("stencil", "stencil", "pp44"),
        ("transpose", "transpose", "pp44"),
        ("vote", "votes", "pp4"),
    ];
    for (file, name, parameters) in cases {
        let code = std::fs::read_to_string(format!("{folder}/{file}.cu")).expect("a kernel of the tests");
        let arguments = names(&code, name).into_iter().zip(parameters.chars());
        let arguments = arguments.map(|(name, kind)| EntryArgument { name, kind: kind_of(kind) }).collect();
        let entry = EntryRequest { name: (*name).to_owned(), block: [64, 1, 1], arguments };
        let Some(result) = compile_entry("f16", entry, "", &code) else { return };
        let artifact = result.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(artifact.entries[0].buffers.len(), parameters.matches('p').count(), "{file}");
    }
}

fn kind_of(letter: char) -> EntryArgumentKind {
    match letter {
        'p' => EntryArgumentKind::Array { element_bytes: 4, writable: false },
        _ => EntryArgumentKind::Scalar { bytes: 4 },
    }
}

/// The parameters' names of a kernel that is written plainly.
fn names(code: &str, kernel: &str) -> Vec<String> {
    let list = code.split_once(&format!(" {kernel}(")).expect("the kernel").1.split(')').next().unwrap_or_default();
    let last = |text: &str| text.rsplit([' ', '*']).next().unwrap_or_default().to_owned();
    list.split(',').map(last).collect()
}

#[test]
fn the_standard_librarys_kernel_compiles() {
    let code = include_str!("../../../stdlib/kernels/matmul/matmul_f32.cu");
    let parameters = ["A", "B", "C", "n"].into_iter().zip("ppp4".chars());
    let arguments =
        parameters.map(|(name, kind)| EntryArgument { name: name.to_owned(), kind: kind_of(kind) }).collect();
    let entry = EntryRequest { name: "matmul".to_owned(), block: [64, 1, 1], arguments };
    for target in ["sm_90a", "compute_75", ""] {
        let Some(result) = compile_entry("f32", entry.clone(), target, code) else { return };
        assert!(result.is_ok(), "{target}: {result:?}");
    }
}

#[test]
fn half_precision_brings_its_header() {
    for element in ["f16", "bf16"] {
        let sum = COPY.replace("A[i]", "A[i] + static_cast<ELEMENT>(static_cast<ACCUMULATOR>(A[i]))");
        let Some(result) = compile(element, &[], "sm_90a", &sum) else { return };
        assert!(result.is_ok(), "{element}: {result:?}");
    }
}

#[test]
fn headers_of_the_list_are_there() {
    for header in [
        "cooperative_groups.h",
        "cooperative_groups/reduce.h",
        "cooperative_groups/scan.h",
        "cooperative_groups/memcpy_async.h",
        "cuda/barrier",
        "cuda/pipeline",
        "cuda/ptx",
        "cuda/std/cmath",
        "cuda_fp8.h",
        "mma.h",
    ] {
        let Some(result) = compile("f32", &[], "sm_90a", &format!("#include <{header}>\n{COPY}")) else { return };
        assert!(result.is_ok(), "{header}: {result:?}");
    }
}

#[test]
fn nothing_else_is_included() {
    for name in ["\"/etc/hostname\"", "</etc/passwd>", "<stdio.h>", "\"prelude\"", "<cuda.h>"] {
        let Some(result) = compile("f32", &[], "", &format!("\n#include {name}\n{COPY}")) else { return };
        let Err(CompileError::Source(messages)) = result else { panic!("{name}: {result:?}") };
        assert_eq!((messages[0].piece.as_deref(), messages[0].line), (Some("device code"), 2), "{messages:?}");
        assert!(messages[0].text.contains("<cuda_fp16.h>"), "{messages:?}");
    }
}

#[test]
fn mismatches_are_sentences() {
    let mangled = COPY.replace("extern \"C\" ", "");
    let Some(said) = problems(&[], &mangled) else { return };
    assert!(said.contains("extern \"C\" __global__ void copy"), "{said}");
    let template = format!("template <int N> __global__ void copy(int *A) {{}}\n{}", COPY.replace("copy", "other"));
    let said = problems(&[], &template).unwrap_or_default();
    assert!(said.contains("no kernel of that name"), "{said}");
    let wide = COPY.replace("C_T *C", "C_T *C, long long n");
    let said = problems(&[("n", 4)], &wide).unwrap_or_default();
    assert!(said.contains("`n` is 8 bytes wide"), "{said}");
    let bounded = COPY.replace("void copy", "void __launch_bounds__(32) copy");
    let said = problems(&[], &bounded).unwrap_or_default();
    assert!(said.contains("__launch_bounds__ of 32 threads, and its launch has blocks of 64"), "{said}");
    let constant = COPY.replace("C_T *C", "const C_T *C").replace("C[i] = A[i]", "const_cast<C_T *>(C)[i] = A[i]");
    let said = problems(&[], &constant).unwrap_or_default();
    assert!(said.contains("`C` is an output"), "{said}");
    let structure =
        format!("struct S {{ int x[2]; }};\n{}", COPY.replace("const A_T *A", "S A").replace("A[i]", "A.x[0]"));
    let said = problems(&[], &structure).unwrap_or_default();
    assert!(said.contains("declare it as `const A_T *A`"), "{said}");
}

#[test]
fn shared_memory_and_registers_have_limits() {
    let shared =
        COPY.replace("C[i] = A[i]", "__shared__ float s[16384]; s[i] = A[i]; __syncthreads(); C[i] = s[i ^ 1]");
    let Some(result) = compile("f32", &[], "sm_90a", &shared) else { return };
    assert!(matches!(result, Err(CompileError::OverLimit { used: 65536, limit: 49152, .. })), "{result:?}");
    let huge = shared.replace("16384", "163840");
    let result = compile("f32", &[], "sm_90a", &huge);
    assert!(matches!(result, Some(Err(CompileError::OverLimit { used: 655_360, .. }))), "{result:?}");
    let bounded = COPY.replace("void copy", "void __maxnreg__(24) copy");
    let long = "float v[64];\n#pragma unroll\nfor (int k = 0; k < 64; ++k) v[k] = A[k * i];\n__syncthreads();\n#pragma unroll\n\
                for (int k = 0; k < 64; ++k) C[k * i] = v[63 - k] * v[k]";
    let spilled = compile("f32", &[], "sm_90a", &bounded.replace("C[i] = A[i]", long)).and_then(Result::ok);
    assert!(spilled.is_some_and(|it| it.resources.spill_bytes > Some(0) && it.resources.registers == Some(24)));
}

#[test]
fn inline_assembly_that_does_not_assemble_is_an_error_of_the_source() {
    let code = COPY.replace("C[i] = A[i]", "asm volatile(\"bogus.f32 %0;\" :: \"f\"(A[i]))");
    let Some(result) = compile("f32", &[], "", &code) else { return };
    let Err(CompileError::Source(messages)) = result else { panic!("{result:?}") };
    assert!(messages.iter().any(|message| message.text.contains("'bogus'")), "{messages:?}");
}

#[test]
fn warnings_do_not_hide_errors() {
    let code = format!("__device__ unsigned f() {{ return -1; }}\n{}", COPY.replace("A[i]", "nothing"));
    let Some(result) = compile("f32", &[], "", &code) else { return };
    let Err(CompileError::Source(messages)) = result else { panic!("{result:?}") };
    let error = messages.iter().find(|message| message.severity == Severity::Error).expect("an error");
    assert_eq!((error.piece.as_deref(), error.line, error.column), (Some("device code"), 4, 12), "{messages:?}");
}

#[test]
fn hostile_text_is_an_error() {
    let deep = format!("int x = {}1{};\n{COPY}", "(".repeat(3000), ")".repeat(3000));
    let recursive = format!(
        "#define X X X\n#define Y(a) Y(a a)\nY(X) template <int N> struct T {{ T<N + 1> t; }}; T<0> t;\n{COPY}"
    );
    let cut = "extern \"C\" __global__ void copy(const A_T *A, C_T *C) { asm(\"";
    let pragma = format!("#pragma once\n#line 7 \"/etc/passwd\"\n#error stop\n{COPY}");
    for code in [deep.as_str(), &recursive, cut, &pragma, "\u{FEFF}\u{1}", "\\", "#", "%:", "R\"(", "/*"] {
        let Some(result) = compile("f32", &[], "", code) else { return };
        let error = result.err().unwrap_or_else(|| panic!("{:?} compiles", &code[..code.len().min(40)]));
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn a_nul_and_a_huge_source_are_refused() {
    let nul = compile("f32", &[], "", &format!("\0{COPY}"));
    assert!(matches!(nul, Some(Err(CompileError::Source(_)))), "{nul:?}");
    let huge = format!("{COPY}{}", "// filler\n".repeat(200_000));
    assert!(matches!(compile("f32", &[], "", &huge), Some(Err(CompileError::OverLimit { .. }))));
}
