//! A whole task: planned, worked on session after session, in the runner's words and with the runner's arguments.

use super::Runner;

#[test]
fn a_task_is_planned_and_finished_in_place() {
    let runner = Runner::new();
    let out = runner.ok(&["Build a REST API for todo app"]);
    let name = "build-a-rest-api-for-todo-app";
    for needle in [
        "Generated task name: build-a-rest-api-for-todo-app\n",
        "==========================================\n  SESSION 1 - build-a-rest-api-for-todo-app\n==",
        "INITIALIZER SESSION",
        "✓ Initializer session complete\n",
        "Session ID saved: 01a1e094-4a55-7e31-a327-",
        "SESSION 4 - ",
        "EXECUTOR SESSION",
        "\nProgress: 2/3\n",
        "=== Progress: 3/3 ===\n",
        "Continuing in 0 seconds... (Press Ctrl+C to pause)\n",
        "✓ Executor session complete\n=== Progress: 3/3 ===\n",
    ] {
        assert!(out.contains(needle), "lacks {needle:?}:\n{out}");
    }
    let at = |needle: &str| out.find(needle).unwrap_or_else(|| panic!("{needle}"));
    let directory = runner.dir(name).display().to_string();
    let last_words = format!(
        "✓ ALL TASKS COMPLETED!\nTask directory: {directory}\nFinal task list:\n{}",
        runner.file(name, "task_list.md")
    );
    assert!(out.ends_with(&last_words), "{out}");
    assert!(at("INITIALIZER SESSION") < at("\"thread.started\""), "the banner comes before the output");
    assert!(at("\"thread.started\"") < at("Session ID saved"), "and what follows from it after");
    assert!(runner.file(name, "session.log").contains("thread.started"));
    assert_eq!(runner.env.state(name), "done");
    let below: Vec<String> = std::fs::read_dir(runner.env.workspace().join(".autonomous"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(below, [name], "nothing but task directories");
}

#[test]
fn codex_gets_the_runners_arguments_and_nothing_to_read() {
    let runner = Runner::new();
    runner.ok(&["--task-name", "t", "Do it", "--max-sessions", "1"]);
    runner.ok(&["-n", "t", "-c", "--network", "--max-sessions", "1"]);
    let argvs = runner.argvs();
    let has = |argv: &[String], words: &[&str]| argv.windows(words.len()).any(|window| window == words);
    assert_eq!(argvs[0][0], "exec");
    assert!(has(&argvs[0], &["-c", "approval_policy=\"never\""]), "{argvs:?}");
    assert!(has(&argvs[0], &["-c", "sandbox_mode=\"workspace-write\""]), "{argvs:?}");
    assert!(has(&argvs[1], &["-c", "sandbox_mode=\"danger-full-access\""]), "{argvs:?}");
    let prompt = argvs[0].iter().position(|line| line.contains("Initializer Agent")).expect("the role");
    let directory = format!("Task Directory: {}", runner.dir("t").canonicalize().unwrap().display());
    assert!(argvs[0][prompt..].contains(&directory), "{argvs:?}");
    assert!(argvs[1].iter().any(|line| line.contains("Executor Agent")), "{argvs:?}");
    for line in argvs.iter().flat_map(|argv| &argv[1..]) {
        assert!(!line.starts_with("exec"), "{line}");
        assert!(!line.contains("Do it"), "the goal is in the prompt's file only");
    }
    assert_eq!(runner.records("stdin"), ["", ""]);
}

#[test]
fn the_prompt_points_at_a_file_with_the_whole_prompt() {
    let runner = Runner::new().does(
        "file=$(printf '%s\\n' \"$prompt\" | sed -n 's/^Your instructions are in the file \\(.*\\): read it.*/\\1/p'); cp \"$file\" \
         \"$CODEX_RECORDS/prompt\"; work",
    );
    runner.ok(&["-n", "t", "Do & | {TASK_DIR} it", "--no-auto-continue"]);
    let prompt = std::fs::read_to_string(runner.env.path().join("records/prompt")).unwrap();
    for needle in ["Initializer Agent", "Do & | {TASK_DIR} it", "task_list.md", "progress.md", "Task Directory: "] {
        assert!(prompt.contains(needle), "lacks {needle}:\n{prompt}");
    }
}

#[test]
fn the_agent_works_where_the_runner_was_started_and_state_lies_at_the_root() {
    let runner = Runner::new();
    let work = runner.env.workspace();
    std::fs::create_dir_all(work.join(".git")).unwrap();
    std::fs::write(work.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let below = work.join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(runner.run_in(&below, &["-n", "t", "Do it", "--max-sessions", "1"]).code, 0);
    assert_eq!(runner.run_in(&work, &["-n", "t", "-c", "--max-sessions", "1"]).code, 0);
    assert!(runner.dir("t").join("task_list.md").is_file());
    let physical = |path: &std::path::Path| path.canonicalize().unwrap().display().to_string();
    assert_eq!(runner.records("cwd"), [physical(&below), physical(&work)]);
    let writable = format!("sandbox_workspace_write.writable_roots=[\"{}\"]", physical(&runner.dir("t")));
    assert!(runner.argvs()[0].contains(&writable), "{:?}", runner.argvs()[0]);
    assert!(!runner.argvs()[1].iter().any(|word| word.contains("writable_roots")), "it starts at the root");
}

#[test]
fn sessions_are_counted_per_invocation() {
    let runner = Runner::new();
    let out = runner.run(&["-n", "t", "Do it", "--max-sessions", "2"]);
    assert_eq!(out.code, 0);
    assert!(out.stderr.contains("Maximum sessions (2) reached"), "{}", out.stderr);
    assert!(out.stdout.contains("=== Progress: 1/3 ==="), "{}", out.stdout);
    assert_eq!(runner.env.state("t"), "paused");
    let again = runner.run(&["--task-name", "t", "--continue", "--no-auto-continue"]);
    assert!(again.stdout.contains("SESSION 1 - t"), "{}", again.stdout);
    assert!(again.stderr.contains("Auto-continue is off"), "{}", again.stderr);
    let rest = runner.ok(&["--continue", "--max-sessions", "0"]);
    assert!(rest.contains("Continuing most recent task: t\n"), "{rest}");
    assert!(rest.contains("✓ ALL TASKS COMPLETED!"), "{rest}");
    assert_eq!(runner.argvs().len(), 4);
}

#[test]
fn options_may_be_repeated_and_the_last_value_counts() {
    let runner = Runner::new();
    runner.legacy("t", 0, 3);
    let twice = ["-c", "-c", "--network", "--network", "--no-auto-continue", "--no-auto-continue", "--resume-last"];
    let values = ["--resume-last", "-n", "other", "--task-name", "t", "--max-sessions", "9", "--max-sessions", "1"];
    let out = runner.run(&[&twice[..], &values].concat());
    assert_eq!(out.code, 0, "{}", out.stderr);
    assert!(out.stdout.contains("SESSION 1 - t"), "{}", out.stdout);
    assert_eq!(out.stderr.matches("without any sandbox").count(), 1, "{}", out.stderr);
    assert!(runner.ok(&["--list", "-l"]).contains("○ t (1/3 - 33%)"));
}

#[test]
fn a_new_task_is_warned_of_once_too() {
    let runner = Runner::new();
    let out = runner.run(&["-n", "t", "Do it", "--network", "--max-sessions", "1"]);
    assert_eq!((out.code, out.stderr.matches("without any sandbox").count()), (0, 1), "{}", out.stderr);
}

#[test]
fn a_session_that_leaves_no_usable_list_is_not_called_complete() {
    let runner = Runner::new().does("start; echo nothing > \"$dir/task_list.md\"; finish");
    runner.legacy("t", 0, 3);
    let out = runner.run(&["-n", "t", "-c"]);
    assert_eq!((out.code, out.stdout.contains("session complete")), (1, false), "{}", out.stdout);
}

#[test]
fn what_is_complete_already_needs_no_agent() {
    let runner = Runner::new();
    runner.legacy("old", 2, 2);
    let mut env = runner.env.command(&["run-session", "-n", "old", "-c"]);
    let done = crate::env::done(&env.env("PATH", "/usr/bin:/bin").output().unwrap());
    assert_eq!(done.code, 0, "not even the program: {}", done.stderr);
    assert!(done.stdout.contains("✓ ALL TASKS COMPLETED!\nTask directory: "), "{}", done.stdout);
    assert!(runner.argvs().is_empty());
}

#[test]
fn tasks_of_the_shell_runner_are_continued_as_they_are() {
    let runner = Runner::new();
    runner.legacy("old_Task.v2", 1, 3);
    runner.write("old_Task.v2", "session.log", "from before\n");
    runner.write("old_Task.v2", "session.id", "0199-old\n");
    let out = runner.ok(&["-n", "old_Task.v2", "-c", "--max-sessions", "1"]);
    assert!(out.contains("Progress: 1/3\n") && out.contains("=== Progress: 2/3 ==="), "{out}");
    let log = runner.file("old_Task.v2", "session.log");
    assert!(log.starts_with("from before\n") && log.contains("thread.started"), "{log}");
    assert_ne!(runner.file("old_Task.v2", "session.id"), "0199-old\n", "replaced by the new session's");
}

#[test]
fn a_list_that_gets_new_steps_after_the_end_is_taken_up_again() {
    let runner = Runner::new();
    runner.ok(&["-n", "t", "Do it"]);
    let list = runner.file("t", "task_list.md") + "- [ ] Task 4: more\n";
    runner.write("t", "task_list.md", &list);
    let out = runner.ok(&["-n", "t", "-c"]);
    assert!(out.contains("Progress: 3/4\n") && out.contains("=== Progress: 4/4 ==="), "{out}");
}
