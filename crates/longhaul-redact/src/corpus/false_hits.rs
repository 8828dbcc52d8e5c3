//! What the redactor masks in a text that holds no secret, with the text around it.
//! Used by the tests of source code that must stay, and by `cargo xtask bench redaction` on whole source trees.

use crate::Secrets;
use crate::scan::{Part, Scanner, Until};

/// Each mask with its rule, between the text before and after it.
pub fn false_hits(text: &[u8]) -> Vec<String> {
    let (mut scanner, mut at, mut found) = (Scanner::default(), 0, Vec::new());
    scanner.extend(text);
    scanner.advance(&Secrets::default(), Until::End, &mut |part| match part {
        Part::Plain(bytes) => at += bytes.len(),
        Part::Mask { length, replacement } => {
            let around = |start: usize, end: usize| String::from_utf8_lossy(&text[start..end]).replace('\n', " ");
            let (before, end) = (around(at.saturating_sub(60), at), at + length);
            let after = around(end, text.len().min(end + 30));
            found.push(format!("{replacement} {before}\u{ab}{}\u{bb}{after}", around(at, end)));
            at = end;
        }
    });
    found
}
