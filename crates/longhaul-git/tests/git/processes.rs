//! How many git processes the work around one session takes. Each one is milliseconds, and there are many sessions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use longhaul_git::{Committed, Worktree};
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, programs, write};

/// A git that notes each call, in front of a real one.
struct Counted {
    directory: tempfile::TempDir,
}

impl Counted {
    fn new() -> Counted {
        let counted = Counted { directory: tempfile::tempdir().unwrap() };
        let (calls, real) = (counted.calls(), programs().pop().unwrap());
        let script = format!("#!/bin/sh\necho \"$@\" >>'{}'\nexec '{}' \"$@\"\n", calls.display(), real.display());
        fs::write(counted.program(), script).unwrap();
        fs::set_permissions(counted.program(), fs::Permissions::from_mode(0o755)).unwrap();
        counted
    }

    fn program(&self) -> PathBuf {
        self.directory.path().join("git")
    }

    fn calls(&self) -> PathBuf {
        self.directory.path().join("calls")
    }

    /// The calls that some work took.
    fn during(&self, work: impl FnOnce()) -> Vec<String> {
        fs::write(self.calls(), "").unwrap();
        work();
        fs::read_to_string(self.calls()).unwrap().lines().map(str::to_owned).collect()
    }
}

#[test]
fn the_work_around_a_session_takes_few_processes() {
    let counted = Counted::new();
    let scene = Scene::committed(&counted.program());
    let worktree = scene
        .repository()
        .create_worktree(&scene.place("w"), BRANCH, &scene.head(), &Environment::of_process())
        .unwrap();
    let record = worktree.record().unwrap();
    let task = "0190c5a4-7d4e-7c3a-8f00-000000000001".parse().unwrap();
    worktree.clone().with_rules_of(task).unwrap();
    let open = || Worktree::open(&scene.git, &record).unwrap().with_rules_of(task).unwrap();
    let commit = |worktree: &Worktree| assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { .. }));

    let before = counted.during(|| {
        let worktree = open();
        assert_eq!(worktree.switched().unwrap(), None);
        worktree.repository().survey().unwrap();
    });
    let after = counted.during(|| commit(&open()));
    write(worktree.path(), "new.txt", "work\n");
    let with_work = counted.during(|| commit(&open()));

    for (calls, most) in [(&before, 4), (&after, 4), (&with_work, 10)] {
        assert!((1..=most).contains(&calls.len()), "at most {most}: {calls:#?}");
    }
}
