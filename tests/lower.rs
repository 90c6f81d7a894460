//! A transformation of one's own, lowered through the mailbox by a person whom the test plays: prompts are read as files,
//! answers are written as files.

use crate::program::{Outcome, command, folder};
use crate::vulkan;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const UNROLL: &str = include_str!("suite/lower/unroll-k.peak");
const NAIVE: &str = include_str!("../stdlib/kernels/matmul/matmul_f32.hlsl");

/// How long a prompt may take to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// The loop of the naive kernel, and what the words ask for.
const LOOP: &str = "    for (int k = 0; k < n; ++k) {
        sum += A[i * n + k] * B[k * n + j];
    }
";
const UNROLLED: &str = "    for (int k0 = 0; k0 < n; k0 += UNROLL) {
        [unroll]
        for (int k = k0; k < k0 + UNROLL; ++k) {
            sum += A[i * n + k] * B[k * n + j];
        }
    }
";

fn fenced(code: &str) -> String {
    format!("```hlsl\n{code}```\n")
}

fn good() -> String {
    assert!(NAIVE.contains(LOOP));
    NAIVE.replace(LOOP, UNROLLED)
}

/// How the command ended, and the prompts that it posted.
struct Answered {
    outcome: Outcome,
    prompts: Vec<String>,
}

/// Runs `peak lower` on the file, and answers each prompt as it comes.
fn lower(arguments: &[&str], answers: &[String]) -> Answered {
    let folder = folder(&[("unroll-k.peak", UNROLL)]);
    let all = [&["lower", "unroll-k.peak", "--provider", "mailbox", "--timeout", "20"], arguments].concat();
    let mut started = command(folder.path(), &all);
    let child = started.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("peak starts");
    let mailbox = folder.path().join(".peak/mailbox");
    let prompts =
        answers.iter().enumerate().map_while(|(index, answer)| reply(&mailbox, index + 1, answer)).collect::<Vec<_>>();
    let outcome = Outcome::of(child.wait_with_output().expect("it ends"), folder.path());
    assert_eq!(prompts.len(), answers.len(), "a prompt did not come: {}", outcome.err);
    Answered { outcome, prompts }
}

