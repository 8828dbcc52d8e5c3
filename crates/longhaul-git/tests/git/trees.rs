//! Tree ids, differences and snapshots against what plain git makes of the same files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use longhaul_git::{FileStatus, GitError, Repository};

use crate::scene::{Scene, programs, with_each_git, write};

/// The same tree by plain git, in a copy of the whole project.
fn tree_by_plain_git(scene: &Scene) -> String {
    let copy = tempfile::tempdir().unwrap();
    let to = copy.path().join("copy");
    let status =
        std::process::Command::new("cp").args(["-a".as_ref(), scene.project().as_os_str(), to.as_os_str()]).status();
    assert!(status.unwrap().success());
    scene.plain_in(&to, &["add", "-A"]);
    scene.plain_in(&to, &["write-tree"])
}

fn messy(scene: &Scene) {
    let project = scene.project();
    for name in ["changed", "deleted", "becomes-link", "becomes-directory", "mode", "staged", "kept"] {
        scene.write(name, format!("{name}\n"));
    }
    scene.write("folder/one", "one\n");
    scene.write("folder-becomes-link/one", "one\n");
    scene.write(".gitignore", "*.ignored\n");
    scene.commit("first");
    scene.write("changed", "changed again\n");
    scene.write("staged", "staged\n");
    scene.plain(&["add", "staged"]);
    scene.write("staged", "staged, then changed\n");
    for name in ["deleted", "becomes-link", "becomes-directory", "folder-becomes-link/one"] {
        fs::remove_file(project.join(name)).unwrap();
    }
    fs::remove_dir(project.join("folder-becomes-link")).unwrap();
    symlink("folder", project.join("folder-becomes-link")).unwrap();
    symlink("kept", project.join("becomes-link")).unwrap();
    scene.write("becomes-directory/inside", "inside\n");
    fs::set_permissions(project.join("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    scene.write("new/file", "new\n");
    scene.write("x.ignored", "ignored\n");
    symlink("/nowhere", project.join("dangling")).unwrap();
}

#[test]
fn trees_are_those_of_plain_git() {
    for program in programs() {
        let scene = Scene::with(&program);
        messy(&scene);
        let before = scene.index_bytes();
        let repository = scene.repository();
        assert_eq!(repository.survey().unwrap().content.as_str(), tree_by_plain_git(&scene));
        assert!(scene.index_bytes() == before);
    }
}

#[test]
fn a_change_of_the_same_size_in_the_same_moment_is_seen() {
    with_each_git(|scene| {
        for round in 0..20 {
            scene.write("a.txt", format!("{round:04}\n"));
            scene.plain(&["add", "-A"]);
            let staged = scene.plain(&["write-tree"]);
            scene.write("a.txt", format!("{:04}\n", round + 1000));
            assert_ne!(scene.repository().survey().unwrap().content.as_str(), staged, "round {round}");
        }
    });
}

#[test]
fn looking_stores_nothing_and_leaves_nothing() {
    let scene = Scene::new();
    messy(&scene);
    let objects = || scene.plain(&["count-objects"]);
    let (before, head) = (objects(), scene.head());
    let repository = scene.repository();
    repository.survey().unwrap();
    repository.diff(&head, None).unwrap();
    repository.uncommitted().unwrap();
    assert_eq!(objects(), before);
    let left: Vec<_> = fs::read_dir(scene.root.path().join("state/scratch")).unwrap().collect();
    assert_eq!(left.len(), 1, "only the gate is left: {left:?}");
    repository.snapshot("refs/longhaul/t/1", "x").unwrap();
    assert_ne!(objects(), before, "a snapshot stores");
}

#[test]
fn our_own_directory_counts_nowhere() {
    let scene = Scene::committed(programs().last().unwrap());
    let repository = scene.repository();
    let before = repository.survey().unwrap().content;
    scene.write(".autonomous/task/task_list.md", "- [ ] Task 1: x\n");
    assert_eq!(repository.survey().unwrap().content, before);
    assert!(repository.uncommitted().unwrap().is_empty());
    scene.write("sub/.autonomous/file", "somebody else's\n");
    assert_eq!(repository.uncommitted().unwrap().files, ["sub/.autonomous/file"]);
}

#[test]
fn changed_files_name_what_became_of_each() {
    with_each_git(|scene| {
        messy(scene);
        let changed = scene.repository().changed_files(&scene.head(), None).unwrap();
        let status = |name: &str| changed.iter().find(|file| file.path == Path::new(name)).map(|file| file.status);
        assert_eq!(status("changed"), Some(FileStatus::Modified));
        assert_eq!(status("mode"), Some(FileStatus::Modified));
        assert_eq!(status("deleted"), Some(FileStatus::Deleted));
        assert_eq!(status("becomes-link"), Some(FileStatus::TypeChanged));
        assert_eq!(status("new/file"), Some(FileStatus::Added));
        assert_eq!(status("becomes-directory/inside"), Some(FileStatus::Added));
        assert_eq!(status("kept"), None);
        assert_eq!(status("x.ignored"), None);
    });
}

#[test]
fn a_patch_has_all_and_is_cut_at_its_cap() {
    let scene = Scene::committed(programs().last().unwrap());
    let head = scene.head();
    assert_eq!(scene.repository().diff(&head, None).unwrap().bytes, b"");
    scene.write("a.txt", "changed\n");
    scene.write("new.txt", "new\n");
    let patch = scene.repository().diff(&head, None).unwrap();
    let text = String::from_utf8(patch.bytes).unwrap();
    assert!(!patch.is_cut);
    assert!(text.contains("-one\n+changed\n") && text.contains("+++ b/new.txt"), "{text}");
    scene.write("large.txt", "line of a large file\n".repeat(1 << 19));
    let patch = scene.repository().diff(&head, None).unwrap();
    assert!(patch.is_cut);
    assert_eq!(patch.bytes.len(), 8 << 20);
}

#[test]
fn a_snapshot_changes_nothing_but_its_reference() {
    with_each_git(|scene| {
        messy(scene);
        let head = scene.head();
        let (index, status, references) = (scene.index_bytes(), scene.status(&scene.project()), scene.references());
        let repository = scene.repository();
        let commit = repository.snapshot("refs/longhaul/task/1", "a message\n\nof two parts").unwrap();
        assert_eq!(scene.head(), head);
        assert!(scene.index_bytes() == index || scene.status(&scene.project()) == status);
        assert_eq!(scene.status(&scene.project()), status);
        let mut expected = references;
        expected.push(format!("refs/longhaul/task/1 {commit}"));
        assert_eq!(scene.references(), expected);
        let shown = scene.plain(&["show", "-s", "--format=%P|%an|%ae|%cn|%B", commit.as_str()]);
        assert_eq!(shown.trim(), format!("{head}|Longhaul|longhaul@localhost|Longhaul|a message\n\nof two parts"));
        assert_eq!(scene.plain(&["rev-parse", &format!("{commit}^{{tree}}")]), tree_by_plain_git(scene));
        repeat(scene, &repository, commit.as_str());
    });
}

fn repeat(scene: &Scene, repository: &Repository, commit: &str) {
    assert_eq!(repository.snapshot("refs/longhaul/task/1", "again").unwrap().as_str(), commit);
    write(&scene.project(), "another", "x");
    let taken = repository.snapshot("refs/longhaul/task/1", "again");
    assert!(matches!(taken, Err(GitError::SnapshotTaken { .. })));
    for bad in ["refs/heads/main", "refs/longhaul/", "refs/longhaul/a..b", "-x", "refs/longhaul/a b", ""] {
        assert!(matches!(repository.snapshot(bad, "x"), Err(GitError::BadSnapshotName { .. })), "{bad}");
    }
}
