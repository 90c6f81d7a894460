//! "Did you mean": the nearest known name.

/// Names at most this many are listed whole when none is near.
const LISTED: usize = 12;

/// The known name nearest to `name`, if it is near enough to be a slip.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    let length = folded.chars().count();
    // A third of the letters may differ, one in the shortest names.
    let most = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (candidate.to_lowercase(), candidate))
        // Names whose lengths differ by more are no nearer; to find out by their letters takes longer.
        .filter(|(lower, _)| lower.chars().count().abs_diff(length) <= most)
        .map(|(lower, candidate)| (strsim::damerau_levenshtein(&folded, &lower), candidate))
        // A single letter is near to every other, which helps nobody.
        .filter(|(distance, _)| *distance <= most && *distance < length)
        .min()
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or the list where it is short.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    if let Some(near) = nearest(name, known.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    (1..=LISTED).contains(&listed.len()).then(|| format!("known here: {}", listed.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_found_and_a_stranger_is_not() {
        assert_eq!(nearest("TILE_K_SZE", ["TILE_K_SIZE", "BLOCK_X"]), Some("TILE_K_SIZE"));
        assert_eq!(nearest("block_x", ["TILE_K_SIZE", "BLOCK_X"]), Some("BLOCK_X"));
        assert_eq!(nearest("warp", ["TILE_K_SIZE", "BLOCK_X"]), None);
    }
}
