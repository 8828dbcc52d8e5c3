//! The known name that is nearest to a mistyped one. Used for keys of files and for variables of the environment; pure.
//! A name that resembles nothing has no nearest one: a wrong hint is worse than none.

/// The candidate nearest to what was written, if any is near. The part after the last dot counts alone too.
pub(crate) fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = |candidate: &str| distance(written, candidate).min(distance(last(written), last(candidate)));
    let best = candidates.map(|candidate| (far(candidate), distance(written, candidate), candidate)).min()?;
    let near = (last(written).chars().count() / 3).max(1);
    (best.0 <= near).then_some(best.2)
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// How many characters must be put in, taken out, changed or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
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
    use super::{distance, nearest};

    const NAMES: [&str; 5] = ["agent", "limits.max_time", "limits.max_tokens", "verify.commands", "verify"];

    #[test]
    fn slips_are_found() {
        for (written, meant) in [
            ("limits.max_tme", "limits.max_time"),
            ("limts.max_time", "limits.max_time"),
            ("max_time", "limits.max_time"),
            ("agnet", "agent"),
            ("verfy", "verify"),
            ("verify.command", "verify.commands"),
        ] {
            assert_eq!(nearest(written, NAMES.into_iter()), Some(meant), "{written}");
        }
    }

    #[test]
    fn what_resembles_nothing_has_no_nearest() {
        for written in ["colour", "x", "", "limits.zzz"] {
            assert_eq!(nearest(written, NAMES.into_iter()), None, "{written}");
        }
        assert_eq!(nearest(&"a".repeat(1 << 20), NAMES.into_iter()), None);
    }

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcd", "abdc"), 1);
        assert_eq!(distance("same", "same"), 0);
    }
}
