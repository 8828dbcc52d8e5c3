//! What an agent wanted and was refused, noted in the reader's small memory.
//! Called by every agent's reader.

use crate::clip::one_line;
use crate::reading::Reader;

/// Notes it once; a reader stays small however often an agent tries.
pub(crate) fn note(reader: &mut Reader, what: &str) {
    const MOST: usize = 20;
    let what = one_line(what, 200);
    if reader.denied.len() < MOST && !reader.denied.contains(&what) {
        reader.denied.push(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_stays_short_and_without_repeats() {
        let mut reader = Reader::default();
        for round in 0..100 {
            note(&mut reader, &format!("Bash {}", round % 50));
        }
        assert_eq!(reader.denied.len(), 20);
        assert_eq!(reader.denied[0], "Bash 0");
    }
}
