//! A launch plan's text, as a model writes it: read, resolved, printed, and read again.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use peak_fuzz::{bound::within_a_second, seeds, text};
use peak_grammar::{PlanNames, parse_launch_plan, print_launch_plan};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let names = seeds::plan_names();
    let Ok(plan) = within_a_second(|| parse_launch_plan("fuzzed", text, &names)) else { return };
    let printed = print_launch_plan(&plan);
    let again = parse_launch_plan("printed", &printed, &PlanNames::clone(&names));
    let again = again.unwrap_or_else(|errors| panic!("what is printed can't be read: {errors:?}\n{printed}"));
    assert_eq!(print_launch_plan(&again), printed);
});

fuzz_mutator!(|bytes: &mut [u8], size: usize, max: usize, seed: u32| {
    text::mutate(seeds::plans(), bytes, size, max, seed)
});
