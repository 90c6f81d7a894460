//! The example, carried out: its workflows run to a verified end on a device for CUDA, the simulator where there is no GPU.

use peak::author::{self, Authored, Pass};
use peak::error::Class;
use peak::library::Recipes;
use peak::workflow::{Observer, Options, Outcome, Row, Verdict};
use peak_embedding::{INCLUDED, UNROLL, fused_sum, session, workflow};
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_peak-embedding");

/// What a run tells, kept.
#[derive(Default)]
struct Told {
    steps: Vec<String>,
    progress: usize,
}

impl Observer for Told {
    fn progress(&mut self, _: &peak::workflow::Progress) {
        self.progress += 1;
    }

    fn rows(&mut self, rows: &[Row]) {
        self.steps.extend(rows.iter().map(|row| row.name.clone()));
    }
}

/// The steps that were accepted, each verified; no other may be there.
fn accepted(outcome: &Outcome) -> Vec<&str> {
    for row in &outcome.rows {
        assert_eq!(row.verdict, Verdict::Accepted, "{row:#?}");
        assert_eq!(row.verified_by, ["outputs"], "{row:#?}");
    }
    outcome.rows.iter().map(|row| row.name.as_str()).collect()
}

#[test]
fn an_included_workflow_runs_to_a_verified_end() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut session = session(home.path()).worker(Path::new(PROGRAM)).open("matmul-in-program").expect("it opens");
    let mut told = Told::default();
    let outcome = session.run(Options::default(), &mut told).expect("it runs");
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    assert_eq!(accepted(&outcome), ["baseline", "refactor", "apart"]);
    assert_eq!(told.steps, ["baseline", "refactor", "apart"]);
    assert!(told.progress > 0);
    assert_eq!(outcome.finished.reused.completions, 3, "answers of the standard library's recordings");
    let best = session.best(&outcome).expect("the best checkpoint has its kernel");
    assert!(best.regions.device_code.contains("const A_T *__restrict__ A"), "{}", best.regions.device_code);
    let names: Vec<String> =
        session.checkpoints(&outcome).expect("the store").into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["baseline", "refactor", "apart"]);
    // Stopped before it begins, a run takes no step. Where times are taken, it has not even a baseline.
    session.stop().store(true, std::sync::atomic::Ordering::Relaxed);
    match session.run(Options { fresh: true, ..Options::default() }, &mut ()) {
        Ok(stopped) => assert!(stopped.interrupted && stopped.rows.len() == 1, "{stopped:#?}"),
        Err(error) => assert_eq!(error.class, Class::Interrupted),
    }
}

#[test]
fn the_program_runs_recipes_of_all_three_kinds() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(PROGRAM).arg(home.path()).output().expect("the example starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    for step in ["baseline", "refactor", "apart", "hint-unrolling", "fuse-sum"] {
        assert!(out.contains(&format!("{step}: accepted\n")), "{step}\n{out}");
    }
    assert!(out.contains("best: 1/fused"), "{out}");
    assert!(out.contains("#pragma unroll UNROLL") && out.contains("sum = fmaf("), "{out}");
    assert_eq!(err, "", "a session prints nothing by itself");
}

#[test]
fn a_kernel_alone_is_verified() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut session = session(home.path()).worker(Path::new(PROGRAM)).open_kernel("matmul-f32").expect("it opens");
    let options = Options { tune_budget: Some(1), ..Options::default() };
    let outcome = session.run(options, &mut ()).expect("it runs");
    assert_eq!(accepted(&outcome), ["baseline"]);
}

#[test]
fn a_program_that_serves_as_no_worker_is_told_how_to() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let error = session(home.path()).open("matmul-in-program").err().expect("the harness is no worker");
    assert_eq!(error.class, Class::Environment);
    assert_eq!(
        miette::Diagnostic::code(&error).map(|code| code.to_string()).as_deref(),
        Some("peak::no-worker-program")
    );
}

#[test]
fn what_is_wrong_with_recipes_is_one_error_with_all_of_them() {
    let pass = || Pass::new("do-it").words("device code", "Do it.");
    let built = author::Transformation::new("mistaken").after(["refacto"]).introduces("TILE", [2, 2]).pass(pass());
    let error = Recipes::from(&built).check().expect_err("it is wrong");
    let text = format!("{:?}", miette::Report::new(error));
    assert!(text.contains("peak::wrong-recipes") && text.contains("built/mistaken.peak:2:9"), "{text}");
    assert!(text.contains("did you mean `refactor`?") && text.contains("peak::values"), "{text}");
    // Declared twice, by a builder and by the program's text.
    let again = author::Transformation::new(UNROLL.name()).pass(pass());
    let home = tempfile::tempdir().expect("a temporary folder");
    let error = session(home.path()).recipes(&again).load().expect_err("the name is taken");
    assert_eq!(miette::Diagnostic::code(&error).map(|code| code.to_string()).as_deref(), Some("peak::duplicate-name"));
}

#[test]
fn what_is_carried_says_where_it_came_from() {
    let names = |recipes: &Recipes| recipes.files().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&INCLUDED), ["peak-embedding/recipes/matmul.peak", "peak-embedding/recipes/pointers.peak"]);
    let source = include_str!("../src/lib.rs");
    let at = source.lines().position(|line| line.contains("pub static UNROLL")).expect("it is there") + 2;
    assert!(names(UNROLL.recipes())[0].ends_with(&format!("src/lib.rs:{at}")), "{:?}", names(UNROLL.recipes()));
    // The text stands on the program's own lines, so that what is found later points there too.
    let text = UNROLL.recipes().files().next().expect("one file").1;
    let line = text.lines().position(|line| line.starts_with("transformation")).expect("its head");
    assert!(source.lines().nth(line).expect("a line").contains("transformation hint-unrolling"));
    let loaded = session(Path::new(".")).load().expect("they are right");
    let pass = &loaded.ir.transformations["hint-unrolling"].passes[0];
    assert_eq!((pass.name.as_str(), loaded.diagnostics.len()), ("mark-loops", 0));
}

#[test]
fn builders_print_source_in_form() {
    for text in [fused_sum().text(), workflow().text()] {
        let file = peak_grammar::SourceFile::new("built.peak", &text);
        assert_eq!(peak_grammar::format::format(&file).as_deref(), Ok(text.as_str()));
    }
}

#[test]
fn the_reference_shows_the_examples_own_lines() {
    let page = include_str!("../../../spec/embedding.md");
    let sources = [include_str!("../src/lib.rs"), include_str!("../src/main.rs")];
    let mut shown = 0;
    for block in page.split("```rust\n").skip(1) {
        let block = block.split("\n```\n").next().expect("a closed block");
        assert!(sources.iter().any(|source| source.contains(block)), "this block is not the example's:\n{block}");
        shown += 1;
    }
    assert!(shown >= 4, "{shown} blocks");
}
