//! Packs applied, workflows chosen, patterns bound: through the public surface, on small libraries.

use peak_grammar::ir::{Computes, Expr, KernelSelector, Library, Region};
use peak_grammar::matching::{Bindings, Mismatch, bind};
use peak_grammar::specialize::{SpecializeError, applicable_packs, find_device, transformation, workflow};
use peak_grammar::{SourceFile, load};

const DESIGN: &str = include_str!("suite/ok/design.peak");

fn library(text: &str) -> Library {
    let (library, diagnostics) = load(&[SourceFile::new("library.peak", text)]);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    library
}

#[test]
fn a_pack_replaces_what_it_names_and_says_so() {
    let library = library(DESIGN);
    let plain = transformation(&library, "tb-tiling", None).expect("it is there");
    let special = transformation(&library, "tb-tiling", Some("nvidia-h200")).expect("it is there");
    assert_eq!(plain.transformation, library.transformations["tb-tiling"]);
    assert_eq!(special.transformation.introduces[0].values.to_string(), "32, 64, 128");
    assert_eq!(special.transformation.introduces.len(), 1);
    assert_eq!(special.transformation.requires.len(), plain.transformation.requires.len());
    let sources: Vec<&str> = special.knowledge.iter().map(|known| known.source.as_str()).collect();
    assert_eq!(sources, ["nvidia-h200", "hopper", "hopper: tb-tiling"]);
    let parts: Vec<(&str, &str)> =
        special.provenance.iter().map(|(part, pack)| (part.as_str(), pack.as_str())).collect();
    let expected =
        [("introduces TILE_K_SIZE", "hopper"), ("takes padding", "hopper"), ("requires fits-shared", "hopper")];
    assert_eq!(parts, expected);
}

#[test]
fn a_pass_keeps_its_place_when_it_is_replaced() {
    let library = library(DESIGN);
    let special = transformation(&library, "tensor-core", Some("nvidia-h100")).expect("it is there");
    assert_eq!(special.transformation.passes.len(), 1);
    assert_eq!(special.provenance["pass use-tensor-cores"], "hopper");
    assert_eq!(special.transformation.passes[0].steps[0].region, Region::DeviceCode);
}

#[test]
fn bases_come_first_and_apply_with_what_builds_on_them() {
    let library = library(&format!(
        "{DESIGN}\npack a-late\n  for devices other\n  extends hopper\n\ndevice other\n  speaks hip\n"
    ));
    let names = |device| applicable_packs(&library, device).iter().map(|pack| pack.name.clone()).collect::<Vec<_>>();
    assert_eq!(names("nvidia-h200"), ["hopper", "hopper-h200"]);
    assert_eq!(names("other"), ["hopper", "a-late"]);
    assert!(names("none").is_empty());
}

#[test]
fn a_packs_own_transformation_is_for_its_devices() {
    let library = library(DESIGN);
    let own = transformation(&library, "bulk-copies", Some("nvidia-h200")).expect("it is there");
    assert_eq!(own.provenance["transformation"], "hopper");
    let error = transformation(&library, "bulk-copies", None).expect_err("it needs the pack");
    assert!(matches!(error, SpecializeError::NotFor { .. }), "{error}");
    let error = transformation(&library, "tb-tilling", None).expect_err("a slip");
    let SpecializeError::Unknown { help, .. } = error else { panic!("{error}") };
    assert_eq!(help, "did you mean `tb-tiling`?");
}

const CONFLICT: &str = "
device gpu
  speaks cuda

transformation unroll
  pass unroll-loop
    in device code
      Unroll.

pack one
  for devices gpu
  specialize unroll
    replace pass unroll-loop
      in device code
        Once.

pack two
  for devices gpu
  specialize unroll
    replace pass unroll-loop
      in device code
        Twice.
";

