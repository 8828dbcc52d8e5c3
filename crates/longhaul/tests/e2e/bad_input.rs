//! Input that makes no sense, a home that is none, and damage: a clear error with its exit code, and nothing made or lost.

use std::os::unix::fs::symlink;

use crate::env::{Done, TestEnv, done};
use crate::sight::listing;

/// What, why and what to do, on stderr, with nothing on stdout.
fn explains(done: &Done, code: i32, parts: &[&str]) {
    assert_eq!(done.code, code, "{}", done.stderr);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
    for part in parts {
        assert!(done.stderr.contains(part), "`{part}` is missing in {}", done.stderr);
    }
}

#[test]
fn a_command_line_that_makes_no_sense_touches_nothing() {
    let env = TestEnv::new();
    for args in [
        &["run", "--frobnicate", "goal"][..],
        &["frobnicate"],
        &["run", "goal", "--name"],
        &["run", "goal", "second goal"],
        &["run", "goal", "--attempts", "99999999999999999999"],
        &["run", "goal", "--attempts", "0"],
        &["run", "goal", "--backoff", "18446744073709551616ms"],
        &["run", "goal", "--silence", "soon"],
        &["wait", "x", "--timeout", "-1"],
        &["wait", "x", "--timeout", "soon"],
        &["wait", "x", "--timeout", "18446744073709551616"],
        &["logs", "x", "--session", "4294967296"],
        &["logs", "x", "--raw", "--json"],
        &["worker", "--sessions", "0"],
        &["show", "a", "b"],
        &["demo", "--pace", "fast"],
    ] {
        let done = env.run(args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains("--help") || done.stderr.contains("Usage"), "{args:?}: {}", done.stderr);
        assert!(!env.home().exists(), "{args:?} made a home");
    }
    assert!(listing(&env.workspace()).is_empty());
}

#[test]
fn a_goal_or_name_that_is_none_touches_nothing() {
    let env = TestEnv::new();
    explains(&env.run(&["run"]), 2, &["no goal given", "-f FILE"]);
    explains(&env.run(&["run", ""]), 2, &["the goal is empty"]);
    explains(&env.run(&["run", "-d", " \n\t "]), 2, &["the goal is empty"]);
    explains(&env.feed(&["run", "-"], b""), 2, &["the goal is empty"]);
    explains(&env.feed(&["run", "-"], b"a\0b"), 2, &["NUL"]);
    explains(&env.feed(&["run", "-"], b"\xff\xfe"), 2, &["standard input"]);
    explains(&env.feed(&["run", "-"], "word ".repeat(200_000).as_bytes()), 2, &["64 KiB", "file"]);
    for (name, part) in [
        ("", "empty"),
        ("--x", ""),
        (".hidden", "begins with a dot"),
        ("a..b", "`..`"),
        ("a/b", "`/`"),
        ("a\\b", "contains"),
        ("a b", "contains"),
        ("a\nb", "contains"),
        ("na\u{ef}ve", "contains"),
        (&"x".repeat(101), "101 characters"),
        ("\u{1b}[31mred", "contains"),
    ] {
        let done = env.run(&["run", "-d", "goal", &format!("--name={name}")]);
        explains(&done, 2, &[part, "letters, digits"]);
        assert!(!done.stderr.contains('\u{1b}'), "no escape reaches the terminal: {:?}", done.stderr);
    }
    assert!(!env.home().exists(), "refused before anything is made");
    assert!(listing(&env.workspace()).is_empty());
    let longest = "x".repeat(64);
    assert_eq!(env.submit("goal", &["--name", &longest]), longest, "the table's other side");
}

#[test]
fn an_unknown_agent_is_answered_with_the_ones_there_are() {
    let env = TestEnv::new();
    let done = env.run(&["run", "goal", "--agent", "demmo"]);
    explains(&done, 2, &["demmo", "demo"]);
    assert!(!env.home().exists());
}

const TASK_VERBS: [&[&str]; 9] = [
    &["show"],
    &["logs"],
    &["logs", "-f"],
    &["events"],
    &["why"],
    &["pause"],
    &["resume"],
    &["cancel"],
    &["wait", "--timeout", "1"],
];

#[test]
fn an_unknown_task_leaves_nothing_behind_in_a_home_that_is_none() {
    let env = TestEnv::new();
    for verb in TASK_VERBS {
        let named: Vec<&str> = [verb[0], "no-such-task"].into_iter().chain(verb[1..].iter().copied()).collect();
        explains(&env.run(&named), 7, &["hint: "]);
        explains(&env.run(verb), 7, &["hint: "]);
    }
    assert!(!env.home().exists());
    assert!(listing(&env.workspace()).is_empty());
}

#[test]
fn an_unknown_task_leaves_nothing_behind_in_a_home_with_others() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Real"]).code, 0);
    env.deserted();
    env.run(&["list"]);
    let before = (listing(&env.home()), listing(&env.workspace()));
    let id = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";
    for wanted in ["no-such-task", id, "0190c5a4", "../../etc/passwd", "", "\u{1b}]0;x\u{7}", &"y".repeat(5000)] {
        for verb in TASK_VERBS {
            let named: Vec<&str> = [verb[0], wanted].into_iter().chain(verb[1..].iter().copied()).collect();
            let done = env.run(&named);
            explains(&done, 7, &["hint: "]);
            assert!(!done.stderr.contains('\u{1b}'), "{:?}", done.stderr);
        }
    }
    assert_eq!(before, (listing(&env.home()), listing(&env.workspace())));
}

