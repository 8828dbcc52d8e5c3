//! A kill at any point of making a worktree, then the same call again: one worktree, one branch, nothing lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use longhaul_git::{Committed, Git, Removal, Repository, Worktree};
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, programs, with_each_git, write};

/// After a second attempt everything is there exactly once and works.
fn assert_whole(scene: &Scene, worktree: &Worktree) {
    let list = scene.plain(&["worktree", "list", "--porcelain"]);
    assert_eq!(list.matches("worktree ").count(), 2, "{list}");
    assert!(!list.contains("locked") && !list.contains("prunable"), "{list}");
    let branches = scene.plain(&["for-each-ref", "--format=%(refname)", "refs/heads/longhaul"]);
    assert_eq!(branches, "refs/heads/longhaul/task");
    let metadata = fs::read_dir(scene.project().join(".git/worktrees")).unwrap();
    assert_eq!(metadata.count(), 1);
    assert_eq!(scene.status(worktree.path()), "");
    assert_eq!(*worktree.base(), scene.head());
    Worktree::open(&scene.git, &worktree.record().unwrap()).unwrap();
    write(worktree.path(), "work", "x");
    assert!(matches!(worktree.commit_all("work").unwrap(), Committed::All { commit: Some(_), .. }));
    scene.plain(&["fsck", "--strict"]);
}

/// A git that passes everything on until its `number`th call that can change something; that one dies, and everything after it.
fn dying_git(scene: &Scene, number: u32, when: &str) -> PathBuf {
    let directory = scene.root.path().join(format!("dying-{number}-{when}"));
    fs::create_dir(&directory).unwrap();
    let (count, path) = (directory.join("count"), directory.join("git"));
    let (count, real) = (count.display(), scene.program.display());
    let death = match when {
        "before" => String::new(),
        "during" => format!("'{real}' \"$@\" & sleep 0.00{}; kill -9 $!; wait $!", 1 + number % 4),
        _ => format!("'{real}' \"$@\""),
    };
    let script = format!(
        "#!/bin/sh\ncase $1 in worktree|update-ref|symbolic-ref|read-tree|update-index) printf x >> '{count}';; esac\n\
         touch '{count}'; n=$(wc -c < '{count}')\n\
         if [ \"$n\" -eq {number} ]; then printf x >> '{count}'; {death}\n kill -9 $$; fi\n\
         if [ \"$n\" -gt {number} ]; then kill -9 $$; fi\nexec '{real}' \"$@\"\n"
    );
    executable(&path, &script);
    path
}

