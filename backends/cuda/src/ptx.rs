//! The entry points of a PTX text: names, parameters, and what the code says of its launch. Reads headers, never bodies.

/// An entry point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The symbol: C++ mangles it where `extern "C"` is missing.
    pub symbol: String,
    /// Bytes and alignment of each parameter.
    pub parameters: Vec<Parameter>,
    /// The most threads a block (`__launch_bounds__`).
    pub threads_max: Option<u64>,
    /// Threads a block, where the code demands a shape.
    pub threads: Option<[u32; 3]>,
}

/// A parameter of an entry point, as PTX has it: without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Width in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub alignment: u32,
    /// Whether it is a structure (or a type that PTX knows as bytes only).
    pub opaque: bool,
}

/// Every entry point, in the order of the text. Text that is no PTX holds none.
pub(crate) fn entries(ptx: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut rest = ptx;
    while let Some(at) = rest.find(".entry ") {
        rest = &rest[at + ".entry ".len()..];
        found.extend(rest.find('{').and_then(|end| entry(&rest[..end])));
    }
    found
}

/// Reads `NAME( parameters ) directives`.
fn entry(header: &str) -> Option<Entry> {
    let (symbol, rest) = match header.split_once('(') {
        Some((symbol, rest)) => (symbol, Some(rest)),
        None => (header, None),
    };
    let symbol = symbol.split_whitespace().next()?.to_owned();
    let (parameters, directives) = rest.and_then(|rest| rest.split_once(')')).unwrap_or(("", header));
    let parameters = parameters.split(',').filter(|text| !text.trim().is_empty()).map(parameter);
    let shape = |name| numbers(directives, name);
    Some(Entry {
        symbol,
        parameters: parameters.collect::<Option<_>>()?,
        threads_max: shape(".maxntid").map(|sides| sides.iter().map(|side| u64::from(*side)).product()),
        threads: shape(".reqntid"),
    })
}

/// Reads `.param .align 4 .b8 NAME[20]`, `.param .u64 .ptr .align 1 NAME`.
fn parameter(text: &str) -> Option<Parameter> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let width = words.iter().find_map(|word| width(word))?;
    let count = match words.last()?.split_once('[') {
        Some((_, count)) => Some(count.strip_suffix(']')?.parse::<u32>().ok()?),
        None => None,
    };
    let pointer = words.contains(&".ptr");
    let stated = words.iter().position(|word| *word == ".align").and_then(|at| words.get(at + 1)?.parse().ok());
    let alignment = if pointer { width } else { stated.unwrap_or(width) };
    let bytes = width.checked_mul(count.unwrap_or(1))?;
    Some(Parameter { bytes, alignment: alignment.max(1), opaque: count.is_some() })
}

/// Bytes of `.u64`, `.f32`, `.b8`.
fn width(word: &str) -> Option<u32> {
    let digits = word.strip_prefix(['.'])?.strip_prefix(['u', 's', 'b', 'f'])?;
    let bits: u32 = digits.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(bits / 8)
}

/// The numbers after a directive, missing ones as 1.
fn numbers(directives: &str, name: &str) -> Option<[u32; 3]> {
    let rest = directives.split_once(name)?.1;
    let line = rest.lines().next()?;
    let mut sides = [1; 3];
    for (side, text) in sides.iter_mut().zip(line.split(',')) {
        *side = text.trim().parse().ok()?;
    }
    Some(sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let text = "\t// .globl\tg\n\n.visible .entry g(\n\t.param .align 4 .b8 g_param_0[20],\n\t.param .u64 .ptr .align 1 g_param_1,\n\
                    \t.param .f32 g_param_2\n)\n.maxntid 128, 2, 1\n.minnctapersm 2\n{\n ret; }\n.entry k\n{ ret;\n}\n\
                    .visible .entry r()\n.reqntid 64\n{}";
        let found = entries(text);
        let names: Vec<&str> = found.iter().map(|entry| entry.symbol.as_str()).collect();
        assert_eq!(names, ["g", "k", "r"]);
        let shapes: Vec<_> = found[0].parameters.iter().map(|it| (it.bytes, it.alignment, it.opaque)).collect();
        assert_eq!(shapes, [(20, 4, true), (8, 8, false), (4, 4, false)]);
        assert_eq!((found[0].threads_max, found[0].threads), (Some(256), None));
        assert_eq!((found[2].threads_max, found[2].threads), (None, Some([64, 1, 1])));
    }

    #[test]
    fn other_text_holds_none() {
        for text in
            ["", ".entry ", ".entry f(", ".entry f(.param .u64 a[", ".entry f(.param .u64 a[99999999999]){", ".entry {"]
        {
            assert!(entries(text).is_empty(), "{text:?}");
        }
    }
}
