//! An example of Peak in a Rust program: recipes in a file, in the program's text, and put together while it runs; and a
//! session that carries out a workflow of them. `spec/embedding.md` shows these lines.

use peak::author::{self, Pass, Step};
use peak::library::{Recipes, Transformation};
use peak::session::SessionBuilder;
use std::path::Path;

/// A workflow in a file, which this program carries: it was checked when the program was compiled.
pub static INCLUDED: Recipes = peak::include!("recipes/matmul.peak");

/// A transformation in the program's own text, checked in the same way.
pub static UNROLL: Transformation = peak::transformation!(
    r#"
    transformation hint-unrolling "Say how far to unroll the innermost loops"
      on cuda
      because
        The loop's own instructions cost as much as the work of one turn.
      introduces UNROLL in 2, 4, 8 start at 4

      pass mark-loops "Mark them"
        in device code
          insert before every innermost `for ($INIT; $TEST; $STEP) $BODY`
            ```cuda
            #pragma unroll UNROLL
            ```
        checks
          device code mentions UNROLL
    "#
);

/// A transformation that is put together while the program runs, checked when a session opens.
pub fn fused_sum() -> author::Transformation {
    author::Transformation::new("fuse-sum")
        .title("One instruction for a product and its sum")
        .on(["cuda"])
        .because("A fused multiply-add rounds once, and is one instruction.")
        .pass(
            Pass::new("fuse")
                .steps("device code", [Step::rewrite("$SUM += $A * $B", "$SUM = fmaf($A, $B, $SUM)")])
                .checks(["device code mentions fmaf"]),
        )
}

/// A workflow of all three, put together too.
pub fn workflow() -> author::Workflow {
    author::Workflow::new("matmul-authored")
        .title("Naive MatMul, by recipes of three kinds")
        .start_from("matmul-f32")
        .validate(2)
        .tune_up_to(2)
        .apply("refactor")
        .apply("apart")
        .apply(UNROLL.name())
        .apply(&fused_sum())
        .checkpoint("fused")
        .keep_best()
}

/// A session in a project's folder, on CUDA: a GPU where there is one, else the simulator. Answers are recorded ones.
pub fn session(project: &Path) -> SessionBuilder {
    peak::Session::builder()
        .project(project)
        .backend("cuda")
        .recipes(&INCLUDED)
        .recipes(&UNROLL)
        .recipes(&fused_sum())
        .recipes(&workflow())
}
