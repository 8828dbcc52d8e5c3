//! Tests of the bans: each finds its sample where it holds, and leaves alone what is allowed.
//! Run by the test runner only.

use super::super::source::sources;
use super::{BANS, Place, violations};

fn places(path: &str, text: &str) -> Vec<String> {
    let found = violations(&sources(vec![(path.to_owned(), text.to_owned())]));
    found.into_iter().map(|violation| violation.place).collect()
}

fn is_found(path: &str, text: &str) -> bool {
    !places(path, text).is_empty()
}

#[test]
fn every_word_of_every_ban_is_found_where_it_holds() {
    for ban in BANS {
        let path = match ban.place {
            Place::OnlyBelow(prefixes) => format!("{}src/a.rs", prefixes[0]),
            Place::EverywhereBut(_) => "crates/longhaul-server/src/a.rs".to_owned(),
        };
        for word in ban.words {
            assert_eq!(places(&path, &format!("fn a() {{\n    {word} }}\n")), [format!("{path}:2")], "{word}");
        }
    }
}

#[test]
fn every_ban_leaves_its_own_places_alone() {
    for ban in BANS {
        let Place::EverywhereBut(prefixes) = ban.place else { continue };
        for prefix in prefixes {
            let path = if prefix.ends_with(".rs") { (*prefix).to_owned() } else { format!("{prefix}/a.rs") };
            let text = format!("fn a() {{ {} }}", ban.words[0]);
            assert!(!is_found(&path, &text), "{path}: {text}");
        }
    }
}

#[test]
fn grouped_imports_are_found() {
    let path = "crates/longhaul-core/src/a.rs";
    assert_eq!(places(path, "use std::{\n    collections::{BTreeMap},\n    fs,\n};\n"), [format!("{path}:3")]);
    assert_eq!(places(path, "use std::{env::{self}, fmt};\n"), [format!("{path}:1")]);
    assert!(!is_found(path, "use std::{fmt, collections::{fs}, envelope};"));
}

#[test]
fn parts_of_words_comments_literals_and_tests_are_left_alone() {
    let path = "crates/longhaul-core/src/a.rs";
    for text in [
        "fn operand() -> brand {}",
        "// tokio and std::fs\nfn a() {}",
        "const A: &str = \"println! unsafe\";",
        "#[cfg(test)]\nmod tests { use std::fs; }",
        "#![forbid(unsafe_code)]",
    ] {
        assert!(!is_found(path, text), "{text}");
    }
    assert!(!is_found("crates/longhaul-worker/tests/a.rs", "fn a() { Command::new() }"));
}

#[test]
fn unsafe_code_is_found_in_tests_too() {
    assert!(is_found("crates/longhaul-worker/tests/a.rs", "fn a() { unsafe {} }"));
}

#[test]
fn the_binary_may_print_but_crates_with_a_longer_name_may_not() {
    assert!(!is_found("crates/longhaul/src/a.rs", "fn a() { println!() }"));
    assert!(is_found("crates/longhaul-worker/src/a.rs", "fn a() { println!() }"));
}