#[test]
fn a_workspace_that_is_none_is_refused_before_anything_is_made() {
    let env = TestEnv::new();
    let file = env.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    for place in [file.clone(), file.join("below"), env.path().join("missing")] {
        let done = env.run(&["run", "goal", "--workspace", place.to_str().unwrap()]);
        explains(&done, 2, &[place.to_str().unwrap(), "hint: "]);
    }
    assert!(!env.home().exists());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn a_home_that_is_a_link_or_a_file_is_refused() {
    let env = TestEnv::new();
    let target = env.path().join("target");
    std::fs::create_dir(&target).unwrap();
    symlink(&target, env.home()).unwrap();
    explains(&env.run(&["run", "goal"]), 2, &["LONGHAUL_HOME"]);
    explains(&env.run(&["worker"]), 2, &["LONGHAUL_HOME"]);
    explains(&env.run(&["list"]), 2, &["LONGHAUL_HOME", "symbolic link"]);
    explains(&env.run(&["show", "x"]), 2, &["LONGHAUL_HOME", "symbolic link"]);
    assert!(listing(&target).is_empty(), "nothing was written through the link");
    std::fs::remove_file(env.home()).unwrap();
    std::fs::write(env.home(), "mine").unwrap();
    explains(&env.run(&["run", "goal"]), 2, &["LONGHAUL_HOME"]);
    explains(&env.run(&["list"]), 2, &["LONGHAUL_HOME"]);
    assert_eq!(std::fs::read_to_string(env.home()).unwrap(), "mine");
    let below = env.home().join("below").display().to_string();
    for args in [&["run", "goal"][..], &["list"], &["show"]] {
        let done = done(&env.command(args).env("LONGHAUL_HOME", &below).output().unwrap());
        explains(&done, 2, &["LONGHAUL_HOME"]);
    }
}

#[test]
fn a_relative_home_is_refused_and_not_made() {
    let env = TestEnv::new();
    for args in [&["run", "goal"][..], &["worker"], &["list"], &["service", "status"]] {
        let done = done(&env.command(args).env("LONGHAUL_HOME", "home").output().unwrap());
        explains(&done, 2, &["LONGHAUL_HOME is a relative path", "absolute path"]);
    }
    assert!(listing(&env.workspace()).is_empty());
}

/// Damages the database of a world with one finished task and sees what the verbs say.
fn damaged(damage: impl Fn(&std::path::Path), code: i32, parts: &[&str]) {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Precious"]).code, 0);
    env.deserted();
    let database = env.home().join("longhaul.db");
    // Into the file itself, or the log would bring the old content back.
    rusqlite::Connection::open(&database)
        .unwrap()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    damage(&database);
    let before = std::fs::read(&database).unwrap();
    for args in [&["list"][..], &["show", "precious"], &["run", "more"], &["worker"]] {
        explains(&env.run(args), code, parts);
    }
    assert!(std::fs::read(&database).unwrap() == before, "the evidence stays as it is");
}

#[test]
fn a_database_of_random_bytes_is_damage() {
    let noise: Vec<u8> = (0..50_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    damaged(|path| std::fs::write(path, &noise).unwrap(), 9, &["because", "hint: "]);
}

#[test]
fn an_emptied_or_shortened_database_is_damage() {
    for length in [0, 100, 4096 * 2] {
        let cut = |path: &std::path::Path| {
            std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
        };
        damaged(cut, 9, &["because", "hint: "]);
    }
}

#[test]
fn a_newer_database_is_refused() {
    let newer = |path: &std::path::Path| {
        let database = rusqlite::Connection::open(path).unwrap();
        database.execute_batch("PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    };
    damaged(newer, 9, &["999", "newer"]);
}

#[test]
fn one_damaged_row_does_not_hide_the_others() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Whole"]).code, 0);
    assert_eq!(env.run(&["run", "Broken"]).code, 0);
    env.deserted();
    let database = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    database.execute("UPDATE tasks SET head = 'half' WHERE name = 'broken'", []).unwrap();
    drop(database);
    let list = env.run(&["list"]);
    assert_eq!(list.code, 9, "{}", list.stderr);
    assert!(list.stdout.contains("whole") && list.stderr.contains("damaged"), "{}\n{}", list.stdout, list.stderr);
    let listed: serde_json::Value = serde_json::from_str(&env.run(&["list", "--json"]).stdout).unwrap();
    assert_eq!(listed["data"]["tasks"].as_array().unwrap().len(), 1, "{listed}");
    assert!(listed["data"]["damaged"][0]["what"].as_str().unwrap().contains("head"), "{listed}");
    assert_eq!(env.run(&["show", "whole"]).code, 0);
    let broken = env.run(&["show", "broken"]);
    assert_eq!(broken.code, 9, "damage is not absence: {}", broken.stderr);
    let fine = env.run(&["run", "Another"]);
    assert_eq!(fine.code, 0, "the rest goes on: {}", fine.stderr);
}
