//! Every code that the front end gives, with what `peak explain CODE` says. The order is the reference's.

/// A code and its explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeEntry {
    /// `peak::kebab-name`.
    pub code: &'static str,
    /// What it means and what to do, in a sentence or three.
    pub explanation: &'static str,
}

const fn entry(code: &'static str, explanation: &'static str) -> CodeEntry {
    CodeEntry { code, explanation }
}

/// Every code.
pub const CODES: &[CodeEntry] = &[
    // How a file is read.
    entry(
        "peak::tab",
        "A tab stands where only spaces may. Indent with spaces, two a level; tabs are text inside prose, quotes and fenced code.",
    ),
    entry("peak::nul", "The file holds a NUL byte. It is likely not a text file, or was cut in the middle of a write."),
    entry("peak::utf8", "The file holds bytes that are not UTF-8. Save it as UTF-8."),
    entry(
        "peak::file-too-large",
        "The file is larger than any hand-written one; it was not read. Split it, and join the parts with `use`.",
    ),
    entry(
        "peak::line-too-long",
        "The line is longer than any hand-written one; it was skipped. Break it, or move code into a file of its own.",
    ),
    entry(
        "peak::too-deep",
        "Lines, brackets or operations are nested deeper than the limit; what is deeper was skipped.",
    ),
    entry("peak::too-many-errors", "The file has more errors than are shown. Mend the first ones and look again."),
    entry(
        "peak::indentation",
        "The line is indented to a level that no line above opened, or the first line of a file is indented. Align it with the lines that it belongs with.",
    ),
    entry(
        "peak::unterminated-fence",
        "A fence of three backticks is not closed before the block that holds it ends. Close it with a line of three backticks, no less indented than the block.",
    ),
    // Clauses.
    entry(
        "peak::syntax",
        "The clause does not follow its grammar. The label says what was expected there; `spec/language.md` shows every clause.",
    ),
    entry(
        "peak::unknown-clause",
        "The line opens with no word that this kind of block knows. Free text belongs into a prose block (`because`, `knows`, `in REGION`, `known failures`).",
    ),
    entry(
        "peak::unknown-declaration",
        "At the left margin stand declarations only: kernel, utility, transformation, device, pack, workflow, and `use \"path\"`.",
    ),
    entry("peak::missing-block", "The clause needs indented lines below it."),
    entry(
        "peak::unexpected-block",
        "The clause takes no indented lines. Move them to the level of the clause, or remove them.",
    ),
    entry(
        "peak::missing-code",
        "Code is named by `from \"file\"` or given in one fenced block below the clause: exactly one of the two.",
    ),
    entry(
        "peak::not-built",
        "The construct belongs to the language but is not built yet; the rest of the file is used.",
    ),
    entry(
        "peak::division-by-zero",
        "A number is divided by 0, or by an expression that is 0 whatever the configuration: none would be valid.",
    ),
    entry(
        "peak::number-range",
        "The number does not fit: integers have 64 bits, what is computed from them too, and counts must not be negative.",
    ),
    entry(
        "peak::unknown-unit",
        "The unit is not known there: bytes come as KiB, MiB, GiB; rates as FLOPS or B/s with K, M, G, T or P before them.",
    ),
    // Declarations.
    entry(
        "peak::duplicate-name",
        "The name is declared twice in one place. Names are unique within a kind; rename one.",
    ),
    entry("peak::duplicate-clause", "The clause may stand once in its block. Merge the two."),
    entry("peak::missing-clause", "The declaration lacks a clause that it needs."),
    entry(
        "peak::name-style",
        "Declarations are named in kebab-case, tuning parameters in UPPER_SNAKE, lets and settings in snake_case. Rename it.",
    ),
    entry("peak::unknown-name", "Nothing of that name is known there. The help names the nearest that is."),
    entry("peak::unknown-language", "The backends' languages are cuda, hip and hlsl."),
    entry(
        "peak::unknown-type",
        "Element types are f16, bf16, f32, f64, i8, u8, i32, u32, i64, u64; `int` and `uint` are i32 and u32.",
    ),
    entry(
        "peak::unknown-function",
        "Expressions know ceil, floor, min, max and sizeof; the oracle knows exp, log, sqrt, rsqrt, tanh, sigmoid, sin, cos, erf, abs, floor, ceil, pow, min, max, where and the reductions.",
    ),
    entry(
        "peak::type-mismatch",
        "A condition stands where a number is needed, or the other way round, or a form that only the oracle knows stands in a size.",
    ),
    entry("peak::wrong-dimensions", "An array is used with another number of indices than it has dimensions."),
    entry("peak::not-an-array", "The name is a scalar where an array is needed, or the other way round."),
    entry(
        "peak::values",
        "The set of values is empty, disordered, or does not hold the start. The lower bound of powers is itself a power of the base.",
    ),
    entry(
        "peak::never-holds",
        "No values of the declaration's own tuning parameters meet the requirement, so no configuration is ever valid, on any device. Widen a range, or relax the requirement.",
    ),
    entry(
        "peak::cycle",
        "Declarations refer to one another in a circle (`extends` among packs, `after` among transformations, `use` of files), or an array of `computes` is defined by itself. Break it at one place.",
    ),
    entry(
        "peak::used-before-defined",
        "A statement of `computes` reads an array that a later one defines, or host code reads a `let` that stands below. Statements stand in order; move the later one up. What an inout holds on entry is written `old NAME[...]`.",
    ),
    entry(
        "peak::extent-unknown",
        "Nothing says how far an index of a local array runs: it stands alone in the brackets of no array that is known. Write `NAME[i in 0..EXTENT] = VALUE`.",
    ),
    entry(
        "peak::not-computed",
        "The kernel says what it computes, but not for this output. Every output and inout needs a statement; without `computes`, the initial code is the only reference.",
    ),
    entry(
        "peak::insert-without-code",
        "The inserted utility has no code for a language that the transformation or the step is for. Add the code, or narrow `on` or `in REGION for`.",
    ),
    entry(
        "peak::wrong-region",
        "The step cannot act on that region: `set` changes host code only; `insert` and `rewrite` change code, not the launch plan.",
    ),
    entry(
        "peak::metavariable",
        "A metavariable is misspelled, or a replacement uses one that its pattern does not bind. `$NAME` is one piece of code, `$$$NAME` several.",
    ),
    entry(
        "peak::open-group",
        "The last pass closes what earlier ones may have broken, so it cannot itself leave something broken.",
    ),
    entry("peak::launch", "A launch needs a grid and a block, each with one to three extents, and its arguments."),
    entry("peak::swizzle", "A tensor map swizzles 0, 32, 64 or 128 bytes."),
    // Specialization.
    entry(
        "peak::not-for-device",
        "The transformation or workflow exists, but belongs to a pack for other devices, or names another target or language.",
    ),
    entry(
        "peak::pack-conflict",
        "Two packs for one device, neither of which builds on the other, change the same part of a transformation. Let one extend the other.",
    ),
];

/// The entry of a code, with or without the leading `peak::`.
#[must_use]
pub fn code_entry(code: &str) -> Option<&'static CodeEntry> {
    let bare = code.strip_prefix("peak::").unwrap_or(code);
    CODES.iter().find(|entry| entry.code.strip_prefix("peak::") == Some(bare))
}