fn executable(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The repository as seen through a git that is a script.
fn through(scene: &Scene, script: &str) -> Repository {
    let path = scene.root.path().join("scripted-git");
    executable(&path, script);
    let git = Git::with_program(&path, &scene.root.path().join("state")).unwrap();
    git.find(&scene.project()).unwrap().unwrap()
}

/// Dies at every call that can change something, before, in and after it; stops when the attempt lives through.
fn die_everywhere(when: &str) {
    let program = programs().last().unwrap().clone();
    let mut deaths = 0;
    for number in 1..100 {
        let scene = Scene::committed(&program);
        let dying = Git::with_program(&dying_git(&scene, number, when), &scene.root.path().join("state")).unwrap();
        let attempt = dying.find(&scene.project()).ok().flatten().map(|repository| {
            repository.create_worktree(&scene.place("w"), BRANCH, &scene.head(), &Environment::of_process()).is_ok()
        });
        assert_whole(&scene, &scene.worktree("w"));
        if attempt == Some(true) {
            break;
        }
        deaths += 1;
    }
    assert!((6..30).contains(&deaths), "{deaths} deaths");
}

#[test]
fn a_kill_before_any_step_is_repaired() {
    die_everywhere("before");
}

#[test]
fn a_kill_during_any_step_is_repaired() {
    die_everywhere("during");
}

#[test]
fn a_kill_after_any_step_is_repaired() {
    die_everywhere("after");
}

/// The states that git itself leaves when it is killed inside `worktree add`, file by file in the order it writes them.
#[test]
fn a_kill_inside_git_is_repaired() {
    for program in programs() {
        for written in 0..=10 {
            let scene = Scene::committed(&program);
            half_made(&scene, &scene.place("w"), written);
            assert_whole(&scene, &scene.worktree("w"));
        }
    }
}

/// Git reads the data of all worktrees for most of what it does with one, so what it left of one task must not stop another.
#[test]
fn what_a_killed_git_left_of_one_worktree_stops_no_other() {
    for program in programs() {
        for written in 0..=10 {
            let scene = Scene::committed(&program);
            let (repository, kept) = (scene.repository(), scene.worktree("kept"));
            let (head, place) = (scene.head(), |name| scene.place(name));
            let with = |what: &str, act: &dyn Fn()| {
                half_made(&scene, &place("w"), written);
                eprintln!("{what} after {written} steps");
                act();
                fs::remove_dir_all(scene.project().join(".git/worktrees/w")).ok();
                fs::remove_dir_all(place("w")).ok();
            };
            with("create", &|| {
                drop(
                    repository
                        .create_worktree(&place("new"), "longhaul/new", &head, &Environment::of_process())
                        .unwrap(),
                );
            });
            with("make_checkout", &|| drop(repository.make_checkout(&place("checkout"), &head).unwrap()));
            let removed = || assert_eq!(repository.remove_checkout(&place("checkout")).unwrap(), Removal::Removed);
            with("remove_checkout", &removed);
            with("open", &|| drop(Worktree::open(&scene.git, &kept.record().unwrap()).unwrap()));
            with("adopt", &|| drop(Worktree::adopt(&scene.git, kept.path(), Some(&head)).unwrap()));
            with("remove", &|| assert_eq!(kept.remove(None).unwrap(), Removal::Removed));
        }
    }
}

/// A git outlives its killed worker. Nobody may take its worktree for a dead git's, so it has the lock under which that is judged.
#[test]
fn every_git_that_registers_a_worktree_holds_the_lock_of_the_repository() {
    let scene = Scene::committed(programs().last().unwrap());
    let (noted, real) = (scene.root.path().join("noted"), scene.program.display());
    let notes = format!("case \"$1 $2\" in 'worktree add') readlink /proc/self/fd/0 >>'{}';; esac", noted.display());
    let repository = through(&scene, &format!("#!/bin/sh\n{notes}\nexec '{real}' \"$@\"\n"));
    repository.create_worktree(&scene.place("a"), "longhaul/a", &scene.head(), &Environment::of_process()).unwrap();
    repository.create_worktree(&scene.place("b"), "longhaul/b", &scene.head(), &Environment::of_process()).unwrap();
    repository.make_checkout(&scene.place("c"), &scene.head()).unwrap();
    let noted = fs::read_to_string(noted).unwrap();
    let locks: Vec<&str> = noted.lines().collect();
    assert!(locks.len() == 3 && locks[0].ends_with(".lock") && locks.iter().all(|lock| *lock == locks[0]), "{locks:?}");
}

/// A git that writes a checkout outlives its killed worker too. Whoever removes the checkout must wait for it: the two hold one lock.
#[test]
fn every_git_that_writes_or_removes_a_checkout_holds_one_lock() {
    let scene = Scene::committed(programs().last().unwrap());
    let (noted, real) = (scene.root.path().join("noted"), scene.program.display());
    let notes = format!(
        "case \"$1 $2\" in 'read-tree --reset' | 'worktree remove') readlink /proc/self/fd/0 >>'{}';; esac",
        noted.display()
    );
    let repository = through(&scene, &format!("#!/bin/sh\n{notes}\nexec '{real}' \"$@\"\n"));
    let (first, next) = (scene.place("task.1"), scene.place("task.2"));
    repository.make_checkout(&first, &scene.head()).unwrap();
    repository.make_checkout(&next, &scene.head()).unwrap();
    repository.remove_checkout(&first).unwrap();
    let noted = fs::read_to_string(noted).unwrap();
    let locks: Vec<&str> = noted.lines().collect();
    assert!(locks.len() == 3 && locks[0].ends_with(".lock") && locks.iter().all(|lock| *lock == locks[0]), "{locks:?}");
}

/// The agent's git, or ours, was killed while it wrote the branch. Nobody else writes that branch, so its lock stops nothing for good.
#[test]
fn a_lock_that_a_killed_git_left_on_the_tasks_branch_is_removed_and_others_stay() {
    let scene = Scene::committed(programs().last().unwrap());
    let worktree = scene.worktree("w");
    let heads = scene.project().join(".git/refs/heads");
    let [ours, other] = [heads.join(format!("{BRANCH}.lock")), heads.join("main.lock")];
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for lock in [&ours, &other] {
        fs::write(lock, "").unwrap();
        fs::File::options().write(true).open(lock).unwrap().set_modified(long_ago).unwrap();
    }
    fs::write(worktree.path().join("new"), "work\n").unwrap();
    assert!(matches!(worktree.commit_all("work").unwrap(), Committed::All { commit: Some(_), .. }));
    assert!(!ours.exists() && other.exists());
}

/// A person's git may be at work there, and nothing of ours tells whether it lives.
#[test]
fn a_worktree_that_somebody_else_makes_is_not_touched() {
    let scene = Scene::committed(programs().last().unwrap());
    let (kept, head) = (scene.worktree("kept"), scene.head());
    let elsewhere = tempfile::tempdir().unwrap();
    half_made(&scene, &elsewhere.path().canonicalize().unwrap().join("w"), 7);
    Worktree::open(&scene.git, &kept.record().unwrap()).unwrap();
    // The person's git goes on as soon as ours has met the empty file.
    let (empty, real) = (scene.project().join(".git/worktrees/w/commondir"), scene.program.display());
    let completes = format!("[ $code = 0 ] || echo ../.. >'{}'", empty.display());
    let repository = through(&scene, &format!("#!/bin/sh\n'{real}' \"$@\"; code=$?\n{completes}\nexit $code\n"));
    assert_eq!(fs::read_to_string(&empty).unwrap(), "");
    repository.create_worktree(&scene.place("new"), "longhaul/new", &head, &Environment::of_process()).unwrap();
    assert!(scene.plain(&["worktree", "list"]).contains(elsewhere.path().to_str().unwrap()));
}

fn half_made(scene: &Scene, place: &Path, written: usize) {
    let metadata = scene.project().join(".git/worktrees/w");
    fs::create_dir_all(&metadata).unwrap();
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let dot_git = place.join(".git");
    let steps: [(&Path, String); 5] = [
        (&metadata.join("locked"), "initializing\n".to_owned()),
        (&metadata.join("gitdir"), format!("{}\n", dot_git.display())),
        (&dot_git, format!("gitdir: {}\n", metadata.display())),
        (&metadata.join("commondir"), "../..\n".to_owned()),
        (&metadata.join("HEAD"), format!("{}\n", scene.head())),
    ];
    // Every file is there empty before it is written.
    let half_steps = steps.iter().flat_map(|(path, text)| [(path, ""), (path, text.as_str())]);
    for (path, text) in half_steps.take(written) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn a_half_written_checkout_is_completed() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.write("b.txt", "two\n");
        scene.commit("first");
        let worktree = scene.worktree("w");
        fs::remove_file(worktree.repository().git_dir().join("index")).unwrap();
        fs::remove_file(worktree.path().join("a.txt")).unwrap();
        fs::write(worktree.path().join("b.txt"), "tw").unwrap();
        assert_whole(scene, &scene.worktree("w"));
    });
}

