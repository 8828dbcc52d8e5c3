//! The page for people who come from the old runner or from tmux: every `sh` block of it is run, in order, in one scratch world with the
//! stand-in for codex. A block that fails fails the test.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::env::{Done, TestEnv, done};
use crate::runner::Runner;

const PAGE: &str = include_str!("../../../../docs/guide/coming-from.md");

/// Every block of a page that is for the shell.
fn blocks(page: &str) -> Vec<&str> {
    page.split("```sh\n").skip(1).map(|rest| rest.split_once("```").expect("a block has an end").0).collect()
}

/// A world with a codex, a person's own directory, and `longhaul` on PATH.
struct World {
    runner: Runner,
    path: String,
    person: PathBuf,
}

impl World {
    fn new() -> World {
        let runner = Runner::new();
        let env = &runner.env;
        let (programs, person) = (env.path().join("ours"), env.path().join("person"));
        std::fs::create_dir(&programs).unwrap();
        std::fs::create_dir(&person).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_longhaul"), programs.join("longhaul")).unwrap();
        let path =
            format!("{}:{}:{}", programs.display(), env.path().join("bin").display(), std::env::var("PATH").unwrap());
        World { runner, path, person }
    }

    /// What a shell makes of a block. Every command of it must succeed.
    fn run(&self, block: &str) -> Done {
        let as_longhaul = self.env().command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", block]).current_dir(self.env().workspace()).stdin(Stdio::null());
        for (name, value) in as_longhaul.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        // The demo agent hangs in its first session, so that there is something to watch, pause and resume.
        shell.env("LONGHAUL_AGENT", "demo").env("DEMO_FAULT", "hang@1");
        shell.env("HOME", &self.person).env("PATH", &self.path).env_remove("CODEX_HOME");
        done(&shell.output().unwrap())
    }

    fn env(&self) -> &TestEnv {
        &self.runner.env
    }
}

#[test]
fn every_block_of_the_page_works_as_it_stands() {
    let world = World::new();
    let blocks = blocks(PAGE);
    assert!(blocks.len() > 12, "{blocks:?}");
    for block in &blocks {
        if block.contains("pause fix-tests") {
            world.env().live("fix-tests", 1);
        }
        let done = world.run(block);
        assert_eq!(done.code, 0, "{block}\n{}\n{}", done.stdout, done.stderr);
    }
    for (task, boxes) in [("build-a-rest-api-for-a-todo-ap", 3), ("parser", 3), ("fixtures", 3)] {
        let list = world.runner.file(task, "task_list.md");
        assert_eq!(list.matches("- [x] Task").count(), boxes, "{task}: {list}");
    }
    let word = |word: &str| world.runner.argvs().iter().any(|argv| argv.iter().any(|have| have == word));
    assert!(word("resume"), "--resume-last went on in a conversation");
    assert!(std::fs::read_to_string(world.env().workspace().join("fix-tests.done")).unwrap().contains("done"));
}

#[test]
fn every_command_of_the_old_documentation_is_on_the_page() {
    let old = ["run-session.sh \"", "--task-name parser --continue", " --continue\n", "--list", "--resume-last"];
    let rest = ["--network", "--max-sessions 1", "--no-auto-continue", " -h\n"];
    let all = blocks(PAGE).concat();
    for command in old.iter().chain(&rest) {
        assert!(all.contains(command), "{command}");
    }
}

#[test]
fn the_control_a_block_that_fails_is_found() {
    let world = World::new();
    let page = "```sh\nfalse\ntrue\n```\n\n```text\nexit 3\n```\n\n```sh\nlonghaul show nobody\n```\n";
    let codes: Vec<i32> = blocks(page).iter().map(|block| world.run(block).code).collect();
    assert_eq!(codes, [1, 7]);
}
