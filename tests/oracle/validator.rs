//! The outputs validator: what it runs, in which order, and what it refuses.

use super::build::*;
use super::fake::*;
use peak::runner::{Distribution, FailureClass};
use peak_grammar::ir::*;

fn right() -> Run {
    Box::new(|launch| output(multiply(launch.n, &launch.given["A"], &launch.given["B"], (0..launch.n).rev())))
}

#[test]
fn a_right_kernel_is_verified_and_the_words_say_by_what() {
    let (mut validator, context) = contexts(matmul());
    let mut device = device(right());
    let timed = [inputs(&[("n", 192)])];
    let started = std::time::Instant::now();
    let verified =
        validate_with(&mut validator, &context, &[context.start()], &timed, &mut device).expect("it is right");
    eprintln!("validation of one configuration, fake device: {:?}", started.elapsed());
    insta::assert_snapshot!(verified.by.join("\n"));
    assert!(verified.notes.is_empty(), "{:?}", verified.notes);
    assert!(verified.largest_error > 0.0 && verified.largest_error < 0.5, "{}", verified.largest_error);
    assert!(verified.seeds >= 5 && verified.samples == verified.seeds, "{verified:?}");
    let mut distributions: Vec<Distribution> = device.log.iter().map(|(_, _, fill)| fill.distribution).collect();
    distributions.sort_by_key(|distribution| format!("{distribution:?}"));
    distributions.dedup();
    assert_eq!(distributions.len(), 6);
    // The reference runs before the candidate at the timed size, and only there.
    let timed: Vec<&str> = device.log.iter().filter(|(_, n, _)| *n == 192).map(|(who, ..)| who.as_str()).collect();
    assert_eq!(timed, ["reference", "candidate", "reference", "candidate"]);
    assert!(device.log.iter().all(|(who, n, _)| who == "candidate" || *n == 192));
}

#[test]
fn what_outputs_should_hold_is_computed_once_for_all_candidates() {
    let (mut validator, context) = contexts(matmul());
    let mut device = device(right());
    let timed = [inputs(&[("n", 192)])];
    let mut second = context.start();
    second.insert("BLOCK_X".to_owned(), 32);
    let both = [context.start(), second];
    let verified = validate_with(&mut validator, &context, &both, &timed, &mut device).expect("it is right");
    assert_eq!(device.log.iter().filter(|(who, ..)| who == "reference").count(), 2, "once for each large check");
    assert_eq!(verified.samples, 2 * verified.seeds);
}

#[test]
fn sizes_that_a_configuration_cannot_do_are_skipped_with_a_word() {
    let (mut validator, context) = contexts(matmul());
    let mut configuration = context.start();
    configuration.insert("BLOCK_X".to_owned(), 64);
    let verified =
        validate_with(&mut validator, &context, &[configuration.clone()], &[], &mut device(right())).expect("right");
    insta::assert_snapshot!(verified.notes.join("\n"));
    configuration.insert("BLOCK_X".to_owned(), 1000);
    let failure = validate_with(&mut validator, &context, &[configuration], &[], &mut device(right()))
        .expect_err("no size is a multiple of 1000");
    assert_eq!(failure.class, FailureClass::Results);
    insta::assert_snapshot!(failure.message);
    let failure =
        validate_with(&mut validator, &context, &[], &[], &mut device(right())).expect_err("nothing to check");
    insta::assert_snapshot!(failure.message, @"nothing was verified: there was no configuration to check");
}

#[test]
fn a_kernel_that_writes_to_its_inputs_is_wrong() {
    let (mut validator, context) = contexts(matmul());
    let mut device = device(right());
    device.changed = vec!["A".to_owned()];
    let failure = validate_with(&mut validator, &context, &[context.start()], &[], &mut device).expect_err("A changed");
    insta::assert_snapshot!(failure.message, @"the kernel writes to its inputs: A");
}

#[test]
fn a_fault_at_timed_sizes_only_is_caught_in_full_and_explained() {
    let failure = validate(|launch| {
        let mut c = product(launch, launch.n);
        if launch.n == 192 {
            c[191 * 192 + 100] += 1.0;
        }
        output(c)
    })
    .expect_err("one element of 36864 is wrong");
    insta::assert_snapshot!([vec![failure.message], failure.facts].concat().join("\n"));
}

