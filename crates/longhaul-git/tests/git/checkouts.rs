//! Clean checkouts: of exactly one commit, made again over whatever is left, and removed with all that is in them, but nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use longhaul_git::Removal;

use crate::scene::{Scene, programs, with_each_git};
use crate::traps::Traps;

/// What a check does to its checkout.
type Spoil = fn(&Scene, &Path);

fn scene() -> Scene {
    Scene::committed(programs().last().unwrap())
}

#[test]
fn a_checkout_is_detached_and_whole_and_goes_with_what_is_in_it() {
    with_each_git(|scene| {
        scene.write(".gitignore", "ignored\n");
        scene.write("a.txt", "one\n");
        let commit = scene.commit("first");
        let (path, repository) = (scene.place("c"), scene.repository());
        repository.make_checkout(&path, &commit).unwrap();
        assert_eq!(scene.status(&path), "");
        assert_eq!(scene.plain_in(&path, &["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
        for name in ["new", "ignored", "a.txt"] {
            fs::write(path.join(name), "left by a check\n").unwrap();
        }
        repository.make_checkout(&path, &commit).unwrap();
        assert_eq!(scene.status(&path), "");
        assert!(!path.join("ignored").exists() && fs::read_to_string(path.join("a.txt")).unwrap() == "one\n");
        repository.remove_checkout(&path).unwrap();
        assert!(!path.exists() && scene.plain(&["worktree", "list"]).lines().count() == 1);
        repository.remove_checkout(&path).unwrap();
    });
}

#[test]
fn what_checks_do_to_their_checkout_does_not_keep_it() {
    let scene = scene();
    let spoil: [(&str, Spoil); 4] = [
        ("unlinked", |_, path| fs::remove_file(path.join(".git")).unwrap()),
        ("led elsewhere", |scene, path| {
            fs::write(path.join(".git"), format!("gitdir: {}/.git\n", scene.project().display())).unwrap();
        }),
        ("locked", |scene, path| drop(scene.plain(&["worktree", "lock", path.to_str().unwrap()]))),
        ("deleted", |_, path| fs::remove_dir_all(path).unwrap()),
    ];
    for (what, spoil) in spoil {
        let (path, repository) = (scene.place("c"), scene.repository());
        repository.make_checkout(&path, &scene.head()).unwrap();
        spoil(&scene, &path);
        repository.remove_checkout(&path).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(!path.exists(), "{what}");
        assert_eq!(scene.plain(&["worktree", "list"]).lines().count(), 1, "{what}");
    }
    assert_eq!(scene.status(&scene.project()), "", "the user's checkout is not touched");
}

#[test]
fn nothing_is_removed_that_is_not_a_checkout_of_ours() {
    let scene = scene();
    let (path, repository) = (scene.place("c"), scene.repository());
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("mine"), "").unwrap();
    assert!(matches!(repository.remove_checkout(&path).unwrap(), Removal::Kept { .. }));
    assert!(repository.make_checkout(&path, &scene.head()).is_err());
    assert!(path.join("mine").exists());
    let (other, victim) = (scene.place("d"), scene.place("victim"));
    repository.make_checkout(&other, &scene.head()).unwrap();
    fs::rename(&other, &victim).unwrap();
    symlink(&victim, &other).unwrap();
    assert!(repository.remove_checkout(&other).is_err());
    assert!(victim.join("a.txt").exists(), "what a link leads to is somebody else's");
}

#[test]
fn a_checkout_runs_nothing_that_the_repository_names() {
    with_each_git(|scene| {
        let traps = Traps::set(scene);
        traps.forget();
        let (path, repository) = (scene.place("c"), scene.repository());
        repository.make_checkout(&path, &scene.head()).unwrap();
        repository.remove_checkout(&path).unwrap();
        assert!(traps.fired().is_empty(), "{:?}", traps.fired());
    });
}
