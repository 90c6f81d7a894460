//! Input that no person wrote: never a panic, always a bound, always a diagnostic that names it.

use peak_grammar::limits::{MAX_DIAGNOSTICS, MAX_FILE_BYTES};
use peak_grammar::{Diagnostic, PlanNames, SourceFile, Sources, load, parse, parse_launch_plan};
use proptest::prelude::*;
use std::time::{Duration, Instant};

const DESIGN: &str = include_str!("suite/ok/design.peak");

/// Input that goes wrong in a way of its own.
struct Case {
    name: &'static str,
    bytes: fn() -> Vec<u8>,
    /// The codes that it gives, in order.
    codes: &'static [&'static str],
}

const fn case(name: &'static str, bytes: fn() -> Vec<u8>, codes: &'static [&'static str]) -> Case {
    Case { name, bytes, codes }
}

/// Bad input by name. Files that cannot be opened are cases of `tests/check.rs` of the root package.
const CASES: &[Case] = &[
    case("tab indentation", || b"device d\n\tspeaks cuda\n".to_vec(), &["peak::tab"]),
    case("tabs below spaces", || b"device d\n  speaks cuda\n\thas warp = 32\n".to_vec(), &["peak::tab"]),
    case("a NUL", || b"device d\n  speaks cuda\0\n".to_vec(), &["peak::nul"]),
    case("nothing but NULs", || vec![0; 1000], &["peak::nul"]),
    case("invalid UTF-8", || b"device d \"\xff\xfe\"\n  speaks cuda\n".to_vec(), &["peak::utf8"]),
    case("a character cut in two", || b"device d\n  speaks cuda\n# \xe2\x82".to_vec(), &["peak::utf8"]),
    case("10 MB on one line", || vec![b'a'; 10 << 20], &["peak::line-too-long"]),
    case("10 MB of one title", || device(&"t".repeat(10 << 20), ""), &["peak::line-too-long"]),
    case("10 MB of a fence's line", ten_megabytes_of_code, &["peak::line-too-long"]),
    case("10,000 levels", || levels(10_000), &["peak::file-too-large"]),
    case("1,000 levels", || levels(1_000), &["peak::too-deep"]),
    case("10,000 brackets", || requirement(&in_brackets(10_000)), &["peak::line-too-long"]),
    case("1,000 brackets", || requirement(&in_brackets(1_000)), &["peak::too-deep"]),
    case("1,000 operations", || requirement(&format!("{}n = 1", "-".repeat(1_000))), &["peak::too-deep"]),
    case("a cycle of `after`", || ring("transformation", "after", 3), &["peak::cycle"]),
    case("one that comes after itself", || ring("transformation", "after", 1), &["peak::cycle"]),
    case("a cycle of 10,000 `after`", || ring("transformation", "after", 10_000), &["peak::cycle"]),
    case("a cycle of packs", || ring("pack", "extends", 3), &["peak::cycle"]),
    case("a pack that extends itself", || ring("pack", "extends", 1), &["peak::cycle"]),
    case("duplicate names", || [device("A", ""), device("B", "")].concat(), &["peak::duplicate-name"]),
    case("a name 10,000 times", || device("A", "").repeat(10_000), &["peak::duplicate-name", "peak::too-many-errors"]),
    case("a unit on a tuning parameter", || kernel("  tune T in 8 KiB, 16\n"), &["peak::syntax"]),
    case("a unit on a count", || workflow("  tune up to 4 KiB configurations after each step\n"), &["peak::syntax"]),
    case("a unit on a type", || kernel("  input B: array[n] of f32 KiB, ones\n"), &["peak::syntax"]),
    case("a rate as a fact", || device("A", "  has warp = 32 TFLOPS\n"), &["peak::unknown-unit"]),
    case("bytes as a rate of arithmetic", || device("A", "  peaks at 10 KiB f32\n"), &["peak::unknown-unit"]),
    case("a literal beyond 64 bits", || requirement("n < 99999999999999999999"), &["peak::number-range"]),
    case("a unit that goes beyond 64 bits", || requirement("n < 9223372036854775807 KiB"), &["peak::number-range"]),
    case("a sum beyond 64 bits", || requirement("n < 9223372036854775807 + 1"), &["peak::number-range"]),
    case("a product beyond 64 bits", || requirement("n < 4294967296 * 4294967296"), &["peak::number-range"]),
    case(
        "a power beyond 64 bits",
        || kernel("  tune T in powers of 2 from 1 to 9223372036854775808\n"),
        &["peak::number-range"],
    ),
    case("a range of all numbers", || kernel("  tune T in 0 to 9223372036854775807\n"), &["peak::values"]),
    case("a number beyond a double", || kernel("  tolerance absolute 1e999\n"), &["peak::number-range"]),
    case("division by zero in a requirement", || requirement("n / 0 = 1"), &["peak::division-by-zero"]),
    case("a remainder by zero", || requirement("n mod 0 = 0"), &["peak::division-by-zero"]),
    case("division by what is always zero", || requirement("n / (4 - 2 * 2) = 1"), &["peak::division-by-zero"]),
    case("a rounded division by zero", || requirement("ceil(n / 0) = 1"), &["peak::division-by-zero"]),
    case("an empty file", Vec::new, &[]),
    case("nothing but blank lines", || b"\n\r\n   \n".to_vec(), &[]),
    case("nothing but a byte order mark", || "\u{feff}".as_bytes().to_vec(), &[]),
];

#[test]
fn every_case_gives_its_codes_quickly() {
    for Case { name, bytes, codes } in CASES {
        let mut found = timed(&bytes());
        found.dedup();
        assert_eq!(&found, codes, "{name}");
    }
}

fn device(title: &str, clauses: &str) -> Vec<u8> {
    format!("device d \"{title}\"\n  speaks cuda\n{clauses}").into_bytes()
}

/// A kernel that is right but for `clauses`.
fn kernel(clauses: &str) -> Vec<u8> {
    let head = "kernel copy\n  element f32\n  input n: int in 64\n  input A: array[n] of f32, ones\n";
    let tail = "  output C: array[n] of f32\n  device code for cuda from \"copy.cu\"\n";
    let host = "  host code\n    launch copy\n      grid 1\n      block 1\n      arguments A, C, n\n";
    format!("{head}{clauses}{tail}{host}").into_bytes()
}

fn requirement(condition: &str) -> Vec<u8> {
    kernel(&format!("  require {condition}\n"))
}

fn in_brackets(count: usize) -> String {
    format!("{}n{} = 1", "(".repeat(count), ")".repeat(count))
}

fn workflow(clauses: &str) -> Vec<u8> {
    let right = String::from_utf8(kernel("")).expect("text");
    format!("{right}workflow w\n  start from kernel copy\n{clauses}  keep best\n").into_bytes()
}

fn levels(count: usize) -> Vec<u8> {
    let repeats = (0..count).map(|level| format!("{:level$}repeat at most 2 times\n", "", level = level + 2));
    [workflow(""), repeats.collect::<String>().into_bytes()].concat()
}

fn ten_megabytes_of_code() -> Vec<u8> {
    format!("utility u\n  code for cuda\n    ```\n    {}\n    ```\n", "x".repeat(10 << 20)).into_bytes()
}

/// Declarations each of which names the next, and the last the first.
fn ring(kind: &str, clause: &str, count: usize) -> Vec<u8> {
    let below = match kind {
        "pack" => "  for devices d\n",
        _ => "  pass p\n    in device code\n      Do it.\n",
    };
    let one = |at: usize| format!("{kind} r{at}\n  {clause} r{}\n{below}", (at + 1) % count);
    let ring: String = (0..count).map(one).collect();
    [device("A", ""), ring.into_bytes()].concat()
}

#[test]
fn a_nul_is_reported() {
    let found = read(b"kernel a\0b\n  element f32\n");
    assert_eq!(found[0].code, "peak::nul");
    assert_eq!(found[0].span.start, 8);
}

#[test]
fn bytes_that_are_not_utf8_are_reported_where_they_are() {
    let found =
        read("# käse\n".as_bytes().iter().chain(b"kernel \xff\xfe a\n").copied().collect::<Vec<u8>>().as_slice());
    assert_eq!(found[0].code, "peak::utf8");
    assert_eq!(found[0].span.start, 15);
    assert!(found[0].message.contains("2 of them"), "{}", found[0].message);
}

#[test]
fn ten_megabytes_of_one_line_are_refused_quickly() {
    let mut text = String::from("kernel a\n  require ");
    text.push_str(&"(1 + ".repeat(2 << 20));
    text.push_str("\n  element f33\n");
    let codes = timed(text.as_bytes());
    assert!(codes.contains(&"peak::line-too-long") && codes.contains(&"peak::unknown-type"), "{codes:?}");
}

#[test]
fn ten_thousand_levels_are_refused_quickly() {
    let levels = |count: usize| (0..count).map(|level| format!("{:level$}repeat 2 times\n", "")).collect::<String>();
    assert!(timed(levels(100).as_bytes()).contains(&"peak::too-deep"));
    // Indentation alone makes these 17 and 50 megabytes: lines beyond a bound, then the file itself.
    assert!(timed(levels(5_700).as_bytes()).contains(&"peak::line-too-long"));
    assert_eq!(timed(levels(10_000).as_bytes()), ["peak::file-too-large"]);
}

#[test]
fn a_file_beyond_the_bound_is_not_read() {
    assert_eq!(timed(&vec![b'a'; MAX_FILE_BYTES + 1]), ["peak::file-too-large"]);
}

#[test]
fn a_million_errors_are_counted_and_not_shown() {
    let found = read("nonsense\n".repeat(1_000_000).as_bytes());
    assert_eq!(found.len(), MAX_DIAGNOSTICS + 1);
    assert_eq!(found[MAX_DIAGNOSTICS].code, "peak::too-many-errors");
    assert!(found[MAX_DIAGNOSTICS].message.starts_with("999900 more"), "{}", found[MAX_DIAGNOSTICS].message);
}

#[test]
fn many_unclosed_openers_take_linear_time() {
    for line in
        ["```x\n", "  ```x\n", "in device code\n", " because\n", "kernel a\n  macros for cuda\n    ```\n    ```\n"]
    {
        timed(line.repeat(200_000).as_bytes());
    }
}

#[test]
fn a_line_full_of_signs_is_refused() {
    for sign in
        ["(", "-", "not ", "a[", "sum(k in ", "min(1, ", "1 + ", "where(", "old a[", "1 where ", "sum(k in 0..n where "]
    {
        let text = format!("kernel a\n  require {}1\n", sign.repeat(4000 / sign.len()));
        assert!(!timed(text.as_bytes()).is_empty(), "{sign}");
    }
}

#[test]
fn choices_and_conditions_take_no_more_than_they_say() {
    let level = "where(n = 1 and n = 2, 1, ";
    let value = format!("{}0{}", level.repeat(20), ")".repeat(20));
    let head = "kernel a\n  element f32\n  input n: int in 1\n  output C: array[n] of f32\n  computes C[i] = ";
    let found = timed(format!("{head}{value}\n").as_bytes());
    assert!(!found.contains(&"peak::too-deep"), "{found:?}");
    let long = format!("{head}1 where {} else 0\n", vec!["n = 1"; 60].join(" and "));
    assert!(!read_whole(&long).contains(&"peak::too-deep"));
    let chain = format!("{head}{} 0\n", "1 where n = 1 else ".repeat(60));
    assert!(read_whole(&chain).contains(&"peak::too-deep"));
    let nested = format!("{head}{}1{}\n", "sum(k in 0..n where (1 where n = ".repeat(11), " else 0) = 1) 1".repeat(11));
    timed(nested.as_bytes());
    let sums = format!("{head}sum({}) 1\n", (0..50).map(|at| format!("k{at} in 0..n")).collect::<Vec<_>>().join(", "));
    assert!(read_whole(&sums).contains(&"peak::too-deep"));
}

#[test]
fn a_circle_of_a_thousand_packs_is_reported_once() {
    let packs: String = (0..1000).map(|at| format!("pack p{at}\n  extends p{}\n", (at + 1) % 1000)).collect();
    let codes = timed(packs.as_bytes());
    assert_eq!(codes, ["peak::cycle"]);
}

#[test]
fn a_carriage_return_and_a_byte_order_mark_are_no_text() {
    let plain = load(&[SourceFile::new("a", DESIGN)]);
    assert!(plain.1.is_empty());
    let windows = load(&[SourceFile::new("a", &format!("\u{feff}{}", DESIGN.replace('\n', "\r\n")))]);
    assert!(windows.1.is_empty(), "{:?}", windows.1);
    let names = |library: &peak_grammar::ir::Library| library.kernels["matmul-f32"].host_code.clone();
    assert_eq!(names(&plain.0), names(&windows.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        shown(&bytes);
    }

    #[test]
    fn any_words_of_the_language_are_read(words in proptest::collection::vec(word(), 0..120)) {
        shown(words.concat().as_bytes());
        let names = PlanNames { arrays: vec!["A".to_owned()], ..PlanNames::default() };
        drop(parse_launch_plan("plan", &words.concat(), &names));
    }

    #[test]
    fn a_file_with_a_few_bytes_changed_is_read(changes in proptest::collection::vec((0..DESIGN.len(), any::<u8>()), 1..6)) {
        let mut bytes = DESIGN.as_bytes().to_vec();
        changes.iter().for_each(|(at, byte)| bytes[*at] = *byte);
        shown(&bytes);
    }

    #[test]
    fn a_file_with_lines_moved_is_read(moves in proptest::collection::vec((0..180usize, 0..180usize, 0..9usize), 1..8)) {
        let mut lines: Vec<String> = DESIGN.lines().map(str::to_owned).collect();
        for (from, to, indent) in moves {
            let line = lines.remove(from % lines.len());
            let at = to % lines.len();
            lines.insert(at, format!("{:indent$}{}", "", line.trim_start()));
        }
        shown(lines.join("\n").as_bytes());
    }
}

/// Words from which clauses, right and wrong, are put together.
fn word() -> impl Strategy<Value = String> {
    let words: Vec<String> = DESIGN.split(' ').filter(|word| !word.is_empty()).map(|word| format!("{word} ")).collect();
    prop_oneof![
        4 => proptest::sample::select(words),
        1 => proptest::sample::select(vec!["\n", "\n  ", "\n    ", "\n      ", "```", "`", "\"", "{", "}", "\t", "#", "é", "("])
            .prop_map(str::to_owned),
    ]
}

/// Reads and resolves; every span must lie in the text, and every diagnostic must render.
fn shown(bytes: &[u8]) {
    let file = SourceFile { name: "hostile.peak".to_owned(), bytes: bytes.to_vec() };
    let (_, found) = load(std::slice::from_ref(&file));
    let sources = Sources::new([&file]);
    let text = sources.text("hostile.peak").unwrap_or("");
    assert_eq!(text.len(), bytes.len(), "spans must hold in the file itself");
    for diagnostic in found {
        assert!(text.get(diagnostic.span.start..diagnostic.span.end).is_some(), "{diagnostic:?} in {text:?}");
        assert!(!format!("{:?}", sources.report(&diagnostic)).is_empty());
    }
}

fn read_whole(text: &str) -> Vec<&'static str> {
    load(&[SourceFile::new("hostile.peak", text)]).1.iter().map(|one| one.code).collect()
}

fn read(bytes: &[u8]) -> Vec<Diagnostic> {
    parse(&SourceFile { name: "hostile.peak".to_owned(), bytes: bytes.to_vec() }).1
}

/// The codes found, in a time that no quadratic walk would keep.
#[allow(clippy::disallowed_methods, reason = "the test measures; the front end has no clock")]
fn timed(bytes: &[u8]) -> Vec<&'static str> {
    let start = Instant::now();
    let file = SourceFile { name: "hostile.peak".to_owned(), bytes: bytes.to_vec() };
    let (_, found) = load(std::slice::from_ref(&file));
    let sources = Sources::new([&file]);
    found.iter().take(2).for_each(|diagnostic| assert!(format!("{:?}", sources.report(diagnostic)).len() < 20_000));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    found.iter().map(|diagnostic| diagnostic.code).collect()
}
