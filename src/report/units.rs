//! Numbers with units, for people: three digits, and the unit that suits.

/// A time in nanoseconds: `215 ms`.
#[must_use]
pub fn time(ns: f64) -> String {
    scaled(ns, &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)])
}

/// A rate in FLOP/s, as GFLOP/s: `1.25`.
#[must_use]
pub fn gflops(flops: f64) -> String {
    three_digits(flops / 1e9)
}

/// A number of floating-point operations: `17.2 GFLOP`.
#[must_use]
pub fn flop(operations: f64) -> String {
    scaled(operations, &[("FLOP", 1.0), ("kFLOP", 1e3), ("MFLOP", 1e6), ("GFLOP", 1e9), ("TFLOP", 1e12)])
}

/// An amount of memory traffic, in powers of ten as bandwidths are: `50.3 MB`.
#[must_use]
pub fn bytes(count: f64) -> String {
    scaled(count, &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)])
}

/// A size of memory, exactly, and in powers of two where that is whole: `49152 bytes (48 KiB)`.
#[must_use]
pub fn memory(bytes: i64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, size)| bytes >= *size && bytes % size == 0) {
        Some((unit, size)) => format!("{bytes} bytes ({} {unit})", bytes / size),
        None => format!("{bytes} bytes"),
    }
}

/// A count: `8.59 billion`; exact below a million.
#[must_use]
pub fn count(count: f64) -> String {
    let named = [("", 1.0), (" million", 1e6), (" billion", 1e9), (" trillion", 1e12)];
    let fitting = named.iter().rev().find(|(_, divisor)| count / divisor >= 0.9995).unwrap_or(&named[0]);
    match fitting.0 {
        "" => format!("{count:.0}"),
        name => format!("{}{name}", three_digits(count / fitting.1)),
    }
}

/// A number without a unit: `341`.
#[must_use]
pub fn plain(value: f64) -> String {
    three_digits(value)
}

/// A mean of counts: `4`, `3.52`.
#[must_use]
pub fn mean(value: f64) -> String {
    if (value - value.round()).abs() < 0.005 { format!("{value:.0}") } else { three_digits(value) }
}

/// A ratio: `2.59x`.
#[must_use]
pub fn times(ratio: f64) -> String {
    format!("{}x", three_digits(ratio))
}

/// A share as percent: `0.125` is `12.5%`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{}%", three_digits(share * 100.0))
}

/// A share as percent where small ones do not matter: `12.5%`, `<0.1%`, `0%`.
#[must_use]
pub fn share(share: f64) -> String {
    match share {
        0.0 => "0%".to_owned(),
        small if small < 0.001 => "<0.1%".to_owned(),
        share => percent(share),
    }
}

/// The middle and the spread in one unit: `215 ms (213-219)`.
#[must_use]
pub fn time_with_spread(median: f64, p20: f64, p80: f64) -> String {
    let text = time(median);
    let divisor =
        [("µs", 1e3), ("ms", 1e6), ("ns", 1.0), (" s", 1e9)].into_iter().find(|(unit, _)| text.ends_with(unit));
    let divisor = divisor.map_or(1.0, |(_, divisor)| divisor);
    format!("{text} ({}-{})", three_digits(p20 / divisor), three_digits(p80 / divisor))
}

fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    // 999.6 would be shown as 1000 of the smaller unit.
    let fitting = units.iter().rev().find(|(_, divisor)| value / divisor >= 0.9995).or(units.first());
    fitting.map(|(unit, divisor)| format!("{} {unit}", three_digits(value / divisor))).unwrap_or_default()
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.09995 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_take_the_unit_that_suits() {
        let shown: Vec<String> = [0.0, 7.0, 999.6, 1_500.0, 214_800_000.0, 2.9e9].into_iter().map(time).collect();
        assert_eq!(shown, ["0.00 ns", "7.00 ns", "1.00 µs", "1.50 µs", "215 ms", "2.90 s"]);
    }

    #[test]
    fn a_spread_has_the_unit_of_its_middle() {
        assert_eq!(time_with_spread(2.148e8, 2.131e8, 2.19e8), "215 ms (213-219)");
        assert_eq!(time_with_spread(1.0e9, 9.9e8, 1.1e9), "1.00 s (0.99-1.10)");
        assert_eq!(time_with_spread(900.0, 800.0, 1000.0), "900 ns (800-1000)");
    }

    #[test]
    fn work_and_memory_have_units() {
        assert_eq!(
            (flop(1.718e10), bytes(5.033e7), bytes(0.0)),
            ("17.2 GFLOP".into(), "50.3 MB".into(), "0.00 B".into())
        );
        assert_eq!(
            [49152, 50 << 20, 1000, 0].map(memory),
            ["49152 bytes (48 KiB)", "52428800 bytes (50 MiB)", "1000 bytes", "0 bytes"]
        );
    }

    #[test]
    fn counts_have_words_where_they_are_large() {
        assert_eq!([0.0, 2048.0, 1_048_576.0, 5.93e9].map(count), ["0", "2048", "1.05 million", "5.93 billion"]);
        assert_eq!([0.0, 0.0005, 0.354, 1.0].map(share), ["0%", "<0.1%", "35.4%", "100%"]);
        assert_eq!([4.0, 3.516, 32.0, 0.5].map(mean), ["4", "3.52", "32", "0.50"]);
    }

    #[test]
    fn ratios_and_shares() {
        assert_eq!((times(2.589), percent(0.1249), gflops(1.25e9)), ("2.59x".into(), "12.5%".into(), "1.25".into()));
    }
}
