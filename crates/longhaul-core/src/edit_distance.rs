//! How far two names are apart, for hints about mistyped ones: of keys, variables and agents. Pure.
//! It only measures; the caller decides whether something is near enough for a hint.

/// How many characters must be inserted, deleted, changed or swapped with their neighbour.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Hostile names may be as long as their file; nothing known is.
    if a.len().abs_diff(b.len()) > 32 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let changed = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
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