#[test]
fn two_unrelated_packs_may_not_replace_one_pass() {
    let error = transformation(&library(CONFLICT), "unroll", Some("gpu")).expect_err("they conflict");
    assert_eq!(error.to_string(), "the packs `one` and `two` both change `pass unroll-loop` of `unroll`");
    let related = CONFLICT.replace("pack two\n  for devices gpu", "pack two\n  extends one");
    let special = transformation(&library(&related), "unroll", Some("gpu")).expect("one builds on the other");
    assert_eq!(special.provenance["pass unroll-loop"], "two");
    let codes = ["peak::pack-conflict", "peak::not-for-device"];
    assert!(codes.iter().all(|code| peak_grammar::diagnostics::code_entry(code).is_some()));
}

const WORKFLOWS: &str = "
workflow fast \"everywhere\"
  start from kernel matmul-f32
  apply refactor

workflow fast \"cuda\"
  start from kernel matmul-f32
  on cuda
  apply refactor

workflow fast \"h200\"
  start from kernel matmul-f32
  target nvidia-h200
  apply refactor

pack blackbird
  for devices nvidia-h100, nvidia-h200
  workflow fast \"pack\"
    start from kernel matmul-f32
    apply refactor
";

#[test]
fn the_most_specific_workflow_wins() {
    let library = library(&format!("{DESIGN}{WORKFLOWS}"));
    let title = |device, backend| {
        let found = workflow(&library, "fast", device, backend).expect("there is one");
        found.title.clone().expect("each has a title")
    };
    assert_eq!(title(Some("nvidia-h200"), Some("cuda")), "h200");
    assert_eq!(title(Some("nvidia-h100"), Some("cuda")), "pack");
    assert_eq!(title(Some("elsewhere"), Some("cuda")), "cuda");
    assert_eq!(title(Some("elsewhere"), Some("hip")), "everywhere");
    assert_eq!(title(None, None), "everywhere");
    let only = workflow(&library, "matmul-f16-h200", None, None).expect("it brings its device");
    assert_eq!(only.target.as_deref(), Some("nvidia-h200"));
    let error = workflow(&library, "matmul-f16-h200", Some("nvidia-h100"), None).expect_err("it is for another");
    assert_eq!(error.to_string(), "the workflow `matmul-f16-h200` is not for the device `nvidia-h100`");
}

#[test]
fn a_drivers_name_finds_the_device_with_the_longest_piece() {
    let library = library(
        "device some-h200\n  speaks cuda\n  matches \"H200\"\n\ndevice sxm\n  speaks cuda\n  matches \"nvidia h200 sxm\"\n",
    );
    let name = |driver| find_device(&library, driver).map(|device| device.name.as_str());
    assert_eq!(name("NVIDIA H200 SXM 141GB"), Some("sxm"));
    assert_eq!(name("NVIDIA H200"), Some("some-h200"));
    assert_eq!(name("llvmpipe"), None);
}

/// Binds `pattern` to a kernel over 2-dimensional A, B, C, 1-dimensional D, and sizes n, m.
fn bound(pattern: &str, computes: &str) -> Result<Bindings, Mismatch> {
    let library = with(pattern, computes);
    let KernelSelector::Computing(pattern) = &library.transformations["t"].kernels else { panic!("a pattern") };
    bind(pattern, &library.kernels["k"])
}

fn computed(computes: &str) -> Computes {
    with(MATMUL, computes).kernels["k"].computes.clone().expect("it computes")
}

fn with(pattern: &str, computes: &str) -> Library {
    let text = format!(
        "kernel k\n  computes {computes}\n  element f32\n  input n: int in 8\n  input m: int in 8\n  \
         input A: array[n, m] of f32, ones\n  input B: array[m, n] of f32, ones\n  input D: array[m] of f32, ones\n  output C: array[n, n] of f32\n  \
         device code for cuda from \"k.cu\"\n  host code\n    launch k\n      grid 1\n      block 1\n      \
         arguments A, B, C, D, n, m\n\ntransformation t\n  for kernels computing {pattern}\n  pass p\n    in macros\n      Do.\n"
    );
    library(&text)
}

const MATMUL: &str = "OUT[i, j] = sum(k in 0..K) LEFT[i, k] * RIGHT[k, j]";

