//! The generator of data: reproducible, within bounds, and what its distributions promise.

use peak::context::launch::{BufferRole, BufferSpec, encode};
use peak::data::{decode, fill_buffer};
use peak::runner::{Distribution, Fill, POISON};
use peak_grammar::ir::{ElementType, Initializer};
use proptest::prelude::*;

const DISTRIBUTIONS: [Distribution; 6] = [
    Distribution::Declared,
    Distribution::ExactIntegers,
    Distribution::Large,
    Distribution::Tiny,
    Distribution::Structured,
    Distribution::Spiky,
];

fn spec(name: &str, element: ElementType, shape: &[usize], initializer: Initializer) -> BufferSpec {
    BufferSpec { name: name.to_owned(), element, shape: shape.to_vec(), role: BufferRole::Input(initializer) }
}

fn numbers(spec: &BufferSpec, seed: u64, distribution: Distribution) -> Vec<f64> {
    decode(spec.element, &fill_buffer(spec, Fill { seed, distribution }))
}

const SYMMETRIC: Initializer = Initializer::Uniform { low: -1.0, high: 1.0 };

#[test]
fn a_prefix_of_a_larger_buffer_is_the_smaller_one() {
    let small = spec("A", ElementType::F32, &[100], SYMMETRIC);
    let large = spec("A", ElementType::F32, &[200_000], SYMMETRIC);
    let fill = Fill { seed: 7, distribution: Distribution::Declared };
    assert_eq!(fill_buffer(&small, fill), fill_buffer(&large, fill)[..400], "threads and sizes do not matter");
}

#[test]
fn the_numbers_are_these_forever() {
    let buffer = spec("A", ElementType::F32, &[4], SYMMETRIC);
    let bytes = fill_buffer(&buffer, Fill { seed: 1, distribution: Distribution::Declared });
    insta::assert_snapshot!(peak::hash::hex(&bytes));
}

#[test]
fn seeds_and_names_and_distributions_differ() {
    let a = spec("A", ElementType::F32, &[64, 64], SYMMETRIC);
    let b = spec("B", ElementType::F32, &[64, 64], SYMMETRIC);
    for distribution in DISTRIBUTIONS {
        assert_ne!(numbers(&a, 1, distribution), numbers(&b, 1, distribution), "{distribution:?}: A and B");
        assert_ne!(numbers(&a, 1, distribution), numbers(&a, 2, distribution), "{distribution:?}: seeds");
    }
}

#[test]
fn outputs_are_poisoned() {
    let mut output = spec("C", ElementType::F16, &[3], SYMMETRIC);
    output.role = BufferRole::Output;
    let bytes = fill_buffer(&output, Fill { seed: 0, distribution: Distribution::Declared });
    assert_eq!(bytes, [POISON, POISON].concat()[..6]);
    for element in ElementType::ALL.into_iter().filter(|element| element.is_float()) {
        assert!(decode(element, &[POISON; 2].concat())[0].is_nan(), "{element}");
    }
}

#[test]
fn distributions_are_what_they_say() {
    let a = spec("A", ElementType::F32, &[128, 128], SYMMETRIC);
    let count = (128 * 128) as f64;
    let exact = numbers(&a, 3, Distribution::ExactIntegers);
    assert!(exact.iter().all(|value| value.fract() == 0.0 && value.abs() <= 4.0));
    assert!(exact.iter().filter(|value| **value == 0.0).count() < 400, "mostly not zero");
    let spiky = numbers(&a, 3, Distribution::Spiky);
    let zeros = spiky.iter().filter(|value| **value == 0.0).count() as f64 / count;
    assert!((0.9..0.97).contains(&zeros), "{zeros} zeros");
    assert!(spiky.iter().any(|value| value.abs() > 900.0));
    assert!(numbers(&a, 3, Distribution::Large).iter().any(|value| value.abs() > 1000.0));
    assert!(numbers(&a, 3, Distribution::Tiny).iter().all(|value| value.abs() <= 2f64.powi(-10)));
    let declared = numbers(&a, 3, Distribution::Declared);
    let mean = declared.iter().sum::<f64>() / count;
    let square = declared.iter().map(|value| value * value).sum::<f64>() / count;
    assert!(mean.abs() < 0.02 && (square - 1.0 / 3.0).abs() < 0.02, "mean {mean}, mean square {square}");
    let normal = numbers(&spec("A", ElementType::F32, &[128, 128], Initializer::Normal), 3, Distribution::Declared);
    let square = normal.iter().map(|value| value * value).sum::<f64>() / count;
    assert!((square - 1.0).abs() < 0.05, "{square}");
}

#[test]
fn structured_numbers_tell_every_position_of_a_small_array_apart() {
    let mut values = numbers(&spec("A", ElementType::F64, &[32, 32], SYMMETRIC), 5, Distribution::Structured);
    values.sort_by(f64::total_cmp);
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
}

fn elements() -> impl Strategy<Value = ElementType> {
    prop::sample::select(ElementType::ALL.to_vec())
}

proptest! {
    #[test]
    fn every_distribution_keeps_integers_in_bounds_and_signs(
        element in elements(),
        distribution in prop::sample::select(DISTRIBUTIONS.to_vec()),
        low in 0i8..50,
        width in 1i8..50,
        seed: u64,
    ) {
        let (low, high) = (f64::from(low), f64::from(low) + f64::from(width));
        let values = numbers(&spec("x", element, &[333], Initializer::Uniform { low, high }), seed, distribution);
        prop_assert_eq!(values.len(), 333);
        for value in values {
            prop_assert!(value.is_finite());
            prop_assert!(value >= 0.0 && (low == 0.0 || value > 0.0), "{} of {}..{}", value, low, high);
            if !element.is_float() {
                prop_assert!(value >= low && value < high && value.fract() == 0.0, "{} of {}..{}", value, low, high);
            }
        }
    }

    #[test]
    fn constants_stay(element in elements(), distribution in prop::sample::select(DISTRIBUTIONS.to_vec()), seed: u64) {
        let ones = numbers(&spec("x", element, &[5], Initializer::Ones), seed, distribution);
        let zeros = numbers(&spec("x", element, &[5], Initializer::Zeros), seed, distribution);
        prop_assert_eq!(ones, vec![1.0; 5]);
        prop_assert_eq!(zeros, vec![0.0; 5]);
    }

    #[test]
    fn decoding_inverts_encoding(element in elements(), value in 0i8..100) {
        let bytes = encode(element, f64::from(value));
        prop_assert_eq!(decode(element, &bytes), vec![f64::from(value)]);
    }
}

#[test]
fn sixteen_million_numbers_take_well_under_a_second() {
    for (element, initializer) in
        [(ElementType::F32, SYMMETRIC), (ElementType::F16, SYMMETRIC), (ElementType::F32, Initializer::Normal)]
    {
        let buffer = spec("A", element, &[4096, 4096], initializer.clone());
        let started = std::time::Instant::now();
        let bytes = fill_buffer(&buffer, Fill { seed: 1, distribution: Distribution::Declared });
        let seconds = started.elapsed().as_secs_f64();
        eprintln!("generator, 2^24 {element} {initializer:?}: {seconds:.3} s");
        assert_eq!(bytes.len(), buffer.bytes());
        // A loaded machine is allowed several times what is promised.
        assert!(seconds < 8.0, "{seconds} s");
    }
}
