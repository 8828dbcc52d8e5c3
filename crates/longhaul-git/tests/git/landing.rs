//! Commits that go on a branch of the user's, with and without a checkout of it: what is refused, and what a kill leaves.

use std::fs;
use std::path::Path;

use longhaul_core::task::Author;
use longhaul_git::{CommitId, Moved, Repository, Step};
use longhaul_keeper::Environment;

use super::scene::{Scene, new_commit, with_each_git, write};

const TASK: &str = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";

/// A repository on `main`, and a commit on top of it that changes `a.txt`, removes `dir/b.txt` and adds `new/c.txt`.
struct Prepared {
    from: CommitId,
    to: CommitId,
    author: Author,
}

impl Prepared {
    fn new(scene: &Scene) -> Prepared {
        let from = scene.head();
        let worktree = scene.worktree("task");
        write(worktree.path(), "a.txt", "changed\n");
        write(worktree.path(), "new/c.txt", "new\n");
        fs::remove_file(worktree.path().join("dir/b.txt")).unwrap();
        worktree.commit_all("work").unwrap();
        let author = Author { name: "Ann".into(), email: "ann@example.org".into() };
        let (_, tree) = worktree.repository().branch_tip_and_tree(worktree.branch()).unwrap().unwrap();
        let parents = [&from];
        let new = new_commit(&author, &tree, &parents, "subject\n\nbody\n");
        let to = scene.repository().commit_by(&new, &Environment::of_process()).unwrap();
        Prepared { from, to, author }
    }

    fn land(&self, repository: &Repository) -> Moved {
        self.try_land(repository).unwrap()
    }

    fn try_land(&self, repository: &Repository) -> Result<Moved, longhaul_git::GitError> {
        let (task, branch) = (TASK.parse().unwrap(), "main");
        let step = Step { task, branch, from: &self.from, to: &self.to, author: &self.author };
        repository.land(&step, &Environment::of_process())
    }
}

fn refused(moved: Moved) -> String {
    match moved {
        Moved::Refused { why } => why,
        other => panic!("{other:?}"),
    }
}

fn is_landed(scene: &Scene, prepared: &Prepared) {
    assert_eq!(scene.head(), prepared.to);
    assert_eq!(fs::read_to_string(scene.project().join("a.txt")).unwrap(), "changed\n");
    assert!(scene.project().join("new/c.txt").exists() && !scene.project().join("dir").exists());
    assert!(!scene.project().join(".git/index.lock").exists());
}

fn is_untouched(scene: &Scene, prepared: &Prepared) {
    assert_eq!(scene.head(), prepared.from);
    assert!(scene.project().join("dir/b.txt").exists());
    assert!(!scene.project().join(".git/index.lock").exists());
}

#[test]
fn a_branch_that_is_not_checked_out_moves_alone() {
    with_each_git(|scene| {
        let scene = Scene::committed(&scene.program);
        let prepared = Prepared::new(&scene);
        scene.plain(&["switch", "-q", "-c", "other"]);
        assert_eq!(prepared.land(&scene.repository()), Moved::Done { checkout: None });
        assert_eq!(scene.plain(&["rev-parse", "main"]), prepared.to.as_str());
        assert_eq!(scene.status(&scene.project()), "");
        let shown = scene.plain(&["log", "-1", "--format=%an <%ae> %cn %P %s|%b", "main"]);
        assert_eq!(shown, format!("Ann <ann@example.org> Ann {} subject|body", prepared.from));
        assert_eq!(prepared.land(&scene.repository()), Moved::Done { checkout: None }, "again");
        scene.plain(&["update-ref", "refs/heads/main", prepared.from.as_str()]);
        scene.plain(&["switch", "-q", "main"]);
        scene.commit("meanwhile");
        scene.plain(&["switch", "-q", "other"]);
        assert_eq!(prepared.land(&scene.repository()), Moved::Elsewhere);
    });
}

