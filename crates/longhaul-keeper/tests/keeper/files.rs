//! Files: whole or not at all, private, and never where somebody else wants them.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use longhaul_keeper::files::{PrivateDirError, create_private_dir, replace, write_once};
use longhaul_keeper::{Beneath, BeneathError};

use crate::scene::{FIXTURE, Scene, until, wait};

/// Reads a file that a child rewrites without pause; returns whether a torn one was seen, then kills the child.
fn sees_torn(habit: &str, patience: Duration) -> bool {
    let scene = Scene::new();
    let mut writer = Command::new(FIXTURE).args([habit, scene.home.path().to_str().unwrap()]).spawn().unwrap();
    let file = scene.path("f");
    until("the file is there", || file.exists());
    let end = Instant::now() + patience;
    let is_torn = |bytes: &[u8]| bytes.len() != 1 << 20 || bytes.iter().any(|byte| *byte != bytes[0]);
    let mut torn = false;
    while !torn && Instant::now() < end {
        torn = is_torn(&std::fs::read(&file).unwrap());
    }
    writer.kill().unwrap();
    wait(&mut writer);
    torn || is_torn(&std::fs::read(&file).unwrap())
}

#[test]
fn a_replaced_file_is_old_or_new_at_any_moment_and_after_a_kill() {
    for _ in 0..5 {
        assert!(!sees_torn("replaces", Duration::from_millis(150)));
    }
    assert!(sees_torn("overwrites", Duration::from_secs(30)), "the control: plain writes are seen torn");
}

#[test]
fn replacing_is_private_leaves_nothing_behind_and_follows_no_link() {
    let scene = Scene::new();
    std::fs::write(scene.path("victim"), "safe").unwrap();
    symlink(scene.path("victim"), scene.path("f")).unwrap();
    replace(scene.home.path(), "f", b"new").unwrap();
    assert_eq!(std::fs::read(scene.path("victim")).unwrap(), b"safe");
    let about = scene.path("f").symlink_metadata().unwrap();
    assert!(about.is_file() && about.permissions().mode() & 0o777 == 0o600);
    std::fs::create_dir(scene.path("taken")).unwrap();
    assert!(replace(scene.home.path(), "taken", b"x").is_err());
    let names: Vec<_> = std::fs::read_dir(scene.home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_str().unwrap().ends_with(".tmp")), "{names:?}");
    assert!(write_once(scene.home.path(), "f", b"again").is_err());
    write_once(scene.home.path(), "once", b"1").unwrap();
    assert_eq!(std::fs::read(scene.path("once")).unwrap(), b"1");
}

#[test]
fn private_directories_are_ours_and_closed() {
    let scene = Scene::new();
    let path = scene.path("private");
    create_private_dir(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    create_private_dir(&path).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);

    symlink(&path, scene.path("link")).unwrap();
    std::fs::write(scene.path("file"), "").unwrap();
    for name in ["link", "file"] {
        let refused = create_private_dir(&scene.path(name));
        assert!(matches!(refused, Err(PrivateDirError::NotADirectory { .. })), "{name}: {refused:?}");
    }
    assert!(matches!(create_private_dir(&scene.path("no/such")), Err(PrivateDirError::Io { .. })));
    // Only the superuser can give a directory away; whoever else runs this sees one of root's.
    let foreign = scene.path("foreign");
    std::fs::create_dir(&foreign).unwrap();
    let foreign =
        if std::os::unix::fs::chown(&foreign, Some(12345), None).is_ok() { &foreign } else { Path::new("/usr") };
    assert!(matches!(create_private_dir(foreign), Err(PrivateDirError::ForeignOwner { .. })));
}

#[test]
fn below_a_directory_plain_files_work() {
    let scene = Scene::new();
    let beneath = Beneath::open(scene.home.path()).unwrap();
    assert_eq!(beneath.read("a", 10).unwrap(), None);
    beneath.make_dir("d").unwrap();
    beneath.make_dir("d").unwrap();
    beneath.make_dir("d/e").unwrap();
    beneath.replace("d/e/f", b"one").unwrap();
    beneath.append("d/e/f", b"two").unwrap();
    beneath.append("d/new", b"made").unwrap();
    assert_eq!(beneath.read("d/e/f", 6).unwrap().unwrap(), b"onetwo");
    assert_eq!(beneath.read("d/new", 100).unwrap().unwrap(), b"made");
    assert!(matches!(beneath.read("d/e/f", 5), Err(BeneathError::TooLarge { cap: 5, .. })));
    assert!(beneath.replace("missing/f", b"x").is_err());
}

#[test]
fn below_a_directory_no_trick_leads_out() {
    let scene = Scene::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    std::fs::create_dir(scene.path("w")).unwrap();
    let inside = |name: &str| scene.path("w").join(name);
    symlink(outside.path().join("secret"), inside("link")).unwrap();
    symlink(outside.path(), inside("dir")).unwrap();
    std::fs::hard_link(outside.path().join("secret"), inside("hard")).unwrap();
    std::fs::create_dir(inside("real")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, inside("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();

    let beneath = Beneath::open(&scene.path("w")).unwrap();
    for name in ["link", "dir/secret", "hard", "pipe", "real"] {
        assert!(matches!(beneath.read(name, 100), Err(BeneathError::NotPlain { .. })), "read {name}");
        if name != "real" {
            let refused = beneath.append(name, b"x");
            assert!(matches!(refused, Err(BeneathError::NotPlain { .. })), "append {name}: {refused:?}");
        }
    }
    assert!(beneath.append("real", b"x").is_err());
    for name in ["../x", "/etc/passwd", "", "real/../../x", "real/", "."] {
        assert!(matches!(beneath.read(name, 100), Err(BeneathError::BadName { .. })), "{name}");
        assert!(matches!(beneath.replace(name, b"x"), Err(BeneathError::BadName { .. })), "{name}");
    }
    assert!(beneath.replace("dir/new", b"x").is_err());
    assert!(
        beneath.make_dir("dir").is_err() && beneath.make_dir("dir/new").is_err() && beneath.make_dir("hard").is_err()
    );
    beneath.replace("link", b"mine").unwrap();
    beneath.replace("hard", b"mine").unwrap();
    assert_eq!(std::fs::read(outside.path().join("secret")).unwrap(), b"secret");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);

    // The handle goes on meaning the same directory when its path means another.
    std::fs::rename(scene.path("w"), scene.path("moved")).unwrap();
    symlink(outside.path(), scene.path("w")).unwrap();
    beneath.replace("later", b"x").unwrap();
    assert!(scene.path("moved/later").exists());
}