#[test]
fn a_pattern_binds_arrays_sizes_and_indices_under_other_names() {
    let bindings = bound(MATMUL, "C[row, column] = sum(x in 0..2 * m) A[row, x] * B[x, column]").expect("it fits");
    let spelt: Vec<String> =
        ["OUT", "LEFT", "RIGHT", "K", "i", "j", "k"].iter().filter_map(|n| bindings.spell(n)).collect();
    assert_eq!(spelt, ["C", "A", "B", "2 * m", "row", "column", "x"]);
    assert_eq!(bindings.expr("LEFT"), Some(Expr::Name("A".to_owned())));
    assert_eq!(bindings.expr("i"), None);
}

#[test]
fn positions_and_not_order_decide_which_array_is_left() {
    let bindings = bound(MATMUL, "C[i, j] = sum(k in 0..m) B[k, j] * A[i, k]").expect("it fits");
    assert_eq!((&*bindings.arrays["LEFT"], &*bindings.arrays["RIGHT"]), ("A", "B"));
    let scaled = bound("OUT[i, j] = S * IN[i, j] + IN[j, i] * IN[i, j]", "C[a, b] = A[a, b] * A[b, a] + n * A[a, b]");
    assert_eq!(scaled.expect("it fits").spell("S").as_deref(), Some("n"));
}

#[test]
fn ranges_of_the_target_bind_what_the_kernels_output_spans() {
    let pattern = "OUT[i in 0..ROWS, j in 0..COLUMNS] = sum(k in 0..K) LEFT[i, k] * RIGHT[k, j]";
    let bindings = bound(pattern, "C[a, b] = sum(x in 0..m) A[a, x] * B[x, b]").expect("it fits");
    let spelt: Vec<Option<String>> = ["ROWS", "COLUMNS", "K"].iter().map(|name| bindings.spell(name)).collect();
    assert_eq!(spelt, ["n", "n", "m"].map(|size| Some(size.to_owned())));
    let square = "OUT[i in 0..K, j in 0..K] = sum(k in 0..K) LEFT[i, k] * RIGHT[k, j]";
    let why = bound(square, "C[a, b] = sum(x in 0..m) A[a, x] * B[x, b]").expect_err("m is not n").reason;
    assert_eq!(why, "`K` is `n` in one place and `m` in another");
}

#[test]
fn a_mismatch_says_what_differs() {
    let why = |computes| bound(MATMUL, computes).expect_err("it does not fit").reason;
    insta::assert_snapshot!(
        [
            why("C[i, j] = sum(k in 0..m) (A[i, k] + B[k, j])"),
            why("C[i, j] = max(k in 0..m) A[i, k] * B[k, j]"),
            why("C[i, j] = sum(k in 0..m) A[k, i] * B[k, j]"),
            why("C[i, j] = sum(k in 1..m) A[i, k] * B[k, j]"),
            why("C[i, j] = sum(k in 0..i) A[i, k] * B[k, j]"),
            why("C[i, j] = exp(A[i, j])"),
            bound("OUT[i] = IN[i]", "C[i, j] = A[i, j]").expect_err("ranks differ").reason,
        ]
        .join("\n")
    );
}