#[test]
fn a_checkout_follows_and_other_work_in_it_stays() {
    with_each_git(|scene| {
        let scene = Scene::committed(&scene.program);
        scene.write("mine.txt", "mine\n");
        scene.write("staged.txt", "old\n");
        scene.commit("more");
        let prepared = Prepared::new(&scene);
        scene.write("mine.txt", "changed by me\n");
        scene.write("staged.txt", "staged by me\n");
        scene.plain(&["add", "staged.txt"]);
        scene.write("untracked.txt", "x");
        let expected = Moved::Done { checkout: Some(scene.project()) };
        assert_eq!(prepared.land(&scene.repository()), expected);
        is_landed(&scene, &prepared);
        assert_eq!(scene.status(&scene.project()), " M mine.txt\nM  staged.txt\n?? untracked.txt");
        assert!(scene.plain(&["reflog", "-1", "--format=%gn %gs", "HEAD"]).starts_with("Ann"));
        assert_eq!(prepared.land(&scene.repository()), expected, "again");
    });
}

/// Each is refused with its reason, and nothing changes.
#[test]
fn what_is_in_the_way_is_named_and_stays() {
    type Obstacle = fn(&Scene);
    let obstacles: &[(&str, Obstacle)] = &[
        ("uncommitted changes", |scene| scene.write("a.txt", "by me\n")),
        ("uncommitted changes", |scene| {
            scene.write("a.txt", "by me\n");
            scene.plain(&["add", "a.txt"]);
        }),
        ("uncommitted changes", |scene| {
            scene.write("a.txt", "by me\n");
            scene.plain(&["update-index", "--assume-unchanged", "a.txt"]);
        }),
        ("untracked or ignored", |scene| scene.write("new/c.txt", "by me\n")),
        ("untracked or ignored", |scene| scene.write("new", "a file\n")),
        ("untracked or ignored", |scene| {
            scene.write(".git/info/exclude", "c.txt\n");
            scene.write("new/c.txt", "ignored\n");
        }),
        ("git filter", |scene| {
            scene.write(".gitattributes", "*.txt filter=x\n");
        }),
        ("a merge is in progress", |scene| scene.write(".git/MERGE_HEAD", scene.head().as_str())),
        ("a bisection is in progress", |scene| scene.write(".git/BISECT_LOG", "")),
        ("sparse", |scene| drop(scene.plain(&["config", "core.sparseCheckout", "true"]))),
    ];
    for (reason, obstacle) in obstacles {
        let scene = Scene::committed(&super::scene::programs()[0]);
        let prepared = Prepared::new(&scene);
        obstacle(&scene);
        let before = (scene.index_bytes(), scene.status(&scene.project()), scene.references());
        let why = refused(prepared.land(&scene.repository()));
        assert!(why.contains(reason), "{why}");
        assert_eq!((scene.index_bytes(), scene.status(&scene.project()), scene.references()), before, "{reason}");
        is_untouched(&scene, &prepared);
    }
}

#[test]
fn a_branch_in_the_middle_of_a_rebase_is_left_alone() {
    let scene = Scene::committed(&super::scene::programs()[0]);
    let prepared = Prepared::new(&scene);
    scene.plain(&["switch", "-q", "--detach"]);
    write(&scene.project(), ".git/rebase-merge/head-name", "refs/heads/main\n");
    let why = refused(prepared.land(&scene.repository()));
    assert!(why.contains("a rebase is in progress"), "{why}");
    assert_eq!(scene.plain(&["rev-parse", "main"]), prepared.from.as_str());
}