/// Waits for a prompt, reads it, and writes the answer beside it.
fn reply(mailbox: &Path, number: usize, answer: &str) -> Option<String> {
    let started = Instant::now();
    loop {
        if let Ok(prompt) = std::fs::read_to_string(mailbox.join(format!("{number:03}.prompt.md"))) {
            std::fs::write(mailbox.join(format!("{number:03}.completion.md")), answer).expect("written");
            return Some(prompt);
        }
        if started.elapsed() > PATIENCE {
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What is said of a bad answer: to the person who looks on, then in the prompt of the repair.
fn rejected(answer: &str) -> String {
    let Answered { outcome, prompts } = lower(&["--no-run"], &[answer.to_owned(), fenced(&good())]);
    assert_eq!(outcome.code, 0, "the second answer is good: {}", outcome.err);
    assert!(outcome.out.contains("UNROLL"), "{}", outcome.out);
    let reason = outcome.err.lines().find(|line| line.contains("rejected")).expect("a reason");
    let repair = prompts[1].split("\n# ").last().expect("the last part");
    // The answer itself, which follows, is long and known.
    format!("{reason}\n\n# {}", repair.split("\nThe device code as you wrote it").next().unwrap_or_default())
}

#[test]
fn a_good_answer_is_applied_compiled_validated_and_shown_as_a_diff() {
    if vulkan::device().is_none() {
        return;
    }
    let Answered { outcome, prompts } = lower(&[], &[fenced(&good())]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    insta::assert_snapshot!(outcome.out);
    assert!(outcome.err.contains("applied, compiled and validated; 1 answer, 0 rejected"), "{}", outcome.err);
    for piece in ["outer loop in steps of `UNROLL`", "whole-steps: n mod UNROLL = 0", "mentions `UNROLL`", LOOP] {
        assert!(prompts[0].contains(piece), "the prompt lacks {piece}");
    }
}

#[test]
fn wrong_results_lead_to_a_repair_that_tells_the_pattern() {
    if vulkan::device().is_none() {
        return;
    }
    let forgets = good().replace("int k = k0; k < k0 + UNROLL", "int k = k0; k < k0 + UNROLL - 1");
    let Answered { outcome, prompts } = lower(&[], &[fenced(&forgets), fenced(&good())]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.err.contains("rejected: unroll: results: wrong results in C"), "{}", outcome.err);
    assert!(prompts[1].contains("elements are wrong"), "{}", prompts[1]);
    assert!(prompts[1].contains("smallest failing execution parameters: n = 64"), "{}", prompts[1]);
}

#[test]
fn elided_code_is_rejected() {
    let answer = good().replace(UNROLLED, "    // ... the loop as before, in steps of UNROLL\n");
    insta::assert_snapshot!(rejected(&fenced(&answer)));
}

#[test]
fn another_kernel_name_is_rejected() {
    insta::assert_snapshot!(rejected(&fenced(&good().replace("void matmul(", "void matmul_unrolled("))));
}

#[test]
fn an_unterminated_fence_is_rejected() {
    insta::assert_snapshot!(rejected(&format!("```hlsl\n{}", good())));
}

#[test]
fn an_undeclared_tuning_parameter_is_rejected() {
    insta::assert_snapshot!(rejected(&fenced(&good().replace("k0 += UNROLL", "k0 += UNROLL_K"))));
}

#[test]
fn without_an_answer_it_says_where_to_write_one() {
    let folder = folder(&[("unroll-k.peak", UNROLL)]);
    let arguments = ["lower", "unroll-k.peak", "--no-run", "--provider", "mailbox", "--timeout", "0"];
    let outcome = crate::program::peak(folder.path(), &arguments);
    assert_eq!(outcome.code, 4);
    insta::assert_snapshot!(outcome.err);
    // The answer comes, and the same command goes on from there.
    std::fs::write(folder.path().join(".peak/mailbox/001.completion.md"), fenced(&good())).expect("written");
    let again = crate::program::peak(folder.path(), &[&arguments[..6], &["5"]].concat());
    assert_eq!(again.code, 0, "{}", again.err);
}

#[test]
fn options_without_effect_are_usage_errors() {
    let folder = folder(&[("unroll-k.peak", UNROLL)]);
    for (options, word) in [
        (["--mailbox", "m"], "--provider mailbox"),
        (["--timeout", "5"], "--provider mailbox"),
        (["--model", "m"], "--provider openai"),
        (["--url", "http://localhost:1"], "--provider openai"),
        (["-o", "kernel.bin"], "--emit artifact"),
    ] {
        let outcome =
            crate::program::peak(folder.path(), &[&["lower", "unroll-k.peak", "--no-run"], &options[..]].concat());
        assert_eq!(outcome.code, 2, "{options:?}: {}", outcome.err);
        assert!(outcome.err.contains(word), "{options:?}: {}", outcome.err);
    }
}

#[test]
fn the_prompt_of_a_region_without_words_is_refused_with_what_there_is() {
    let folder = folder(&[("unroll-k.peak", UNROLL)]);
    let arguments = ["lower", "unroll-k.peak", "--no-run", "--emit", "prompt", "--pass", "unroll.macros"];
    let outcome = crate::program::peak(folder.path(), &arguments);
    assert_eq!(outcome.code, 1, "{}", outcome.err);
    assert!(outcome.err.contains("peak::unknown-pass"), "{}", outcome.err);
    assert!(outcome.err.contains("unroll.device-code"), "{}", outcome.err);
}

#[test]
fn a_rewrite_asks_nobody_and_is_shown_as_an_edit_script_and_a_diff() {
    let text = "transformation fused\n  pass fuse\n    in device code\n      rewrite `$S += $A * $B;` to `$S = mad($A, $B, $S);`\n";
    let folder = folder(&[("fused.peak", text)]);
    let checked = crate::program::peak(folder.path(), &["check", "fused.peak"]);
    assert_eq!((checked.code, checked.err.contains("no errors")), (0, true), "{}", checked.err);
    let arguments = ["lower", "fused.peak", "--no-run", "--backend", "hlsl", "--emit", "edits"];
    let outcome = crate::program::peak(folder.path(), &arguments);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.err.contains("0 answers"), "{}", outcome.err);
    insta::assert_snapshot!(outcome.out);
    // Nobody was asked, so nothing is recorded or posted.
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["fused.peak"]);
}

#[test]
fn a_pattern_that_is_no_code_is_told_of_once_a_language() {
    let text =
        "transformation odd\n  on cuda, hlsl\n  pass odd\n    in device code\n      rewrite `for for` to `g()`\n";
    let folder = folder(&[("odd.peak", text)]);
    let checked = crate::program::peak(folder.path(), &["check", "odd.peak"]);
    assert_eq!(checked.code, 1, "{}", checked.err);
    insta::assert_snapshot!(checked.err);
}

#[test]
fn a_pattern_that_is_nowhere_names_the_nearest_code() {
    let text = "transformation lost\n  pass lose\n    in device code\n      rewrite `sum += A[$I] * C[$J]` to `sum`\n";
    let folder = folder(&[("lost.peak", text)]);
    let outcome = crate::program::peak(folder.path(), &["lower", "lost.peak", "--no-run", "--backend", "cuda"]);
    assert_eq!(outcome.code, 5, "{}", outcome.err);
    insta::assert_snapshot!(outcome.err);
}

/// What `peak lower` says of a transformation of the library that asks nobody, on a backend of this machine.
fn mechanically(transformation: &str, backend: &str) -> Outcome {
    let folder = folder(&[]);
    crate::program::peak(folder.path(), &["lower", "-t", transformation, "--backend", backend])
}

#[test]
fn the_librarys_mechanical_transformations_are_validated_on_vulkan() {
    if vulkan::device().is_none() {
        return;
    }
    let outcome = mechanically("unroll-inner-loop", "hlsl");
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.err.contains("applied, compiled and validated; 0 answers"), "{}", outcome.err);
    assert!(outcome.out.contains("+    [unroll(UNROLL)] for (int k = 0;"), "{}", outcome.out);
}

#[test]
fn the_librarys_mechanical_transformations_are_validated_in_cuda() {
    for (transformation, line) in
        [("unroll-inner-loop", "+    #pragma unroll UNROLL"), ("restrict-pointers", "const A_T *__restrict__ A")]
    {
        let outcome = mechanically(transformation, "cuda");
        if outcome.code == 3 {
            let required = std::env::var("PEAK_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "cuda"), "PEAK_REQUIRE names cuda: {}", outcome.err);
            eprintln!("skipped: {}", outcome.err);
            continue;
        }
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        assert!(outcome.err.contains("applied, compiled and validated; 0 answers"), "{}", outcome.err);
        assert!(outcome.out.contains(line), "{}", outcome.out);
    }
}
