//! The password of `curl -u user:password`.
//! Called by `find` at the name of the program; it never looks beyond the line.

use super::charset::VALUE;
use super::literals::Hit;
use super::text::{Reading, Text};
use super::url::is_example;
use crate::find::Mask;

/// How far behind the program's name its flag is looked for.
const LONGEST_COMMAND: usize = 512;

pub(super) fn read(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    if !text.is_word_start(hit.start) || text.at(hit.end).is_some_and(|byte| byte != b' ') {
        return Reading::Decided;
    }
    let line = text.skip(hit.end, LONGEST_COMMAND, |byte| byte != b'\n');
    let command = &text.bytes[..line];
    let mut at = hit.end;
    while let Some(flag) = next_flag(command, at) {
        let (start, _) = text.skip_quote(text.skip(flag, 4, |byte| byte == b' ' || byte == b'='));
        let end = text.run(start, VALUE);
        if text.is_open_at(end) {
            return Reading::Open { from: hit.start };
        }
        if let Some(colon) = text.bytes[start..end].iter().position(|byte| *byte == b':') {
            let password = start + colon + 1;
            if end - password >= 4 && !is_example(&text.bytes[password..end]) {
                masks.push(Mask::shape(password, end, "curl-password"));
            }
        }
        at = end.max(flag);
    }
    let is_open = text.is_open_at(line) && line - hit.end < LONGEST_COMMAND;
    if is_open { Reading::Open { from: hit.start } } else { Reading::Decided }
}

/// The position behind the next flag that takes user and password.
fn next_flag(command: &[u8], from: usize) -> Option<usize> {
    let flags: [&[u8]; 4] = [b" -u", b" --user ", b" --user=", b" --proxy-user "];
    let rest = command.get(from..)?;
    let position = |flag: &&[u8]| rest.windows(flag.len()).position(|window| window == *flag).map(|at| at + flag.len());
    flags.iter().filter_map(position).min().map(|at| from + at)
}
