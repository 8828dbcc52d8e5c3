//! Many worktrees of one repository at once, while somebody else writes references too: nothing is lost.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use longhaul_git::{Committed, Git};
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, programs, write};

const MANY: usize = 30;
const COMMITS: usize = 3;

#[test]
fn thirty_worktrees_with_commits_lose_nothing() {
    let scene = Scene::committed(programs().last().unwrap());
    let head = scene.head();
    let is_done = AtomicBool::new(false);
    let branches: Vec<(String, Vec<String>)> = thread::scope(|scope| {
        let disturber = scope.spawn(|| disturb(&scene, &is_done));
        let work = |number: usize| {
            let (scene, head) = (&scene, &head);
            move || {
                // A wrapper of its own: as another process would have.
                let git = Git::with_program(&scene.program, &scene.root.path().join("state")).unwrap();
                let repository = git.find(&scene.project()).unwrap().unwrap();
                let place = scene.place(&format!("w{number}"));
                let worktree = repository.create_worktree(&place, BRANCH, head, &Environment::of_process()).unwrap();
                let commits = (0..COMMITS).map(|round| {
                    write(worktree.path(), format!("file-{number}-{round}"), "x");
                    match worktree.commit_all("work").unwrap() {
                        Committed::All { commit: Some(commit), .. } => commit.to_string(),
                        other => panic!("{other:?}"),
                    }
                });
                (worktree.branch().to_owned(), commits.collect())
            }
        };
        let workers: Vec<_> = (0..MANY).map(|number| scope.spawn(work(number))).collect();
        let answers: Vec<_> = workers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_done.store(true, Ordering::Relaxed);
        assert!(disturber.join().unwrap() > 0);
        answers.into_iter().map(Result::unwrap).collect()
    });
    let names: BTreeSet<_> = branches.iter().map(|(branch, _)| branch).collect();
    assert_eq!(names.len(), MANY);
    for (branch, commits) in &branches {
        let log = scene.plain(&["rev-list", &format!("main..{branch}")]);
        let mut found: Vec<_> = log.lines().collect();
        found.reverse();
        assert_eq!(found, *commits, "{branch}");
    }
    scene.plain(&["fsck", "--strict"]);
}

/// Somebody who packs and writes references all the time.
fn disturb(scene: &Scene, is_done: &AtomicBool) -> usize {
    let mut rounds = 0;
    while !is_done.load(Ordering::Relaxed) {
        scene.try_plain(&scene.project(), &["branch", "-f", "disturbing"]);
        scene.try_plain(&scene.project(), &["pack-refs", "--all"]);
        rounds += 1;
    }
    rounds
}
