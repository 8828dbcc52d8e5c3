//! Help as a person asks for it: it fits the terminal, `help VERB` works, and a wrong word leads to the right verb.

use crate::env::TestEnv;
use crate::screen::Terminal;
use crate::shell_files::verbs;

#[test]
fn help_fits_eighty_columns() {
    let env = TestEnv::new().var("NO_COLOR", "1");
    for verb in verbs(&env) {
        let (code, shown) = Terminal::run_in_columns(&env, &[&verb, "--help"], 80).finish();
        assert_eq!(code, 0, "{verb}");
        // What is typed is printed as it is.
        let text = shown.split("Examples:").next().unwrap();
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{verb}: {long:?}");
        assert!(shown.contains("Examples:"), "{verb}");
    }
}

#[test]
fn help_of_a_verb_is_found_both_ways() {
    let env = TestEnv::new();
    assert!(env.ok(&["help"]).contains("Commands:"));
    for verb in verbs(&env) {
        assert_eq!(env.ok(&["help", &verb]), env.ok(&[&verb, "--help"]), "{verb}");
    }
}

#[test]
fn words_of_other_tools_lead_to_the_verb() {
    let env = TestEnv::new();
    for (word, verb) in [
        ("start", "run"),
        ("delete", "discard"),
        ("merge", "land"),
        ("continue", "resume"),
        ("tail", "attach"),
        ("abort", "cancel"),
        ("resum", "resume"),
        ("evnts", "events"),
    ] {
        let done = env.run(&[word]);
        assert_eq!(done.code, 2, "{word}");
        assert!(done.stderr.contains(&format!("'{verb}'")), "{word}: {}", done.stderr);
        assert!(!done.stderr.contains("skill") && !done.stderr.contains("trust"), "{word}: {}", done.stderr);
    }
    let done = env.run(&["xyzzy"]);
    assert!(done.code == 2 && !done.stderr.contains("tip: a similar"), "the control: {}", done.stderr);
    for alias in ["status", "ls", "ps"] {
        assert_eq!(env.run(&[alias]).code, 0, "{alias}");
    }
    for alias in ["kill", "stop", "rm", "log"] {
        assert!(env.ok(&[alias, "--help"]).contains("Usage: longhaul"), "{alias}");
    }
}

#[test]
fn short_flags_are_those_people_guess() {
    let env = TestEnv::new();
    let done = env.run(&["run", "Do it", "-a", "demo", "-m", "tiny", "-c", "true", "-n", "short", "--once"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    let submission = env.task("short")["submission"].clone();
    assert_eq!((&submission["agent"], &submission["model"]), (&"demo".into(), &"tiny".into()));
    assert_eq!(submission["checks"][0], "true");
}
