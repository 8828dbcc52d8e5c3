//! The corpus of escapes against every verb that prints, on a pipe and on a terminal: nothing a terminal acts on gets through.

use std::collections::BTreeSet;

use crate::env::{PASSED, TestEnv};
use crate::escapes::CORPUS;
use crate::screen::{Terminal, sequences};

/// The sequences of the live line of a viewer.
const OWN: [&str; 3] = ["[J", "[h", "[l"];

/// A world in which everything a stranger can name or print is hostile, and the finished task in it.
fn hostile() -> (TestEnv, String) {
    let says: Vec<String> =
        CORPUS.iter().filter(|text| !text.contains([',', '\0'])).map(|text| format!("says:{text}")).collect();
    let env = TestEnv::new().var("DEMO_FAULT", &says.join(",")).var("USER", "\u{1b}[31m\u{202e}user");
    // Our own colours would hide a stranger's.
    let env = env.var("NO_COLOR", "1");
    let place = env.path().join("w\u{1b}]0;t\u{7}\u{202e}");
    std::fs::create_dir(&place).unwrap();
    let mut bytes = CORPUS.join("\n").into_bytes();
    bytes.extend_from_slice(b"\n\xff\xfe\xc3\x28 \x1b\xff]0;x\x07\nlast line without an end \x1b[31m");
    std::fs::write(place.join("hostile.bin"), &bytes).unwrap();
    let run = env.run(&[
        "run",
        "Print \u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{9b}31m\rover \u{202e}it",
        "--name",
        "hostile",
        "--workspace",
        place.to_str().unwrap(),
        "--check",
        "cat hostile.bin; cat hostile.bin >&2 # \u{1b}]0;t\u{7}\u{202e}",
        "--check",
        "cat hostile.bin; false # \u{9b}2J",
        "--criterion",
        "shown \u{1b}[8mhidden \u{200b}",
        "--constraint",
        "no \u{1b}P+q544e\u{1b}\\",
        "--expect",
        "hostile.bin",
        "--input",
        place.join("hostile.bin").to_str().unwrap(),
        "--fix-attempts",
        "0",
    ]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    clean("run", &run.stdout);
    clean("run", &run.stderr);
    env.ok(&["tell", "hostile", "hear \u{1b}[6n\u{5}\u{2066}this"]);
    let list = "## Tasks\n\n- [x] Task 1: step \u{1b}[31m\u{9b}2J\u{202e}\n- [ ] Task 2: \u{1b}]8;;http://x\u{7}l\n";
    std::fs::write(env.path().join("list.md"), list).unwrap();
    let accepted = env.run(&["plan", "hostile", "--accept", env.path().join("list.md").to_str().unwrap()]);
    clean("plan --accept", &accepted.stderr);
    (env, "hostile".to_owned())
}

/// The first character that is not plain text.
fn strange(text: &str) -> Option<char> {
    let format = |c: char| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
            || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
    };
    text.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || format(*c))
}

fn clean(what: &str, text: &str) {
    assert_eq!(strange(text), None, "{what}: {text:?}");
}

#[test]
fn the_alphabet_check_can_fail() {
    for text in CORPUS {
        assert!(strange(text).is_some(), "{text:?}");
    }
    assert_eq!(strange("plain\ttext\nnaïve 日本語 🎉"), None);
}

#[test]
fn no_escape_gets_through_any_verb() {
    let (env, name) = hostile();
    let verbs: Vec<Vec<&str>> = [
        &["list"][..],
        &["list", "--all"],
        &["list", "--all", "--json"],
        &["show", &name],
        &["show", &name, "--json"],
        &["why", &name],
        &["why", &name, "--json"],
        &["events", &name],
        &["events", &name, "--json"],
        &["logs", &name],
        &["logs", &name, "--raw"],
        &["logs", &name, "--json"],
        &["report", &name],
        &["report", &name, "--json"],
        &["plan", &name],
        &["plan", &name, "--json"],
        &["diff", &name],
        &["diff", &name, "--stat"],
        &["attach", &name],
        &["wait", &name],
        &["retry", &name],
        &["show", "\u{1b}]0;t\u{7}"],
        &["retry", "\u{9b}2J"],
    ]
    .into_iter()
    .map(<[&str]>::to_vec)
    .collect();
    for args in &verbs {
        let done = env.run(args);
        clean(&format!("{args:?}"), &(done.stdout + &done.stderr));
        let (_, shown) = Terminal::run(&env, args).finish();
        clean(&format!("{args:?} on a terminal"), &shown.replace("\r\n", "\n"));
    }
    let logs = env.ok(&["logs", &name]);
    for part in ["\\u{1b}]52;", "\\u{202e}", "$ cat hostile.bin", "  2> ", "last line without an end"] {
        assert!(logs.contains(part), "`{part}` is shown visibly: {logs}");
    }
    env.ok(&["cancel", &name, "--reason", "\u{1b}[31m\u{202e}enough"]);
    for args in [&["list", "--all"][..], &["why", &name], &["report", &name], &["attach", &name]] {
        let done = env.run(args);
        clean(&format!("{args:?}"), &(done.stdout + &done.stderr));
    }
}

#[test]
fn a_viewer_on_a_terminal_shows_turns_and_only_its_own_escapes() {
    let says = CORPUS.iter().filter(|text| !text.contains([',', '\0'])).map(|text| format!("says:{text}"));
    let env = TestEnv::new().var("DEMO_FAULT", &says.collect::<Vec<_>>().join(",")).var("NO_COLOR", "1");
    std::fs::write(env.workspace().join("hostile.bin"), CORPUS.join("\n")).unwrap();
    let (code, shown) = Terminal::run(&env, &["run", "-v", "Watch", "--check", "cat hostile.bin"]).finish();
    assert_eq!(code, PASSED, "{shown}");
    let own: BTreeSet<String> = OWN.iter().map(ToString::to_string).collect();
    let strangers: Vec<String> = sequences(&shown).difference(&own).cloned().collect();
    assert!(strangers.is_empty(), "not ours: {strangers:?}");
    let left: String = shown.replace(['\u{1b}', '\r'], "");
    assert_eq!(strange(&left), None);
    for part in [
        "plan session 1 started",
        "[write] ",
        "[tick] Task 4",
        "check session",
        "$ cat hostile.bin",
        "done, checks passed",
    ] {
        assert!(shown.contains(part), "`{part}` is missing in {shown}");
    }
}

#[test]
fn a_flood_is_cut_for_a_viewer_and_whole_in_the_logs() {
    let env = TestEnv::new().var("DEMO_FAULT", "flood:200000@1");
    let run = env.run(&["run", "-v", "Flood", "--check", "seq 1 5000"]);
    assert_eq!(run.code, PASSED);
    assert!(run.stderr.contains("lines omitted; `longhaul logs` has them"), "{}", run.stderr);
    assert!(run.stderr.lines().count() < 2000, "{}", run.stderr.lines().count());
    let logs = env.ok(&["logs", "flood"]);
    assert_eq!(logs.lines().filter(|line| line.parse::<u32>().is_ok()).count(), 5000);
}