#[test]
fn a_claimed_branch_that_was_not_made_yet_is_made() {
    let scene = Scene::committed(programs().last().unwrap());
    let worktree = scene.worktree("w");
    scene.plain(&["update-ref", "-d", "refs/heads/longhaul/task"]);
    fs::remove_file(worktree.repository().git_dir().join("index")).unwrap();
    let newer = scene.commit("newer");
    let again = scene.worktree("w");
    assert_eq!(*again.base(), newer);
    assert_whole(&scene, &again);
}

#[test]
fn locks_of_a_killed_git_do_not_stop_the_next_attempt() {
    let scene = Scene::committed(programs().last().unwrap());
    let worktree = scene.worktree("w");
    let git_dir = &worktree.repository().git_dir();
    scene.plain(&["update-ref", "-d", "refs/heads/longhaul/task"]);
    fs::remove_file(git_dir.join("index")).unwrap();
    fs::create_dir_all(scene.project().join(".git/refs/heads/longhaul")).unwrap();
    for lock in [
        git_dir.join("HEAD.lock"),
        git_dir.join("index.lock"),
        scene.project().join(".git/refs/heads/longhaul/task.lock"),
    ] {
        fs::write(lock, "").unwrap();
    }
    assert_whole(&scene, &scene.worktree("w"));
}

#[test]
fn an_older_base_of_an_earlier_attempt_is_the_base() {
    let scene = Scene::committed(programs().last().unwrap());
    let first = scene.worktree("w");
    scene.commit("newer");
    assert_eq!(scene.worktree("w").record().unwrap(), first.record().unwrap());
}

#[test]
fn pruned_git_data_is_rebuilt_around_the_files_and_the_branch_reused() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        let worktree = scene.worktree("w");
        write(worktree.path(), "committed", "x\n");
        worktree.commit_all("work").unwrap();
        write(worktree.path(), "a.txt", "not committed\n");
        let (tip, away) = (worktree.repository().head_commit().unwrap(), scene.place("away"));
        fs::rename(worktree.path(), &away).unwrap();
        scene.plain(&["worktree", "prune", "--expire=now"]);
        fs::rename(&away, worktree.path()).unwrap();
        let again = scene.worktree("w");
        assert_eq!(again.branch(), BRANCH);
        assert_eq!(*again.base(), scene.head());
        assert_eq!(again.repository().head_commit().unwrap(), tip);
        assert_eq!(scene.status(again.path()), " M a.txt");
        assert_eq!(scene.plain(&["worktree", "list"]).lines().count(), 2);
        assert_eq!(fs::read_dir(scene.place("")).unwrap().count(), 1, "nothing is left beside it");
        Worktree::open(&scene.git, &again.record().unwrap()).unwrap();
    });
}

#[test]
fn a_deleted_directory_is_made_again_on_its_branch() {
    let scene = Scene::committed(programs().last().unwrap());
    scene.plain(&["branch", "longhaul/task"]);
    let worktree = scene.worktree("w");
    assert_eq!(worktree.branch(), "longhaul/task-2");
    fs::rename(worktree.path(), scene.root.path().join("away")).unwrap();
    let again = scene.worktree("w");
    assert_eq!(again.record().unwrap(), worktree.record().unwrap());
    assert_eq!(scene.status(again.path()), "");
}
