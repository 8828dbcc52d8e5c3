//! Task directories that cannot be worked on: told before the program is looked for, and left as they are.

use super::Runner;

#[test]
fn unknown_tasks_are_told_and_leave_nothing_behind() {
    let runner = Runner::new();
    runner.refused(&["--task-name", "nobody", "--continue"], "is missing");
    runner.refused(&["--continue"], "no task to continue");
    runner.refused(&["--resume-last"], "no task to continue");
    assert!(!runner.env.workspace().join(".autonomous").exists());
}

#[test]
fn a_directory_is_judged_before_the_program_is_looked_for() {
    let runner = Runner::new();
    runner.legacy("t", 0, 2);
    std::fs::remove_file(runner.dir("t").join("progress.md")).unwrap();
    let bare = |args: &[&str]| crate::env::done(&runner.command(args).env("PATH", "/usr/bin:/bin").output().unwrap());
    let done = bare(&["-n", "t", "-c"]);
    assert!(done.code == 1 && done.stderr.contains("progress.md is missing"), "{}", done.stderr);
    runner.write("t", "progress.md", "");
    let done = bare(&["-n", "t", "-c"]);
    assert!(done.code == 1 && done.stderr.contains("`codex` is not on PATH"), "{}", done.stderr);
}

#[test]
fn an_invalid_list_is_named_with_its_line_and_left_alone() {
    let runner = Runner::new();
    for list in [
        "## Tasks\n\n- [?] Task 1: a\n",
        "## Tasks\n\n- [ ] Task 2: b\n- [ ] Task 1: a\n",
        "## Tasks\n\nnothing\n",
        "## Tasks\n\n- [ ] no number\n",
    ] {
        runner.write("t", "task_list.md", list);
        runner.write("t", "progress.md", "");
        runner.refused(&["-n", "t", "-c"], "invalid task_list.md");
        assert_eq!(runner.file("t", "task_list.md"), list);
    }
    assert!(runner.argvs().is_empty());
}

#[test]
fn an_agent_that_spoils_the_list_ends_the_run() {
    let runner = Runner::new().does(
        "start; echo '## Tasks' > \"$dir/task_list.md\"; echo '- [y] Task 1: a' >> \"$dir/task_list.md\"; finish",
    );
    runner.legacy("t", 0, 2);
    runner.refused(&["-n", "t", "-c"], "invalid task_list.md");
    assert_eq!(runner.file("t", "task_list.md"), "## Tasks\n- [y] Task 1: a\n", "untouched");
    assert_eq!(runner.argvs().len(), 1);
}

#[test]
fn an_initializer_without_files_fails_and_can_be_tried_again() {
    let runner = Runner::new().does("start; finish");
    runner.refused(&["-n", "t", "Do it"], "Initializer did not create required files");
    let again = Runner { env: runner.env }.does("work");
    let out = again.ok(&["-n", "t", "--continue", "--max-sessions", "1"]);
    assert!(out.contains("INITIALIZER SESSION") && out.contains("Initializer session complete"), "{out}");
}

#[test]
fn a_removed_directory_frees_the_name() {
    let runner = Runner::new();
    runner.ok(&["-n", "t", "Do it", "--max-sessions", "1"]);
    let old = runner.env.json(&["show", "t"])["task"]["id"].as_str().unwrap().to_owned();
    std::fs::remove_dir_all(runner.dir("t")).unwrap();
    let out = runner.ok(&["-n", "t", "Do something else", "--max-sessions", "1"]);
    assert!(out.contains("INITIALIZER SESSION"), "{out}");
    let state = runner.env.task(&old)["state"].clone();
    assert_eq!((&state["state"], &state["reason"]), (&"cancelled".into(), &"directory removed".into()));
    assert_eq!(runner.env.task("t")["submission"]["goal"], "Do something else");
}

#[test]
fn a_supervised_task_of_the_name_is_not_the_runners() {
    let runner = Runner::new();
    assert_eq!(runner.env.run(&["run", "Do it", "--name", "t", "--once", "--agent", "demo"]).code, 5);
    runner.refused(&["-n", "t", "-c"], "supervised by Longhaul");
    assert!(runner.argvs().is_empty());
}

#[test]
fn until_there_is_a_list_a_task_is_what_its_description_says() {
    let runner = Runner::new().does("start; exit 3");
    assert_eq!(runner.run(&["-n", "t", "Do the first thing"]).code, 3);
    assert!(runner.ok(&["--list"]).contains("? t (no task_list.md) [failed]"));
    let mut runner = runner;
    runner.env.unset("CODEX_DOES");
    runner.ok(&["-n", "t", "Do the other thing", "--max-sessions", "1"]);
    assert_eq!(runner.env.task("t")["submission"]["goal"], "Do the other thing");
    runner.ok(&["-n", "t", "Do something else", "--max-sessions", "1"]);
    assert_eq!(runner.env.task("t")["submission"]["goal"], "Do the other thing", "what is planned stays");
}
