//! Finds the known name closest to a mistyped one, for keys and environment variables. Pure.
//! A name that resembles nothing gets no suggestion: a wrong hint is worse than none.

use longhaul_core::edit_distance::distance;

/// The candidate closest to the written name, if any is close. The part after the last dot is also compared alone.
pub(crate) fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = |candidate: &str| distance(written, candidate).min(distance(last(written), last(candidate)));
    let best = candidates.map(|candidate| (far(candidate), distance(written, candidate), candidate)).min()?;
    let near = (last(written).chars().count() / 3).max(1);
    (best.0 <= near).then_some(best.2)
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

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
}
