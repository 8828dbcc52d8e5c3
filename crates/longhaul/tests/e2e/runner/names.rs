//! Names: generated, made unique, given and refused; and every word of the command line.

use super::Runner;

#[test]
fn a_taken_name_gets_a_number_and_the_old_task_stays() {
    let runner = Runner::new();
    runner.legacy("do-it", 1, 2);
    let done = runner.run(&["Do it!", "--max-sessions", "1"]);
    assert!(done.stdout.contains("Generated task name: do-it-2\n"), "{}", done.stdout);
    assert!(done.stderr.contains("`do-it` already exists"), "{}", done.stderr);
    assert!(runner.file("do-it", "task_list.md").contains("- [x] Task 1"));
    let go_on = runner.ok(&["Do it!", "--continue", "--max-sessions", "1"]);
    assert!(go_on.contains("SESSION 1 - do-it\n"), "to continue no name is made up: {go_on}");
}

#[test]
fn simultaneous_starts_get_directories_of_their_own() {
    let runner = Runner::new();
    let start = || runner.command(&["Same words", "--max-sessions", "1"]).stdout(std::process::Stdio::piped()).spawn();
    let children: Vec<_> = (0..4).map(|_| start().unwrap()).collect();
    let codes: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap().status.code()).collect();
    assert_eq!(codes, [Some(0); 4]);
    for name in ["same-words", "same-words-2", "same-words-3", "same-words-4"] {
        assert!(runner.dir(name).join("task_list.md").is_file(), "{name}");
    }
}

#[test]
fn a_description_without_letters_is_named_by_the_time() {
    let runner = Runner::new();
    let done = runner.run(&["构建应用", "--max-sessions", "1"]);
    assert_eq!(done.code, 0);
    assert!(done.stderr.contains("Non-alphanumeric description detected"), "{}", done.stderr);
    assert!(!done.stdout.contains("Non-alphanumeric"), "not on stdout");
    let name = done.stdout.lines().next().unwrap().strip_prefix("Generated task name: task-").unwrap().to_owned();
    assert!(name.len() == 15 && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'), "{name}");
}

#[test]
fn several_lines_make_one_name() {
    let runner = Runner::new();
    let out = runner.ok(&["First line\nsecond line", "--max-sessions", "1"]);
    assert!(out.starts_with("Generated task name: first-line-second-line\n"), "{out}");
}

#[test]
fn bad_names_are_refused_and_nothing_is_made() {
    let runner = Runner::new();
    for (name, needle) in [
        (".hidden", "Task name cannot start with a dot"),
        ("..", "Task name cannot start with a dot"),
        ("a/b", "Task name cannot contain `/`"),
        ("a\\b", "Task name cannot contain `\\`"),
        ("a..b", "Task name cannot contain `..`"),
        ("a b", "Invalid task name"),
        ("a\nb", "Invalid task name"),
        ("caf\u{e9}", "Invalid task name"),
        (&"x".repeat(101), "more than 100"),
    ] {
        runner.refused(&["--task-name", name, "Do it"], needle);
    }
    runner.refused(&["--task-name=-a", "Do it"], "Task name cannot start with a hyphen");
    runner.refused(&["Do it", "-n", "-a"], "Task name cannot start with a hyphen");
    runner.refused(&["--task-name", "", "Do it"], "--task-name");
    assert!(!runner.env.workspace().join(".autonomous").exists());
    assert!(runner.argvs().is_empty());
}

#[test]
fn the_command_line_is_taken_in_any_order_and_nothing_else() {
    let runner = Runner::new();
    runner.ok(&["--max-sessions", "1", "-n", "t", "--network", "Do it", "--no-auto-continue"]);
    for bad in [
        &["--contineu"][..],
        &["one", "two"],
        &["x", "--max-sessions"],
        &["x", "--max-sessions", "many"],
        &["x", "--max-sessions", "99999999999"],
        &["x", "--max-sessions", "-1"],
        &["x", "--max-sessions", "+1"],
        &["--help", "--max-sessions", "many"],
        &["--list", "--max-sessions", ""],
        &["x", "--task-name"],
        &["x", "--task-name", "--continue"],
        &[],
    ] {
        let done = runner.run(bad);
        assert_eq!(done.code, 1, "{bad:?}: {}", done.stderr);
        assert!(!done.stderr.is_empty() && done.stdout.is_empty(), "{bad:?}: {}", done.stdout);
    }
    assert_eq!(runner.argvs().len(), 1);
    for help in [&["--help"][..], &["-h"]] {
        let text = runner.ok(help);
        assert!(text.contains("--resume-last") && text.contains("1 to 100 letters"), "{text}");
    }
}
