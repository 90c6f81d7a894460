//! Registers of a text by their width, and a few of each width that every mutated text has.

use fastrand::Rng;

/// What a body declares so that any instruction finds operands: type, prefix, count.
const OWN: [(&str, &str, u32); 6] =
    [("pred", "%zp", 4), ("b16", "%zh", 4), ("b32", "%zw", 6), ("f32", "%zf", 4), ("b64", "%zd", 6), ("f64", "%zg", 4)];

/// The bits of a type's name; 1 for a predicate.
pub fn bits(ty: &str) -> u32 {
    match ty {
        "pred" => 1,
        "f16x2" | "bf16x2" => 32,
        _ => ty.trim_start_matches(|it: char| !it.is_ascii_digit()).parse().unwrap_or(32),
    }
}

/// Declares [`OWN`] after the first brace, unless it is there.
pub fn declare_own(lines: &mut Vec<String>) {
    if lines.iter().any(|line| line.contains(OWN[0].1)) {
        return;
    }
    let Some(brace) = lines.iter().position(|line| line.trim() == "{") else { return };
    for (ty, prefix, count) in OWN {
        lines.insert(brace + 1, format!("\t.reg .{ty} {prefix}<{count}>;"));
    }
}

/// Declared ranges: bits, prefix, count.
pub fn ranges(lines: &[String]) -> Vec<(u32, String, u32)> {
    let range = |line: &String| {
        let rest = line.trim().strip_prefix(".reg")?.trim().strip_prefix('.')?;
        let (ty, rest) = rest.split_once(char::is_whitespace)?;
        let (prefix, rest) = rest.trim().split_once('<')?;
        Some((bits(ty), prefix.to_owned(), rest.split('>').next()?.parse().ok()?))
    };
    lines.iter().filter_map(range).filter(|(_, _, count)| *count > 0).collect()
}

/// A register of some bits, of any range.
pub fn any(rng: &mut Rng, ranges: &[(u32, String, u32)], bits: u32) -> String {
    let fitting: Vec<_> = ranges.iter().filter(|(have, ..)| *have == bits).collect();
    let Some((_, prefix, count)) = rng.choice(fitting) else { return "%zw0".to_owned() };
    format!("{prefix}{}", rng.u32(..(*count).min(64)))
}

/// The bits of a register by its name.
pub fn bits_of(ranges: &[(u32, String, u32)], name: &str) -> Option<u32> {
    let stem = name.trim_end_matches(|it: char| it.is_ascii_digit());
    ranges.iter().find(|(_, prefix, _)| prefix == stem).map(|(bits, ..)| *bits)
}
