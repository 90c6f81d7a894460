//! What NVRTC makes of kernels that use clusters, tensor maps, cooperation and much shared memory. Needs no GPU: the example
//! `launches` runs them on one.

#[path = "launches/cases.rs"]
mod cases;

use cases::{CASES, Case, REFUSED};
use peak_backend_api::{Artifact, CompileError, CompileRequest, DeviceInfo, DeviceKind, EntryArgumentKind};
use std::collections::BTreeMap;

/// A device that has everything.
fn device() -> DeviceInfo {
    DeviceInfo {
        index: 0,
        name: "any".to_owned(),
        backend: "cuda".to_owned(),
        runtime: "gpu".to_owned(),
        driver: String::new(),
        kind: DeviceKind::Discrete,
        facts: BTreeMap::from([
            ("multiprocessors".to_owned(), 132),
            ("shared_memory_per_block_optin".to_owned(), 232_448),
        ]),
        features: ["bulk_copy", "clusters", "cooperative_launch"].map(str::to_owned).to_vec(),
        target: None,
    }
}

fn request(case: &Case, target: &str) -> CompileRequest {
    let backend = peak_backend_cuda::backend();
    case.request(|spec| backend.prelude(spec), &(case.work)(&device()), target)
}

/// `None` where the toolchain is missing.
fn compile(request: &CompileRequest) -> Option<Result<Artifact, CompileError>> {
    let result = peak_backend_cuda::backend().compile(request);
    if let Err(CompileError::Toolchain { name, .. }) = &result {
        assert!(std::env::var("PEAK_REQUIRE").is_err(), "{name} is required and missing");
        eprintln!("skipped (1): {name} is missing");
        return None;
    }
    Some(result)
}

#[test]
fn every_case_compiles_for_hopper() {
    for case in CASES.iter().chain(REFUSED.iter().map(|(case, _)| case)) {
        assert_eq!(case.lack(&device()), None, "{}", case.name);
        let work = (case.work)(&device());
        let sizes: BTreeMap<_, _> = work.buffers.iter().map(|(name, bytes)| (*name, bytes.len())).collect();
        assert!(!work.expected.is_empty(), "{}", case.name);
        for (name, expected) in &work.expected {
            assert_eq!(sizes.get(name), Some(&expected.len()), "{}: `{name}`", case.name);
        }
        for target in ["sm_90a", "compute_90"] {
            let Some(artifact) = compile(&request(case, target)) else { return };
            let artifact = artifact.unwrap_or_else(|error| panic!("{} for {target}: {error}", case.name));
            assert!(!artifact.entries.is_empty() && artifact.resources.spill_bytes == Some(0), "{}", case.name);
        }
    }
}

#[test]
fn a_tensor_map_is_a_parameter_of_128_bytes() {
    let case = CASES.iter().find(|case| case.name == "tensor_copy").expect("it is a case");
    let Some(artifact) = compile(&request(case, "sm_90a")) else { return };
    let entry = &artifact.expect("it compiles").entries[0];
    let map = entry.scalars.iter().find(|scalar| scalar.name == "a_map").expect("it is passed");
    assert_eq!((map.offset, map.bytes), (0, 128));
    assert_eq!((entry.buffers[0].name.as_str(), entry.buffers[0].binding), ("C", 1));
}

#[test]
fn a_tensor_map_that_is_taken_wrongly_is_a_sentence() {
    let case = CASES.iter().find(|case| case.name == "tensor_copy").expect("it is a case");
    for (parameter, word) in [
        ("const CUtensorMap a_map", "without `__grid_constant__`"),
        ("const float *a_map", "its parameter takes 8, aligned to 8"),
    ] {
        let mut request = request(case, "sm_90a");
        let text = format!("extern \"C\" __global__ void tensor_copy({parameter}, C_T *C, int swizzled) {{}}");
        request.pieces.last_mut().expect("the device code").text = text;
        let Some(result) = compile(&request) else { return };
        let Err(CompileError::Interface(problems)) = result else { panic!("{parameter}: {result:?}") };
        assert!(problems.iter().any(|problem| problem.contains(word)), "{problems:?}");
        assert!(problems[0].contains("declare it as `const __grid_constant__ CUtensorMap a_map`"), "{problems:?}");
    }
}

/// Libraries of the toolchain declare the type's name too.
#[test]
fn the_type_of_a_tensor_map_stands_beside_the_headers() {
    let case = CASES.iter().find(|case| case.name == "tensor_copy").expect("it is a case");
    let mut request = request(case, "sm_90a");
    let text = "#include <cuda/barrier>\n#include <cuda/ptx>\nextern \"C\" __global__ void tensor_copy(\
                const __grid_constant__ a_map_T a_map, C_T *C, int swizzled) { C[0] = sizeof(a_map) + swizzled; }";
    request.pieces.last_mut().expect("the device code").text = text.to_owned();
    let Some(artifact) = compile(&request) else { return };
    let artifact = artifact.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(request.entries[0].arguments[0].kind, EntryArgumentKind::TensorMap);
    assert_eq!(artifact.entries[0].scalars[0].bytes, 128);
}
