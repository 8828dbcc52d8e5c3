//! Tables and properties of task names.
//! The slug is held against an independent model of its steps, byte for byte.

use jiff::civil::date;
use proptest::prelude::*;

use super::{BadName, RULE, TaskName, candidates, fallback, numbered, readable, slug, with_suffix};

#[test]
fn slugs_follow_the_shell_runner() {
    let table = [
        ("Build a REST API for todo app", Some("build-a-rest-api-for-todo-app")),
        ("café au lait", Some("caf-au-lait")),
        ("修复 the login 页面 bug", Some("the-login-bug")),
        ("fix foo_bar.rs", Some("fix-foo-bar-rs")),
        ("first line\nsecond line", Some("first-line-second-line")),
        ("  leading separator costs one character", Some("leading-separator-costs-one-c")),
        ("abcdefghijklmnopqrstuvwxyz012 3456", Some("abcdefghijklmnopqrstuvwxyz012")),
        ("abcdefghijklmnopqrstuvwxyz0123456", Some("abcdefghijklmnopqrstuvwxyz0123")),
        ("--a--", Some("a")),
        ("ÀÉ 修复 !!!", None),
        ("\u{1b}[31m", Some("31m")),
        ("", None),
        ("-", None),
    ];
    for (description, expected) in table {
        assert_eq!(slug(description).as_deref(), expected, "{description:?}");
    }
}

/// The steps as the facts state them, one by one.
fn slug_in_steps(description: &str) -> Option<String> {
    let lowered: String =
        description.chars().map(|c| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c }).collect();
    let mut hyphened = lowered.replace(|c: char| !matches!(c, 'a'..='z' | '0'..='9'), "-");
    while hyphened.contains("--") {
        hyphened = hyphened.replace("--", "-");
    }
    let mut cut: String = hyphened.chars().take(30).collect();
    if cut.starts_with('-') {
        cut.remove(0);
    }
    if cut.ends_with('-') {
        cut.pop();
    }
    Some(cut).filter(|cut| !cut.is_empty())
}

proptest! {
    #[test]
    fn slug_is_the_stated_steps(description in "[a-cX-Z0-2 \\-_.é修\n\t]{0,60}|\\PC{0,40}") {
        prop_assert_eq!(slug(&description), slug_in_steps(&description));
    }

    #[test]
    fn generated_names_are_valid_and_short(description in "\\PC{0,60}", n in 2u32..) {
        if let Some(base) = slug(&description) {
            for name in [with_suffix(&base, n), base] {
                prop_assert!(name.len() <= 30 && TaskName::new(&name).is_ok(), "{}", name);
                prop_assert!(!name.contains("--"), "{}", name);
            }
        }
    }

    #[test]
    fn a_valid_name_is_one_safe_path_part(name in "\\PC{0,70}|[a-z._-]{0,70}") {
        if let Ok(valid) = TaskName::new(&name) {
            prop_assert_eq!(valid.as_str(), name.as_str());
            prop_assert!(name.len() <= 100 && !matches!(name.as_bytes()[0], b'-' | b'.') && !name.contains(".."));
        }
    }
}

#[test]
fn readable_names_end_with_a_whole_word() {
    let table = [
        ("Build a todo command line app", Some("build-a-todo-command-line")),
        ("Second task with a longer title", Some("second-task-with-a-longer")),
        ("  --Fix foo_bar.rs!  ", Some("fix-foo-bar-rs")),
        ("abcdefghijklmnopqrstuvwxyz0123456", Some("abcdefghijklmnopqrstuvwxyz")),
        ("Xiu Fu Jie Xi Qi ", Some("xiu-fu-jie-xi-qi")),
        ("!?", None),
    ];
    for (text, expected) in table {
        assert_eq!(readable(text).as_deref(), expected, "{text:?}");
    }
    assert_eq!(numbered("build-a-todo-command-line", 12), "build-a-todo-command-line-12");
    assert!(TaskName::new(&numbered(&"a".repeat(100), 12)).is_ok());
}

proptest! {
    #[test]
    fn readable_names_are_valid_and_short(text in "\\PC{0,60}") {
        if let Some(name) = readable(&text) {
            prop_assert!(name.len() <= 26 && TaskName::new(&name).is_ok(), "{}", name);
        }
    }
}

#[test]
fn fallback_has_the_date_and_time() {
    assert_eq!(fallback(date(2026, 3, 7).at(4, 5, 6, 999)), "task-20260307-040506");
}

#[test]
fn suffixes_shorten_the_base() {
    assert_eq!(with_suffix("short", 2), "short-2");
    assert_eq!(with_suffix("abcdefghijklmnopqrstuvwxyz0123", 2), "abcdefghijklmnopqrstuvwxyz01-2");
    assert_eq!(with_suffix("abcdefghijklmnopqrstuvwxyz-1234", 10), "abcdefghijklmnopqrstuvwxyz-10");
    assert_eq!(with_suffix("ééééééééééééééééééé", 3).len(), 30);
    assert_eq!(candidates("a".into()).take(3).collect::<Vec<_>>(), ["a", "a-2", "a-3"]);
}

#[test]
fn names_are_checked_in_order() {
    let long = "a".repeat(101);
    let message = |name: &str| TaskName::new(name).unwrap_err().to_string();
    assert_eq!(message(""), "task name is empty");
    assert_eq!(message("-a/b"), "task name `-a/b` begins with a hyphen");
    assert_eq!(message(".."), "task name `..` begins with a dot");
    assert_eq!(message("a..b/c"), "task name `a..b/c` contains `..`");
    assert_eq!(message("a/b c"), "task name `a/b c` contains `/`");
    assert_eq!(message("a\\b"), "task name `a\\\\b` contains `\\`");
    assert_eq!(message("a b"), "task name `a b` contains ` `");
    assert_eq!(message("a\nb"), "task name `a\\nb` contains `\\n`");
    assert_eq!(message("a\0"), "task name `a\\0` contains `\\u{0}`");
    assert_eq!(message("caf\u{e9}"), "task name `café` contains `\\u{e9}`");
    assert_eq!(message(&long), "task name has 101 characters, more than 100");
    assert_eq!(TaskName::new("\u{1b}[31m"), Err(BadName::Character { name: "\u{1b}[31m".into(), character: '\u{1b}' }));
    assert!(!message("\u{1b}[31m").contains('\u{1b}'));
    for good in ["a", "_a", "9.x_y-z", "A.b", &long[..100]] {
        assert_eq!(TaskName::new(good).unwrap().to_string(), good);
    }
    assert!(RULE.contains("100"));
}

#[test]
fn stored_names_are_checked_too() {
    let name: TaskName = serde_json::from_str("\"good\"").unwrap();
    assert_eq!(serde_json::to_string(&name).unwrap(), "\"good\"");
    assert!(serde_json::from_str::<TaskName>("\"../bad\"").is_err());
}
