//! The parts of a summary line: `3 passed`, `Skipped: 1`, `out of 2`. Called by the readers of summaries only.
//! They know no runner, and answer none for every line that has no such part.

/// The sum of the counts before these words in `2 passed, 1 skipped`; none if no such word has a count.
pub(super) fn counted(line: &str, words: &[&str]) -> Option<i64> {
    let counts: Vec<i64> = line.split([',', ';', '|']).filter_map(|item| count_of(item, words)).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

fn count_of(item: &str, words: &[&str]) -> Option<i64> {
    let mut parts = item.split_whitespace();
    let count = parts.next()?.parse().ok()?;
    words.contains(&parts.next()?).then_some(count)
}

/// The sum of the counts behind these labels in `tests run: 3, skipped: 1.`; none if no such label has a count.
pub(super) fn labelled(line: &str, labels: &[&str]) -> Option<i64> {
    let counts = line.split([',', '-']).filter_map(|item| {
        let (label, count) = item.rsplit_once(':')?;
        labels.contains(&label.trim()).then(|| count.trim().trim_end_matches('.').parse::<i64>().ok())?
    });
    let counts: Vec<i64> = counts.collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// The number right before a word.
pub(super) fn number_before(line: &str, word: &str) -> Option<i64> {
    line.split_once(word)?.0.rsplit(' ').next()?.parse().ok()
}

/// The number right behind a word.
pub(super) fn number_after(line: &str, word: &str) -> Option<i64> {
    let (_, rest) = line.split_once(word)?;
    let digits = rest.find(|end: char| !end.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}
