//! Which of many blocks are counted. Knows nothing of what they do.

/// At most `max` numbers below `count`, spread evenly, the first and the last among them; `None` is all.
pub(crate) fn sample(count: u64, max: Option<u64>) -> Option<Vec<u64>> {
    let max = max.map(|max| max.max(1)).filter(|max| *max < count)?;
    if max == 1 {
        return Some(vec![count / 2]);
    }
    let at = |number: u64| u128::from(number) * u128::from(count - 1) / u128::from(max - 1);
    Some((0..max).map(|number| u64::try_from(at(number)).unwrap_or(count - 1)).collect())
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn numbers_are_spread_and_none_comes_twice() {
        assert_eq!(sample(10, None), None);
        assert_eq!(sample(10, Some(10)), None);
        assert_eq!(sample(10, Some(4)), Some(vec![0, 3, 6, 9]));
        assert_eq!(sample(10, Some(1)), Some(vec![5]));
        assert_eq!(sample(3, Some(0)), Some(vec![1]));
        let many = sample(u64::MAX, Some(1000)).expect("there are fewer");
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]) && many.last() == Some(&(u64::MAX - 1)));
    }
}
