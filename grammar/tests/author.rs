//! Builders: what they print is in form and reads as what was meant; a mistake in them is a file's diagnostic.

use peak_grammar::author::{
    self, Application, Authored, Kernel, Pack, Pass, Specialize, Step, Transformation, Utility, Values, Workflow,
};
use peak_grammar::{SourceFile, format, load};

fn scale() -> Kernel {
    Kernel::new("scale")
        .title("B = 2 A")
        .computes(["B[i] = 2 * A[i]"])
        .element("f32")
        .scalar("n", "int", [1024, 4096], [64])
        .input("A", "array[n] of f32", "random normal")
        .output("B", "array[n] of f32")
        .tune("BLOCK_X", Values::powers(2, 8, 64).start_at(32))
        .require("whole-blocks", "n mod BLOCK_X = 0")
        .device_code(
            "cuda",
            r#"
            extern "C" __global__ void scale(const A_T *A, B_T *B, int n) {
                const int i = blockIdx.x * BLOCK_X + threadIdx.x;

                B[i] = 2 * A[i];
            }
            "#,
        )
        .host_code("launch scale\n  grid n / BLOCK_X\n  block BLOCK_X\n  arguments A, B, n")
}

fn unroll() -> Transformation {
    Transformation::new("unroll-it")
        .title("Unroll the loops")
        .for_kernels_computing(["OUT[i in 0..N] = 2 * IN[i]"])
        .on(["cuda"])
        .needs_tuning(["BLOCK_X"])
        .because("The loop's own instructions cost.\n\nMuch, where it is short.")
        .takes("hints", "bool", "yes")
        .introduces("UNROLL", Values::from([2, 4, 8]).start_at(4))
        .requires("whole-turns", "N mod UNROLL = 0")
        .expects_rise("registers", 1.5)
        .pass(
            Pass::new("mark")
                .title("Mark it")
                .steps("macros", [Step::insert_utility("hint")])
                .steps(
                    "device code",
                    [Step::insert("#pragma unroll UNROLL").before("first `for ($$$HEAD) $BODY` if any")],
                )
                .may_break_results(),
        )
        .pass(
            Pass::new("finish")
                .words("device code", "Let each thread do {UNROLL} elements.")
                .steps("host code", [Step::set("grid", "N / (BLOCK_X * UNROLL)")])
                .checks(["device code mentions UNROLL"])
                .replace_requirement("whole-turns", "N mod (BLOCK_X * UNROLL) = 0"),
        )
        .known_failures("The last elements are left out.")
}

fn everything() -> String {
    let hint = Utility::new("hint").code(["cuda"], "#define HINT");
    let pack = Pack::new("mine")
        .for_devices(["nvidia-h200"])
        .knows("It is large.")
        .specialize(Specialize::new("unroll-it").introduces("UNROLL", [4, 8]).takes("hints", "no"));
    let workflow = Workflow::new("scale-fast")
        .start_from("scale")
        .validate(4)
        .tune_up_to(8)
        .time_at("n", [512])
        .apply(Application::new("unroll-it").narrow("UNROLL", [2, 4]).setting("hints", "no"))
        .checkpoint("unrolled")
        .attempt(&unroll())
        .choose_best_of(["unroll-it"])
        .keep_best();
    author::text(&[&scale(), &hint, &unroll(), &pack, &workflow])
}

/// A device that the pack names.
const DEVICE: &str = "device nvidia-h200\n  speaks cuda sm_90a\n";

#[test]
fn every_builder_prints_source_that_is_right_and_in_form() {
    let text = everything();
    let file = SourceFile::new("built.peak", &text);
    assert_eq!(format::format(&file).as_deref(), Ok(text.as_str()));
    let (library, found) = load(&[SourceFile::new("device.peak", DEVICE), file]);
    assert!(found.is_empty(), "{found:#?}\n{text}");
    assert_eq!(library.transformations["unroll-it"].passes.len(), 2);
    assert_eq!(library.kernels["scale"].tuning[0].start, Some(32));
    assert_eq!(library.packs["mine"].specializations[0].introduces[0].values.all(), [4, 8]);
    assert_eq!(library.workflows[0].steps.len(), 5);
    insta::assert_snapshot!(text);
}

#[test]
fn a_builder_makes_the_ir_of_the_text_that_a_person_writes() {
    let written = "transformation t \"T\"\n  introduces U in 2, 4\n  pass p\n    in device code\n      Do {U}.\n";
    let built = Transformation::new("t").title("T").introduces("U", [2, 4]);
    let built = built.pass(Pass::new("p").words("device code", "Do {U}."));
    let of = |text: &str| load(&[SourceFile::new("t.peak", text)]);
    assert_eq!(of(&built.text()), of(written));
}

#[test]
fn mistakes_in_a_builder_are_the_diagnostics_of_a_file() {
    let pass = || Pass::new("p").words("device code", "Do it.");
    let codes = |built: Transformation| {
        let (_, found) = load(&[SourceFile::new("t.peak", &built.text())]);
        found.iter().map(|one| one.code).collect::<Vec<_>>()
    };
    let new = Transformation::new;
    assert_eq!(codes(new("t").after(["u"]).pass(pass())), ["peak::unknown-name"]);
    assert_eq!(codes(new("t").introduces("U", [2, 2]).pass(pass())), ["peak::values"]);
    assert_eq!(codes(new("t").requires("r", "1 +").pass(pass())), ["peak::syntax"]);
    assert_eq!(codes(new("a title \" of it").pass(pass())), ["peak::syntax"]);
    assert_eq!(codes(new("t").pass(pass().may_break_results())), ["peak::open-group"]);
    assert_eq!(codes(new("t")), ["peak::missing-block"]);
    // What is one line stays one: no clause can be smuggled in.
    assert_eq!(codes(new("t").after(["u\n  on cuda"]).pass(pass())), ["peak::syntax"]);
}