#[test]
fn checks_that_prove_nothing_are_rejected() {
    let mut kernel = matmul();
    kernel.tolerance = Tolerance::Absolute(1.0);
    let (mut validator, context) = contexts(kernel);
    let verified =
        validate_with(&mut validator, &context, &[context.start()], &[], &mut device(right())).expect("right");
    assert!(
        verified.notes.iter().any(|note| note.contains("tiny data") && note.contains("writes zeros to C")),
        "{verified:?}"
    );

    let mut kernel = matmul();
    kernel.tolerance = Tolerance::Absolute(1e9);
    let (mut validator, context) = contexts(kernel);
    let failure = validate_with(&mut validator, &context, &[context.start()], &[], &mut device(right()))
        .expect_err("zeros would pass everywhere");
    assert!(
        failure.facts.iter().all(|fact| fact.contains("a kernel that writes zeros to C would pass")),
        "{failure:?}"
    );
}

#[test]
fn without_an_oracle_the_reference_is_what_counts() {
    let mut kernel = matmul();
    kernel.computes = None;
    let (mut validator, context) = contexts(kernel);
    let timed = [inputs(&[("n", 192)])];
    let verified =
        validate_with(&mut validator, &context, &[context.start()], &timed, &mut device(right())).expect("right");
    insta::assert_snapshot!(verified.by.join("\n"));
    let wrong: Run = Box::new(|launch| output(product(launch, launch.n - 32)));
    let failure =
        validate_with(&mut validator, &context, &[context.start()], &[], &mut device(wrong)).expect_err("wrong");
    assert_eq!(failure.message, "wrong results in C");
}

#[test]
fn a_wrong_reference_is_caught_by_the_oracle() {
    let (mut validator, mut context) = contexts(matmul());
    // The candidate is the reference, which is wrong at the timed size only.
    context.regions.device_code = "reference".to_owned();
    let mut device = device(right());
    device.reference = Box::new(|launch| output(product(launch, if launch.n == 192 { 160 } else { launch.n })));
    let timed = [inputs(&[("n", 192)])];
    let failure = validate_with(&mut validator, &context, &[context.start()], &timed, &mut device).expect_err("wrong");
    assert_eq!(failure.message, "nothing can be verified: the reference itself is wrong by the oracle");
    assert!(failure.facts[0].starts_with("C: 25"), "{failure:?}");
}

#[test]
fn one_wrong_element_of_a_large_product_is_found_although_the_reference_has_it_too() {
    let (mut validator, mut context) = contexts(matmul());
    context.regions.device_code = "reference".to_owned();
    let mut device = device(right());
    // 256 of 36864 elements are sampled by the oracle; this one is not among them.
    let place = 100 * 192 + 7;
    device.reference = Box::new(move |launch| {
        let mut c = product(launch, launch.n);
        if launch.n == 192 {
            c[place] += 3.0;
        }
        output(c)
    });
    let timed = [inputs(&[("n", 192)])];
    let failure = validate_with(&mut validator, &context, &[context.start()], &timed, &mut device).expect_err("wrong");
    assert_eq!(failure.message, "nothing can be verified: the reference itself is wrong by the oracle");
    assert!(failure.facts[0].starts_with("C: 1 of 192 elements are wrong"), "{failure:?}");
    assert!(failure.facts[0].contains("C[100, 7]"), "{failure:?}");
}

#[test]
fn an_inout_that_is_added_to_twice() {
    // y[i] = old y[i] + sum(k) A[i, k]
    let row = sum("k", name("n"), element("A", &[name("i"), name("k")]));
    let kernel = kernel(
        "row-sums",
        vec![
            scalar("n", &[64], &[32, 64]),
            array("y", Direction::InOut, ElementType::F32, &[name("n")]),
            array("A", Direction::Input, ElementType::F32, &[name("n"), name("n")]),
        ],
        vec![assign(
            "y",
            &["i"],
            op(ValueOp::Add, Value::Old { array: "y".to_owned(), indices: vec![name("i")] }, row),
        )],
    );
    let code = |times: f64| -> Run {
        Box::new(move |launch| {
            let rows = launch.given["A"].chunks(launch.n).map(|row| row.iter().sum::<f64>());
            let y = rows.zip(&launch.given["y"]).map(|(row, y)| times * y + row).collect();
            [("y".to_owned(), y)].into_iter().collect()
        })
    };
    let (mut validator, context) = contexts(kernel);
    validate_with(&mut validator, &context, &[context.start()], &[], &mut device(code(1.0))).expect("it is right");
    let failure = validate_with(&mut validator, &context, &[context.start()], &[], &mut device(code(2.0)))
        .expect_err("y is added twice");
    insta::assert_snapshot!(failure.facts.join("\n"));
}
