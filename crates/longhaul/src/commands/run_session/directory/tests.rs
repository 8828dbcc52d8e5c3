//! Directories as runs, crashes and people leave them.
//! Real files below a temporary directory; nothing is carried out.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use super::{Directories, DirectoryState};

const LIST: &str = "# T\n\n## Tasks\n\n- [x] Task 1: a\n- [ ] Task 2: b\n";

struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Scene {
        Scene(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> &Scene {
        let path = self.0.path().join(".autonomous").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn touch(&self, name: &str, ago: Duration) {
        let path = self.0.path().join(".autonomous").join(name);
        File::open(path).unwrap().set_modified(SystemTime::now() - ago).unwrap();
    }

    fn directories(&self) -> Directories {
        Directories::of(self.0.path())
    }
}

#[test]
fn what_is_there_decides_what_can_be_done() {
    let scene = Scene::new();
    assert_eq!(scene.directories().task("a").inspect(), DirectoryState::Missing);
    scene.file("a/session.log", "");
    assert_eq!(scene.directories().task("a").inspect(), DirectoryState::NoList { left: Some("session.log") });
    scene.file("a/task_list.md", LIST);
    assert!(
        matches!(scene.directories().task("a").inspect(), DirectoryState::Invalid(why) if why.ends_with("progress.md is missing"))
    );
    scene.file("a/progress.md", "");
    assert!(matches!(scene.directories().task("a").inspect(), DirectoryState::Plan(plan) if plan.progress() == "1/2"));
    scene.file("a/task_list.md", "## Tasks\n- [ ] Task 2: b\n- [ ] Task 1: a\n");
    assert!(
        matches!(scene.directories().task("a").inspect(), DirectoryState::Invalid(why) if why.starts_with("invalid task_list.md"))
    );
}

#[test]
fn the_most_recent_is_the_one_with_the_newest_file() {
    let scene = Scene::new();
    assert_eq!(scene.directories().most_recent(), None);
    scene.file("b/task_list.md", LIST).file("a/task_list.md", LIST).file("c/session.log", "no list").file("stray", "");
    let long = Duration::from_secs(60);
    for name in ["a/task_list.md", "b/task_list.md", "a", "b"] {
        scene.touch(name, long);
    }
    scene.touch("b/task_list.md", long - Duration::from_millis(1));
    assert_eq!(scene.directories().most_recent().unwrap().as_str(), "b", "a millisecond newer");
    scene.file("a/progress.md", "");
    scene.touch("a", long);
    assert_eq!(scene.directories().most_recent().unwrap().as_str(), "a");
}

#[test]
fn hidden_directories_and_plain_files_are_no_tasks() {
    let scene = Scene::new();
    scene.file("b/x", "").file(".hidden/x", "").file("plain", "").file("a/x", "");
    let names: Vec<String> = scene.directories().all().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "b"]);
}
