//! No function of the wrapper runs anything that a hostile repository names; plain git runs most of it.

use std::collections::BTreeSet;
use std::fs;
use std::time::SystemTime;

use longhaul_core::task::Author;
use longhaul_git::{Committed, Merged, Moved, Removal, Step, Worktree, landing_branch};
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, new_commit, programs, with_each_git, write};
use crate::traps::Traps;

/// What plain git runs in the battery below, on old and new versions.
const FIRED_BY_PLAIN_GIT: &[&str] = &[
    "clean",
    "commit-msg",
    "editor",
    "external-diff",
    "diff-command",
    "file-clean",
    "file-smudge",
    "fsmonitor",
    "gpg",
    "included-clean",
    "included-smudge",
    "info-clean",
    "info-smudge",
    "merge-driver",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "pre-commit",
    "prepare-commit-msg",
    "process",
    "reference-transaction",
    "smudge",
    "ssh",
    "submodule-fsmonitor",
    "textconv",
    "worktree-clean",
];

/// New and changed files under every attribute of the traps.
fn dirty(scene: &Scene) {
    for kind in ["listed", "process", "odd", "included", "worktree", "info", "file", "plain"] {
        scene.write(format!("old.{kind}"), format!("{kind} changed\n"));
        scene.write(format!("new.{kind}"), format!("{kind} new\n"));
    }
}

/// Switches off the one trap that stops git where it stands.
const GO_ON: &[&str] = &["-c", "filter.process.process=", "-c", "filter.process.required=false"];
const UNSIGNED: &[&str] = &["-c", "commit.gpgSign=false", "-c", "log.showSignature=false"];

/// Plain commands that each run some of the traps.
fn battery(scene: &Scene) {
    let project = scene.project();
    let place = scene.place("plain").display().to_string();
    for arguments in [&["status"][..], &["diff"], &["add", "-A"]] {
        scene.try_plain(&project, arguments);
    }
    let go_on = |arguments: &[&str]| drop(scene.try_plain(&project, &[GO_ON, arguments].concat()));
    let unsigned = |arguments: &[&str]| drop(scene.try_plain(&project, &[GO_ON, UNSIGNED, arguments].concat()));
    go_on(&["diff", "--", "old.plain"]);
    go_on(&["diff", "--ext-diff", "--", "old.odd"]);
    go_on(&["-c", "diff.external=", "log", "--textconv", "--no-ext-diff", "-p"]);
    go_on(&["add", "-A"]);
    go_on(&["commit", "-m", "signed"]);
    unsigned(&["commit"]);
    unsigned(&["commit", "-m", "unsigned"]);
    go_on(&["worktree", "add", "-b", "x", &place]);
    go_on(&["ls-remote", "origin"]);
    // Both sides change the same file: that asks the merge driver.
    unsigned(&["-c", "core.hooksPath=/dev/null", "checkout", "-q", "-f", "side"]);
    scene.write("old.odd", "side\n");
    unsigned(&["commit", "-q", "-m", "side", "old.odd"]);
    unsigned(&["merge", "main"]);
}

#[test]
fn plain_git_runs_the_traps() {
    for program in programs() {
        let scene = Scene::committed(&program);
        let traps = Traps::set(&scene);
        dirty(&scene);
        battery(&scene);
        let expected: BTreeSet<String> = FIRED_BY_PLAIN_GIT.iter().map(|name| (*name).to_owned()).collect();
        let fired = traps.fired();
        let missing: Vec<_> = expected.difference(&fired).collect();
        assert!(missing.is_empty(), "{program:?} did not run {missing:?}; it ran {fired:?}");
        assert!(expected.len() >= 20);
    }
}

