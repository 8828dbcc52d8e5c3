//! Tests: files that want to hang, exhaust or fool the reader are refused, in both places, by name.
//! Everything here is a real file.

use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{World, path_text};

fn refused(name: &str, make: impl Fn(&Path), says: &str) {
    for place in ["user", "workspace"] {
        let world = World::new();
        let path = if place == "user" { world.user_file() } else { world.workspace_file() };
        make(&path);
        let error = world.error();
        assert!(error.contains(says) && error.contains(&path_text(&path)), "{name} as {place}: {error}");
    }
}

#[test]
fn pipes_directories_large_and_garbled_files_are_refused() {
    let fifo = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    refused("a pipe nobody writes to", fifo, "not a regular file");
    refused("a directory", |path| std::fs::create_dir(path).unwrap(), "");
    let large = |path: &Path| std::fs::write(path, "# a comment\n".repeat(100_000)).unwrap();
    refused("more than a MiB", large, "larger than 1048576 bytes");
    let endless = |path: &Path| std::fs::File::create(path).unwrap().set_len(1 << 40).unwrap();
    refused("a terabyte of nothing", endless, "larger than 1048576 bytes");
    refused("not UTF-8", |path| std::fs::write(path, b"# ok\nagent = '\xff'\n").unwrap(), "line 2 is not UTF-8");
    refused("binary", |path| std::fs::write(path, b"\x7fELF\0\0\0").unwrap(), "not valid TOML");
}

#[test]
fn a_file_of_just_a_mib_is_read() {
    let text = format!("agent = 'demo'\n#{}", "x".repeat((1 << 20) - 16));
    assert_eq!(text.len(), 1 << 20);
    World::new().user(&text).load().unwrap();
    World::new().workspace(&text).load().unwrap();
}

#[test]
fn links_are_refused_in_a_project_and_followed_for_the_user() {
    let world = World::new();
    let elsewhere = world.dir.path().join("elsewhere.toml");
    std::fs::write(&elsewhere, "session.delay = '9s'").unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.user_file()).unwrap();
    assert_eq!(world.load().unwrap().settings.patience.delay_ms, 9_000);
    std::os::unix::fs::symlink(&elsewhere, world.workspace_file()).unwrap();
    assert!(world.error().contains("not a regular file with exactly one link"));
    std::fs::remove_file(world.workspace_file()).unwrap();
    std::fs::hard_link(&elsewhere, world.workspace_file()).unwrap();
    assert!(world.error().contains("not a regular file with exactly one link"));
    std::fs::remove_file(world.workspace_file()).unwrap();
    std::os::unix::fs::symlink("/nowhere", world.workspace_file()).unwrap();
    assert!(world.error().contains("not a regular file"), "a dangling link is no absent file");
}

#[test]
fn deep_nesting_ends_nothing() {
    for text in ["[".repeat(500_000), format!("a = {}", "[".repeat(500_000)), format!("a = {}", "{a=".repeat(300_000))]
    {
        assert!(World::new().workspace(&text).error().contains("line 1"), "{}", &text[..10]);
    }
}

#[test]
fn a_strangers_text_stays_on_one_line_and_short() {
    let name = "x\\nhint: run rm -rf\\u001b[31m".to_owned() + &"y".repeat(10_000);
    let error = World::new().workspace(&format!("\"{name}\" = 1")).error();
    assert!(!error.contains(['\n', '\u{1b}']) && error.len() < 600, "{error}");
    let error = World::new().workspace(&format!("agent = \"{name}\"")).error();
    assert!(!error.contains(['\n', '\u{1b}']) && error.len() < 800, "{error}");
}
