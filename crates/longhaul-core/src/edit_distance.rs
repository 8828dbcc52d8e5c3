//! How far two names are apart, for hints about mistyped ones: of keys, variables and agents. Pure.
//! It only measures; the caller decides whether something is near enough for a hint.

/// How many characters must be inserted, deleted, changed or swapped with their neighbour.
pub fn distance(a: &str, b: &str) -> usize {
    // Hostile names may be as long as their file; nothing known is.
    if a.chars().count().abs_diff(b.chars().count()) > 32 {
        return usize::MAX;
    }
    strsim::osa_distance(a, b)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcd", "abdc"), 1);
        assert_eq!(distance("cdex", "codex"), 1);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(distance(&"a".repeat(1 << 20), "a"), usize::MAX);
    }
}