#[test]
fn the_wrapper_runs_none_of_them() {
    for program in programs() {
        let scene = Scene::committed(&program);
        let traps = Traps::set(&scene);
        dirty(&scene);
        let none = |what: &str| assert_eq!(traps.fired(), BTreeSet::new(), "{what} with {program:?}");
        let repository = scene.repository();
        none("find");
        let head = repository.head_commit().unwrap().unwrap();
        repository.branch().unwrap();
        none("head and branch");
        assert!(!repository.uncommitted().unwrap().is_empty());
        none("uncommitted");
        assert!(repository.changed_files(&head, None).unwrap().len() >= 16);
        none("changed files");
        repository.survey().unwrap();
        none("tree ids");
        assert!(repository.diff(&head, None).unwrap().bytes.len() > 100);
        assert!(repository.changed_files(&head, None).unwrap().len() >= 16);
        none("diff");
        repository.snapshot("refs/longhaul/t/1", "snapshot").unwrap();
        none("snapshot");
        let worktree =
            repository.create_worktree(&scene.place("w"), BRANCH, &head, &Environment::of_process()).unwrap();
        none("create");
        assert_eq!(fs::read_to_string(worktree.path().join("old.process")).unwrap(), "process\n");
        let worktree = Worktree::open(&scene.git, &worktree.record().unwrap()).unwrap();
        none("open");
        worktree.clear_stale_lock(SystemTime::now()).unwrap();
        none("clear_stale_lock");
        write(worktree.path(), "new.odd", "work\n");
        write(worktree.path(), "old.listed", "work\n");
        assert!(matches!(worktree.commit_all("work").unwrap(), Committed::All { .. }));
        none("commit with filters");
        worktree.repository().snapshot("refs/longhaul/t/2", "rescue").unwrap();
        none("snapshot of a worktree");
        assert!(matches!(worktree.remove(None).unwrap(), Removal::Kept { .. }));
        none("remove of a dirty worktree");
    }
}

#[test]
fn commit_and_remove_run_none_of_them_either() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        let base = scene.head();
        let traps = Traps::set(scene);
        // A commit without filters and submodules, so that commit and remove go all the way.
        let worktree =
            scene.repository().create_worktree(&scene.place("w"), BRANCH, &base, &Environment::of_process()).unwrap();
        scene.write(".git/info/attributes", "*.odd diff=odd merge=odd\n");
        write(worktree.path(), "new.odd", "work\n");
        write(worktree.path(), "a.txt", "work\n");
        assert!(matches!(worktree.commit_all("work").unwrap(), Committed::All { commit: Some(_), .. }));
        assert_eq!(traps.fired(), BTreeSet::new(), "commit");
        assert!(matches!(worktree.remove(None).unwrap(), Removal::Kept { .. }));
        let tip = worktree.repository().head_commit().unwrap().unwrap();
        scene.plain(&["-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/landed", tip.as_str()]);
        traps.forget();
        // The filters are back for git's own look at whether the worktree is clean.
        scene.write(".git/info/attributes", "a.txt filter=listed\nnew.odd filter=process\n");
        let dot = worktree.path().join("a.txt");
        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(&dot).unwrap().set_modified(later).unwrap();
        let answer = worktree.remove(None).unwrap();
        assert_eq!(traps.fired(), BTreeSet::new(), "remove");
        assert_eq!(answer, Removal::Removed);
        assert!(!worktree.path().exists());
    });
}

#[test]
fn landing_runs_none_of_them() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        let traps = Traps::set(scene);
        let (repository, from) = (scene.repository(), scene.head());
        let worktree =
            repository.create_worktree(&scene.place("w"), BRANCH, &from, &Environment::of_process()).unwrap();
        write(worktree.path(), "a.txt", "work\n");
        write(worktree.path(), "fresh.odd", "work\n");
        worktree.commit_all("work").unwrap();
        dirty(scene);
        let author = Author { name: "Ann".into(), email: "ann@example.org".into() };
        let (_, tree) = repository.branch_tip_and_tree(worktree.branch()).unwrap().unwrap();
        let parents = [&from];
        let new = new_commit(&author, &tree, &parents, "landed");
        let to = repository.commit_by(&new, &Environment::of_process()).unwrap();
        let task = "0190c5a4-7d4e-7c3a-8f00-0123456789ab".parse().unwrap();
        let step = Step { task, branch: "main", from: &from, to: &to, author: &author };
        let moved = repository.land(&step, &Environment::of_process()).unwrap();
        assert_eq!(traps.fired(), BTreeSet::new(), "land");
        assert!(matches!(moved, Moved::Done { checkout: Some(_) }), "{moved:?}");
        assert_eq!(fs::read_to_string(scene.project().join("a.txt")).unwrap(), "work\n");
        let worktree = worktree.with_rules_of(task).unwrap();
        worktree.put_away(task, "rest").unwrap();
        assert_eq!(traps.fired(), BTreeSet::new(), "put away");
    });
}

