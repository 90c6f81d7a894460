//! Planted faults, and the words that a person and a model read about each.

use super::fake::*;

/// The message and facts of a matmul with a fault.
fn words(fault: impl FnMut(&Launch<'_>, &mut Vec<f64>) + 'static) -> String {
    let mut fault = fault;
    let failure = validate(move |launch| {
        let mut c = product(launch, launch.n);
        fault(launch, &mut c);
        output(c)
    })
    .expect_err("the fault is caught");
    [vec![failure.message], failure.facts].concat().join("\n")
}

/// Changes the elements of a matrix that `only` chooses.
fn change(c: &mut [f64], n: usize, only: impl Fn(usize, usize) -> bool, to: impl Fn(usize, usize, f64) -> f64) {
    for i in 0..n {
        for j in 0..n {
            if only(i, j) {
                c[i * n + j] = to(i, j, c[i * n + j]);
            }
        }
    }
}

macro_rules! faults {
    ($($name:ident: $fault:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(words($fault));
        }
    )*};
}

faults! {
    zeros: |_, c| c.fill(0.0);
    constant: |_, c| c.fill(3.5);
    never_written: |_, c| c.fill(f64::NAN);
    infinite: |_, c| c.fill(f64::INFINITY);
    last_block_of_columns_never_written: |launch, c| {
        let n = launch.n;
        change(c, n, |_, j| j >= n - 16, |_, _, _| f64::NAN);
    };
    last_tile_of_the_sum_dropped: |launch, c| *c = product(launch, launch.n - 32);
    first_term_dropped: |launch, c| *c = multiply(launch.n, &launch.given["A"], &launch.given["B"], 1..launch.n);
    only_the_first_tile_summed: |launch, c| *c = product(launch, 32);
    last_tile_twice: |launch, c| {
        let terms = (0..launch.n).chain(launch.n - 32..launch.n);
        *c = multiply(launch.n, &launch.given["A"], &launch.given["B"], terms);
    };
    operands_exchanged: |launch, c| *c = multiply(launch.n, &launch.given["B"], &launch.given["A"], 0..launch.n);
    right_operand_read_transposed: |launch, c| {
        let n = launch.n;
        let b = &launch.given["B"];
        let transposed: Vec<f64> = (0..n * n).map(|flat| b[flat % n * n + flat / n]).collect();
        *c = multiply(n, &launch.given["A"], &transposed, 0..n);
    };
    right_for_the_last_threads_of_each_block_only: |launch, c| {
        let last = |i: usize, j: usize| i % 8 == 7 && j % 16 >= 8;
        change(c, launch.n, |i, j| !last(i, j), |i, j, c| c - 1.0 - ((i * 7 + j * 3) % 5) as f64);
    };
    output_transposed: |launch, c| {
        let right = c.clone();
        change(c, launch.n, |_, _| true, |i, j, _| right[j * launch.n + i]);
    };
    every_row_one_off: |launch, c| c.rotate_left(launch.n);
    a_block_of_rows_off: |launch, c| c.rotate_right(16 * launch.n);
    last_row_missing: |launch, c| {
        let n = launch.n;
        change(c, n, |i, _| i == n - 1, |_, _, _| f64::NAN);
    };
    copy_of_an_input: |launch, c| c.clone_from(&launch.given["A"]);
    twice_as_much: |_, c| c.iter_mut().for_each(|c| *c *= 2.0);
    divided_by_a_tuning_parameter: |_, c| c.iter_mut().for_each(|c| *c /= 32.0);
    half_of_the_threads_idle: |launch, c| change(c, launch.n, |i, _| i % 32 >= 16, |_, _, _| 0.0);
    odd_columns: |launch, c| change(c, launch.n, |_, j| j % 2 == 1, |_, _, c| c + 1.0);
    scaled_by_tile: |launch, c| change(c, launch.n, |_, _| true, |i, j, c| c * (1.0 + ((i / 16 * 5 + j / 16) % 7) as f64));
    missing_barrier: |launch, c| {
        let (n, run) = (launch.n, launch.run as usize);
        change(c, n, |i, j| (i / 16 + j / 16 + run) % 3 == 0, |i, j, c| c - ((i * 7 + j * 13 + run) % 5) as f64);
    };
}

#[test]
fn a_fault_that_only_shows_sometimes() {
    // Right in the first run of each size, wrong in the repetition.
    let mut seen = std::collections::HashSet::new();
    let text = words(move |launch, c| {
        let key: Vec<u64> = launch.given["A"].iter().map(|value| value.to_bits()).collect();
        if !seen.insert(key) {
            c[launch.n] += 1.0;
        }
    });
    insta::assert_snapshot!(text);
}

#[test]
fn lost_bits() {
    // tf32 keeps 10 bits after the point.
    let round = |values: &[f64]| {
        values.iter().map(|v| f64::from(f32::from_bits(((*v as f32).to_bits() + 0x1000) & !0x1fff))).collect::<Vec<_>>()
    };
    let text = words(move |launch, c| {
        *c = multiply(launch.n, &round(&launch.given["A"]), &round(&launch.given["B"]), 0..launch.n);
    });
    assert!(text.contains("bits were lost") || text.contains("elements are wrong"), "{text}");
    insta::assert_snapshot!(text);
}
