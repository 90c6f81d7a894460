//! The text before the regions: headers of the types in use, types and tuning parameters as macros.

use peak_backend_api::{PreludeSpec, TENSOR_MAP_TYPE};
use std::fmt::Write;

/// Types that the language itself lacks, with the header that defines each.
const HEADERS: &[(&str, &str)] = &[("__half", "cuda_fp16.h"), ("__nv_bfloat16", "cuda_bf16.h")];

/// The driver's type of a tensor map, which its own header defines in the same way: that header is large, speaks of host
/// code, and is not in every toolchain. The name of the structure is the one that libcu++ declares.
const TENSOR_MAP: &str = "struct alignas(128) CUtensorMap_st { unsigned long long opaque[16]; };\n\
                          typedef struct CUtensorMap_st CUtensorMap;\n";

/// `ELEMENT`, `ACCUMULATOR`, a type an argument (`A_T`), and each tuning parameter.
pub(crate) fn prelude(spec: &PreludeSpec) -> String {
    let mut defines = String::new();
    let mut define = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(defines, "#define {name} {value}");
    };
    define("ELEMENT", type_name(&spec.element));
    define("ACCUMULATOR", type_name(&spec.accumulator));
    for (argument, element) in &spec.argument_types {
        define(&format!("{argument}_T"), type_name(element));
    }
    for (parameter, value) in &spec.configuration {
        define(parameter, &value.to_string());
    }
    let types = spec.argument_types.iter().map(|(_, element)| element);
    let types: Vec<&str> = types.chain([&spec.element, &spec.accumulator]).map(|name| type_name(name)).collect();
    let headers = HEADERS.iter().filter(|(name, _)| types.contains(name));
    let includes: String = headers.map(|(_, header)| format!("#include <{header}>\n")).collect();
    let map = if types.contains(&type_name(TENSOR_MAP_TYPE)) { TENSOR_MAP } else { "" };
    includes + map + &defines
}

/// CUDA's word for an element type. One that it lacks stays as it is, and the compiler names it as unknown.
fn type_name(element: &str) -> &str {
    match element {
        "bf16" => "__nv_bfloat16",
        "f16" => "__half",
        "f32" => "float",
        "f64" => "double",
        "i8" => "signed char",
        "i16" => "short",
        "i32" | "int" => "int",
        "i64" => "long long",
        "u8" => "unsigned char",
        "u16" => "unsigned short",
        "u32" | "uint" => "unsigned",
        "u64" => "unsigned long long",
        TENSOR_MAP_TYPE => "CUtensorMap",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_parameters_become_macros() {
        let spec = PreludeSpec {
            element: "f16".to_owned(),
            accumulator: "f32".to_owned(),
            argument_types: vec![("A".to_owned(), "f16".to_owned()), ("n".to_owned(), "int".to_owned())],
            configuration: vec![("BLOCK_X".to_owned(), 16)],
        };
        let expected = "#include <cuda_fp16.h>\n#define ELEMENT __half\n#define ACCUMULATOR float\n#define A_T __half\n#define n_T int\n#define BLOCK_X 16\n";
        assert_eq!(prelude(&spec), expected);
        let map = ("a_map".to_owned(), TENSOR_MAP_TYPE.to_owned());
        let with_map = prelude(&PreludeSpec { argument_types: vec![map], ..spec });
        assert!(with_map.contains("CUtensorMap;\n#define ELEMENT"), "{with_map}");
        assert!(with_map.contains("#define a_map_T CUtensorMap\n"), "{with_map}");
    }
}