#[test]
fn merging_runs_none_of_them() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.write("both.odd", "one\n");
        scene.commit("first");
        let traps = Traps::set(scene);
        let (repository, from) = (scene.repository(), scene.head());
        let worktree =
            repository.create_worktree(&scene.place("w"), BRANCH, &from, &Environment::of_process()).unwrap();
        let task = "0190c5a4-7d4e-7c3a-8f00-0123456789ab".parse().unwrap();
        let worktree = worktree.with_rules_of(task).unwrap();
        write(worktree.path(), "both.odd", "ours\n");
        worktree.commit_all("work").unwrap();
        let tip = worktree.repository().head_commit().unwrap().unwrap();
        scene.write("both.odd", "theirs\n");
        scene.plain(
            &[GO_ON, UNSIGNED, &["-c", "core.hooksPath=/dev/null", "commit", "-q", "-am", "meanwhile"]].concat(),
        );
        let target = repository.head_commit().unwrap().unwrap();
        traps.forget();
        let merged = repository.merge(&tip, &target, "merge").unwrap();
        assert_eq!(traps.fired(), BTreeSet::new(), "merge");
        // An old git cannot, and then nothing more happens.
        let Merged::Made { commit, conflicts } = merged else { return };
        assert_eq!(conflicts, ["both.odd"]);
        repository.conflict_markers(commit.as_str(), &conflicts).unwrap();
        worktree.lend(task, &landing_branch(BRANCH, task), &commit).unwrap();
        worktree.give_back(task).unwrap();
        assert_eq!(traps.fired(), BTreeSet::new(), "lend and give back");
    });
}

#[test]
fn a_submodule_in_a_worktree_runs_nothing_and_keeps_it() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        let traps = Traps::set(scene);
        let worktree = scene
            .repository()
            .create_worktree(&scene.place("w"), BRANCH, &scene.head(), &Environment::of_process())
            .unwrap();
        traps.populate_submodule(scene, worktree.path());
        traps.forget();
        worktree.repository().survey().unwrap();
        worktree.repository().uncommitted().unwrap();
        let answer = worktree.remove(None).unwrap();
        assert!(matches!(&answer, Removal::Kept { why } if why.contains("module")), "{answer:?}");
        assert_eq!(traps.fired(), BTreeSet::new());
        scene.try_plain(worktree.path(), &[GO_ON, &["status"]].concat());
        assert!(traps.fired().contains("submodule-fsmonitor"), "plain git runs it: {:?}", traps.fired());
    });
}

#[test]
fn a_swapped_git_directory_is_an_error() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        let worktree = scene.worktree("w");
        let dot_git = worktree.path().join(".git");
        fs::remove_file(&dot_git).unwrap();
        scene.plain_in(worktree.path(), &["init", "-q"]);
        let swapped = |error: String| assert!(error.contains("not `") && error.contains("as recorded"), "{error}");
        let source = |error: &dyn std::error::Error| error.source().unwrap().to_string();
        swapped(source(&Worktree::open(&scene.git, &worktree.record().unwrap()).unwrap_err()));
        swapped(worktree.commit_all("x").unwrap_err().to_string());
        swapped(worktree.repository().survey().unwrap_err().to_string());
        swapped(worktree.remove(None).unwrap_err().to_string());
        swapped(worktree.clear_stale_lock(SystemTime::now()).unwrap_err().to_string());
        swapped(worktree.repository().snapshot("refs/longhaul/t/1", "x").unwrap_err().to_string());
        let recorded = scene.repository().place().unwrap();
        scene.git.find_recorded(&scene.project(), &recorded).unwrap();
        swapped(scene.git.find_recorded(worktree.path(), &recorded).unwrap_err().to_string());
    });
}

#[test]
fn a_setting_that_leads_to_other_files_is_an_error() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        let worktree = scene.worktree("w");
        let record = worktree.record().unwrap();
        let elsewhere = scene.root.path().canonicalize().unwrap().display().to_string();
        scene.plain_in(worktree.path(), &["config", "extensions.worktreeConfig", "true"]);
        Worktree::open(&scene.git, &record).unwrap();
        let steer = ["config", "--worktree", "core.worktree", &elsewhere];
        scene.plain_in(worktree.path(), &steer);
        assert_eq!(scene.plain_in(worktree.path(), &["rev-parse", "--show-toplevel"]), elsewhere, "git follows it");
        assert!(Worktree::open(&scene.git, &record).is_err());
    });
}
