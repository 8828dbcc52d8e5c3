//! The table of keys in docs/guide/board.md is the one that the board obeys.
//! `UPDATE_DOCS=1` writes it; a stale one fails.

use super::super::keys::KEYS;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/board.md");

#[test]
fn the_guide_has_the_keys() {
    let rows: String = KEYS.iter().map(|key| format!("| `{}` | {} |\n", key.shown, key.help)).collect();
    let table = format!("| key | what it does |\n|---|---|\n{rows}");
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once("<!-- keys -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of keys -->\n").unwrap();
    let fresh = format!("{before}<!-- keys -->\n{table}<!-- end of keys -->\n{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &fresh).unwrap();
    }
    assert_eq!(std::fs::read_to_string(PAGE).unwrap(), fresh);
}
