//! A workspace that is gone, not ours or changed under our feet: a named state, nothing lost, nothing written through links.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::env::TestEnv;
use crate::sight::{dead_pid, kill_9, listing};

#[test]
fn a_workspace_that_cannot_be_written_blocks_the_task() {
    let env = TestEnv::new();
    let run = env.run(&["run", "Write there", "--workspace", "/proc"]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("blocked: task directory"), "{}", run.stderr);
    assert!(run.stderr.contains("fix it, then run `longhaul resume write-there`"), "{}", run.stderr);
    assert!(env.ledger_lines().is_empty(), "no agent was started");
    env.ok(&["resume", "write-there"]);
    assert_eq!(env.settle("write-there"), "blocked", "nothing was mended");
    env.ok(&["cancel", "write-there"]);
    env.deserted();
}

#[test]
fn a_workspace_deleted_during_the_run_blocks_until_it_is_back() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let (project, away) = (env.path().join("project"), env.path().join("away"));
    std::fs::create_dir(&project).unwrap();
    let name = env.submit("Stay", &["--workspace", project.to_str().unwrap(), "--backoff", "30ms"]);
    let live = env.live(&name, 2);
    std::fs::rename(&project, &away).unwrap();
    kill_9(live.agent);
    assert_eq!(env.settle(&name), "blocked");
    assert!(!project.exists(), "nothing is made over it");
    assert!(env.ok(&["why", &name]).contains("workspace"));
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "blocked");
    assert!(!project.exists());
    std::fs::rename(&away, &project).unwrap();
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
}

#[test]
fn nothing_is_written_through_a_linked_state_directory() {
    let env = TestEnv::new();
    let outside = env.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    symlink(&outside, env.workspace().join(".autonomous")).unwrap();
    let run = env.run(&["run", "Follow the link"]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("blocked: task directory"), "{}", run.stderr);
    assert!(listing(&outside).is_empty());
    std::fs::remove_file(env.workspace().join(".autonomous")).unwrap();
    env.ok(&["resume", "follow-the-link"]);
    assert_eq!(env.settle("follow-the-link"), "done");
}

#[test]
fn nothing_is_written_through_a_task_directory_that_became_a_link() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Swap me", &["--backoff", "30ms"]);
    let live = env.live(&name, 2);
    let outside = env.path().join("outside");
    std::fs::rename(env.task_dir(&name), &outside).unwrap();
    symlink(&outside, env.task_dir(&name)).unwrap();
    let before = listing(&outside);
    kill_9(live.agent);
    assert_eq!(env.settle(&name), "blocked");
    assert_eq!(listing(&outside), before);
    std::fs::remove_file(env.task_dir(&name)).unwrap();
    std::fs::rename(&outside, env.task_dir(&name)).unwrap();
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
}

/// A task whose third session hangs with one box ticked: its list is changed, then the session ends and the task goes on.
struct Changed {
    env: TestEnv,
    name: String,
    list: PathBuf,
}

impl Changed {
    fn during_a_session(change: impl FnOnce(&Path, &str)) -> Changed {
        let changed = Changed::hanging();
        let text = std::fs::read_to_string(&changed.list).unwrap();
        change(&changed.list, &text);
        changed.env.ok(&["pause", &changed.name]);
        changed.go_on();
        changed
    }

    fn while_paused(change: impl FnOnce(&Path, &str)) -> Changed {
        let changed = Changed::hanging();
        changed.env.ok(&["pause", &changed.name]);
        let text = std::fs::read_to_string(&changed.list).unwrap();
        change(&changed.list, &text);
        changed.go_on();
        changed
    }

    fn hanging() -> Changed {
        let env = TestEnv::new().var("DEMO_FAULT", "hang@3").var("DEMO_STEPS_PER_SESSION", "1").var("DEMO_STEPS", "2");
        let name = env.submit("Keep the list", &[]);
        env.live(&name, 3);
        let list = env.task_dir(&name).join("task_list.md");
        assert!(std::fs::read_to_string(&list).unwrap().contains("- [x] Task 1"));
        Changed { env, name, list }
    }

    fn go_on(&self) {
        self.env.ok(&["resume", &self.name]);
        assert_eq!(self.env.settle(&self.name), "done");
        assert!(self.list.symlink_metadata().unwrap().is_file());
        let text = std::fs::read_to_string(&self.list).unwrap();
        assert!(text.contains("- [x] Task 1") && text.contains("- [x] Task 2"), "{text}");
    }

    fn rejected(&self) -> Option<String> {
        std::fs::read_to_string(self.list.with_file_name("task_list.rejected-1.md")).ok()
    }

