//! Checks whether a program's own transcript contains the prompt with a mark, for the agents that keep a transcript.
//! Only what a user message says counts: an assistant or a tool may quote the mark.

use longhaul_core::task::Delivered;
use serde_json::Value;

/// Looks for the line `Session: <mark>` in the texts that `user_texts` finds in each line's document.
pub(crate) fn delivered(
    lines: &mut dyn Iterator<Item = &[u8]>,
    mark: &str,
    user_texts: impl Fn(&Value) -> Vec<&str>,
) -> Delivered {
    let (mut documents, mut unreadable) = (0, 0);
    for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
        let Ok(document) = serde_json::from_slice::<Value>(line) else {
            unreadable += 1;
            continue;
        };
        documents += 1;
        if user_texts(&document).into_iter().any(|text| carries(text, mark)) {
            return Delivered::Yes;
        }
    }
    // The prompt may stand in what could not be read.
    if unreadable > 0 || documents == 0 { Delivered::Unknown } else { Delivered::No }
}

/// Whether a text has the line with exactly this mark.
pub(crate) fn carries(text: &str, mark: &str) -> bool {
    text.lines().any(|line| line.trim().strip_prefix("Session: ").is_some_and(|rest| rest.trim() == mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_texts(document: &Value) -> Vec<&str> {
        document["user"].as_str().into_iter().collect()
    }

    fn look(lines: &[&str], mark: &str) -> Delivered {
        delivered(&mut lines.iter().map(|line| line.as_bytes()), mark, user_texts)
    }

    #[test]
    fn only_the_exact_mark_in_a_user_message_counts() {
        let lines = [r#"{"user":"Do it.\n\nSession: t/1.10\r\n"}"#, r#"{"assistant":"Session: t/1.1"}"#];
        assert_eq!(look(&lines, "t/1.10"), Delivered::Yes);
        assert_eq!(look(&lines, "t/1.1"), Delivered::No);
        assert_eq!(look(&[r#"{"user":"see Session: t/1.1"}"#], "t/1.1"), Delivered::No);
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        assert_eq!(look(&[], "t/1.1"), Delivered::Unknown);
        assert_eq!(look(&[r#"{"user":"x"}"#, r#"{"user":"Sess"#], "t/1.1"), Delivered::Unknown);
        assert_eq!(look(&["{", r#"{"user":"Session: t/1.1"}"#], "t/1.1"), Delivered::Yes);
    }
}
