//! The text before the regions: types and tuning parameters as macros.

use peak_backend_api::PreludeSpec;
use std::fmt::Write;

/// `ELEMENT`, `ACCUMULATOR`, a type an argument (`A_T`), and each tuning parameter.
pub(crate) fn prelude(spec: &PreludeSpec) -> String {
    let mut text = String::new();
    let mut define = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define {name} {value}");
    };
    define("ELEMENT", type_name(&spec.element));
    define("ACCUMULATOR", type_name(&spec.accumulator));
    for (argument, element) in &spec.argument_types {
        define(&format!("{argument}_T"), type_name(element));
    }
    for (parameter, value) in &spec.configuration {
        define(parameter, &value.to_string());
    }
    text
}

/// HLSL's word for an element type. One that HLSL lacks stays as it is, and the compiler names it as unknown.
fn type_name(element: &str) -> &str {
    match element {
        "f16" => "float16_t",
        "f32" => "float",
        "f64" => "double",
        "i16" => "int16_t",
        "i32" | "int" => "int",
        "i64" => "int64_t",
        "u16" => "uint16_t",
        "u32" | "uint" => "uint",
        "u64" => "uint64_t",
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
        let expected = "#define ELEMENT float16_t\n#define ACCUMULATOR float\n#define A_T float16_t\n#define n_T int\n#define BLOCK_X 16\n";
        assert_eq!(prelude(&spec), expected);
    }
}