    fn refusals(&self) -> usize {
        self.env.kinds(&self.name).iter().filter(|kind| *kind == "plan_refused").count()
    }
}

#[test]
fn an_emptied_list_is_put_back() {
    let changed = Changed::during_a_session(|list, _| std::fs::write(list, "").unwrap());
    assert_eq!((changed.rejected().as_deref(), changed.refusals()), (Some(""), 1));
}

#[test]
fn a_list_of_garbage_is_put_back_and_kept() {
    let garbage = "- [x] Task 2: first\n- [x] Task 1: second\n";
    let changed = Changed::while_paused(|list, _| std::fs::write(list, garbage).unwrap());
    assert_eq!((changed.rejected().as_deref(), changed.refusals()), (Some(garbage), 1));
    assert!(changed.env.ok(&["events", &changed.name]).contains("restoring the last good one"));
}

#[test]
fn a_removed_list_is_put_back() {
    let changed = Changed::while_paused(|list, _| std::fs::remove_file(list).unwrap());
    assert_eq!((changed.rejected(), changed.refusals()), (None, 1));
}

#[test]
fn a_list_that_became_a_link_is_replaced_and_its_target_left_alone() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target.md");
    let changed = Changed::during_a_session(|list, text| {
        std::fs::write(&target, text.replace("[x]", "[ ]")).unwrap();
        std::fs::remove_file(list).unwrap();
        symlink(&target, list).unwrap();
    });
    assert_eq!(changed.refusals(), 1);
    assert!(std::fs::read_to_string(&target).unwrap().contains("- [ ] Task 1"));
}

#[test]
fn a_list_that_became_a_pipe_hangs_nobody() {
    let changed = Changed::while_paused(|list, _| {
        std::fs::remove_file(list).unwrap();
        nix::unistd::mkfifo(list, nix::sys::stat::Mode::S_IRWXU).unwrap();
    });
    assert_eq!(changed.refusals(), 1);
}

#[test]
fn a_list_of_five_megabytes_is_put_back_and_kept() {
    let mut theirs = String::new();
    let changed = Changed::while_paused(|list, text| {
        theirs = text.to_owned() + &"- [x] Task 9: more\n".repeat(270_000);
        std::fs::write(list, &theirs).unwrap();
    });
    assert_eq!(changed.refusals(), 1);
    assert!(changed.rejected() == Some(theirs), "byte for byte");
}

#[test]
fn a_list_that_is_no_text_is_put_back_and_kept() {
    let theirs = b"- [x] Task 1: na\xefve\n";
    let changed = Changed::during_a_session(|list, _| std::fs::write(list, theirs).unwrap());
    assert_eq!(changed.refusals(), 1);
    assert_eq!(std::fs::read(changed.list.with_file_name("task_list.rejected-1.md")).unwrap(), theirs);
}

#[test]
fn a_person_may_add_a_step() {
    let changed = Changed::while_paused(|list, text| {
        std::fs::write(list, format!("{}\n- [ ] Task 3: one more\n", text.trim_end())).unwrap();
    });
    assert_eq!((changed.rejected(), changed.refusals()), (None, 0));
    assert_eq!(changed.env.json(&["list"])["tasks"][0]["progress"]["done"], 3);
}

#[test]
fn an_unticked_and_a_removed_step_are_put_back() {
    for change in [(|text: &str| text.replace("- [x] Task 1", "- [ ] Task 1")) as fn(&str) -> String, |text| {
        text.lines().filter(|line| !line.contains("Task 2:")).map(|line| format!("{line}\n")).collect()
    }] {
        let mut theirs = String::new();
        let changed = Changed::while_paused(|list, text| {
            theirs = change(text);
            std::fs::write(list, &theirs).unwrap();
        });
        assert_eq!((changed.rejected(), changed.refusals()), (Some(theirs), 1));
    }
}

#[test]
fn the_lock_of_another_runner_counts_while_its_process_lives() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@1");
    let name = env.submit("Share nicely", &[]);
    env.live(&name, 1);
    env.ok(&["pause", &name]);
    let lock = env.task_dir(&name).join(".runner.lock");
    std::fs::create_dir(&lock).unwrap();
    std::fs::write(lock.join("pid"), format!("{}\n", std::process::id())).unwrap();
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "blocked");
    assert!(env.ok(&["show", &name]).contains(&format!("another runner (pid {})", std::process::id())));
    std::fs::write(lock.join("pid"), format!("{}\n", dead_pid())).unwrap();
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
    assert!(lock.join("pid").exists(), "what is not ours is not deleted");
}