/// What a kill between two steps leaves, made by hand.
#[test]
fn an_interrupted_update_is_finished_whatever_was_written() {
    type Half = fn(&Scene, &Prepared);
    let mark =
        |scene: &Scene| fs::write(scene.project().join(".git/index.lock"), format!("longhaul {TASK}\n")).unwrap();
    let halves: &[Half] = &[
        |_, _| {},
        |scene, _| scene.write("a.txt", "changed\n"),
        |scene, _| scene.write("a.txt", "chan"),
        |scene, _| fs::remove_file(scene.project().join("a.txt")).unwrap(),
        |scene, _| fs::remove_file(scene.project().join("dir/b.txt")).unwrap(),
        |scene, _| scene.write("new/c.txt", ""),
        |scene, prepared| drop(scene.plain(&["read-tree", "-m", "-u", prepared.from.as_str(), prepared.to.as_str()])),
        |scene, prepared| drop(scene.plain(&["reset", "-q", "--hard", prepared.to.as_str()])),
    ];
    for (number, half) in halves.iter().enumerate() {
        let scene = Scene::committed(&super::scene::programs()[0]);
        let prepared = Prepared::new(&scene);
        half(&scene, &prepared);
        mark(&scene);
        let expected = Moved::Done { checkout: Some(scene.project()) };
        assert_eq!(prepared.land(&scene.repository()), expected, "{number}");
        is_landed(&scene, &prepared);
        assert_eq!(scene.status(&scene.project()), "", "{number}");
    }
}

/// A file that is neither the old nor the new one is the user's, even after a kill.
#[test]
fn after_a_kill_the_users_own_change_is_not_lost() {
    let scene = Scene::committed(&super::scene::programs()[0]);
    let prepared = Prepared::new(&scene);
    scene.write("a.txt", "by me\n");
    let lock = scene.project().join(".git/index.lock");
    fs::write(&lock, format!("longhaul {TASK}\n")).unwrap();
    let error = prepared.try_land(&scene.repository()).unwrap_err();
    assert!(error.to_string().contains("changed while the checkout was being updated"), "{error}");
    assert_eq!(fs::read_to_string(scene.project().join("a.txt")).unwrap(), "by me\n");
    assert!(lock.exists(), "whoever comes next finishes");
    scene.write("a.txt", "one\n");
    prepared.land(&scene.repository());
    is_landed(&scene, &prepared);
}

/// A lock of another git is waited for and then respected.
#[test]
fn the_lock_of_another_git_is_respected() {
    let scene = Scene::committed(&super::scene::programs()[0]);
    let prepared = Prepared::new(&scene);
    let lock = scene.project().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let why = refused(prepared.land(&scene.repository()));
    assert!(why.contains("index.lock"), "{why}");
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    prepared.land(&scene.repository());
    is_landed(&scene, &prepared);
}

#[test]
fn a_worktree_is_put_away_with_all_that_was_in_it() {
    let scene = Scene::committed(&super::scene::programs()[0]);
    let task = TASK.parse().unwrap();
    let worktree = scene.worktree("task").with_rules_of(task).unwrap();
    write(worktree.path(), "a.txt", "committed\n");
    worktree.commit_all("work").unwrap();
    write(worktree.path(), "left.txt", "left\n");
    assert_eq!(worktree.put_away(task, "what was left").unwrap(), longhaul_git::Removal::Removed);
    assert!(!worktree.path().exists());
    assert_eq!(scene.plain(&["branch", "--list", "longhaul/*"]), "");
    let kept = format!("refs/longhaul/{TASK}/final");
    assert_eq!(scene.plain(&["show", &format!("{kept}:left.txt")]), "left");
    assert_eq!(scene.plain(&["show", &format!("{kept}:a.txt")]), "committed");
    let found = scene.repository().final_state(task).unwrap().unwrap();
    assert_eq!(found.as_str(), scene.plain(&["rev-parse", &kept]));
}

#[test]
fn author_and_branch_come_from_git() {
    let scene = Scene::committed(&super::scene::programs()[0]);
    let environment =
        |home: &Path| Environment::of_process().with("HOME", home.as_os_str()).with("XDG_CONFIG_HOME", "");
    let nobody = scene.repository().destination(&environment(&scene.project())).unwrap();
    assert_eq!((nobody.branch.as_deref(), nobody.author), (Some("main"), None));
    write(scene.root.path(), ".gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.org\n");
    scene.plain(&["config", "user.email", "ann@work.example"]);
    let ann = scene.repository().destination(&environment(scene.root.path())).unwrap();
    assert_eq!(ann.author, Some(Author { name: "Ann".into(), email: "ann@work.example".into() }));
    scene.plain(&["switch", "-q", "--detach"]);
    assert_eq!(scene.repository().destination(&environment(scene.root.path())).unwrap().branch, None);
}