#[test]
fn a_pattern_binds_one_statement_among_several() {
    let spelt = |bindings: &Bindings, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| bindings.spell(name).expect("it is bound")).collect()
    };
    // The first that defines an output and fits, although a local array's comes before it.
    let two = "\n    T[i, j] = sum(k in 0..m) B[i, k] * A[k, j]\n    C[x, y] = sum(k in 0..m) T[x, k] * A[k, y]";
    let bindings = bound(MATMUL, two).expect("it fits");
    assert_eq!(spelt(&bindings, &["OUT", "LEFT", "RIGHT", "K", "i"]), ["C", "T", "A", "m", "x"]);
    // Where no output's fits, a local array's.
    let local = "\n    T[i, j] = sum(k in 0..m) B[i, k] * A[k, j]\n    C[x, y] = exp(T[x, y])";
    let bindings = bound(MATMUL, local).expect("it fits");
    assert_eq!(spelt(&bindings, &["OUT", "LEFT", "RIGHT"]), ["T", "B", "A"]);
    // Two of three, in order; what both name is one array.
    let softmax = "\n    M[i] = max(k in 0..m) A[i, k]\n    S[i] = sum(k in 0..m) exp(A[i, k] - M[i])\n    C[i, j] = exp(A[i, j] - M[i]) / S[i]";
    let pattern = "\n    HIGH[r] = max(c in 0..N) IN[r, c]\n    OUT[r, c] = exp(IN[r, c] - HIGH[r]) / TOTAL[r]";
    let bindings = bound(pattern, softmax).expect("it fits");
    assert_eq!(spelt(&bindings, &["OUT", "HIGH", "TOTAL", "IN", "N"]), ["C", "M", "S", "A", "m"]);
    let why = bound(MATMUL, "\n    T[i] = A[i, i]\n    C[i, j] = T[i]").expect_err("no product").reason;
    insta::assert_snapshot!(why);
}

#[test]
fn conditions_and_old_values_are_matched_too() {
    let pattern = "OUT[i] = IN[i - 1] where i > 0 else 0";
    assert!(bound(pattern, "C[j, i] = A[j, i]").is_err());
    let kernel = "\n    T[x in 0..m] = D[x - 1] where x > 0 else 0\n    C[i, j] = T[i]";
    assert_eq!(bound(pattern, kernel).expect("it fits").arrays["IN"], "D");
    assert!(bound(pattern, &kernel.replace("x > 0", "x >= 0")).is_err());
    let count = "OUT[b] = sum(i in 0..N where IN[i] = b) 1";
    let counts = "\n    T[x in 0..4] = sum(k in 0..m where D[k] = x) 1\n    C[i, j] = A[i, j]";
    assert_eq!(bound(count, counts).expect("it fits").arrays["IN"], "D");
    assert!(bound(count, &counts.replace(" where D[k] = x", "")).is_err());
}

#[test]
fn what_is_printed_is_read_as_the_same() {
    let kernel = "\n    T[x in 0..4] = sum(k in 0..m where D[k] > 1 and not (k = x or k = 2)) 2 * (A[k, x] - 1)\n    C[i, j] = (T[0] + 1) * rsqrt(max(l in 0..i + 1) A[i, l]) where (i + 1) mod 2 = 0 else -T[1] where T[2] < 0.5 else pow(T[i mod 4], 2)";
    let first = computed(kernel);
    let printed = first.to_string().replace('\n', "\n    ");
    assert_eq!(computed(&format!("\n    {printed}")), first, "{printed}");
}

#[test]
fn a_match_with_too_many_orders_ends() {
    let sum = |name: &str, count: usize| vec![format!("{name}[i, j]"); count].join(" * ");
    let pattern = format!("OUT[i, j] = {} * LAST[j, i]", sum("IN", 5));
    let _ = bound(&pattern, &format!("C[i, j] = {}", sum("A", 6))).expect_err("no transposed factor");
}

#[test]
fn a_pack_may_have_a_workflow_of_one_name_for_each_language() {
    let text = format!(
        "{DESIGN}\npack both\n  extends hopper\n  workflow tiles\n    start from kernel matmul-f32\n    on cuda\n    apply refactor\n  workflow tiles\n    start from kernel matmul-f32\n    on hlsl\n    apply refactor\n"
    );
    let library = library(&text);
    let on = |backend| workflow(&library, "tiles", Some("nvidia-h200"), Some(backend)).expect("one is for it");
    assert_eq!(on("cuda").backend.as_deref(), Some("cuda"));
    assert_eq!(on("hlsl").backend.as_deref(), Some("hlsl"));
    let twice = text.replace("    on hlsl\n", "    on cuda\n");
    let (_, found) = load(&[SourceFile::new("library.peak", &twice)]);
    assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), ["peak::duplicate-name"]);
}
