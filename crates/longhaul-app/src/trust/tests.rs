//! Tests of the list of trusted files: its life, its mode, its damage, and many who change it at once.
//! They use real files in a scratch home.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{FILE, Standing, TrustError, Trusted, add, fingerprint, list, remove, standing};

fn trusted(path: &str, content: &[u8]) -> Trusted {
    Trusted { path: path.to_owned(), sha256: fingerprint(content), since: "2026-01-01T00:00:00Z".to_owned() }
}

#[test]
fn trust_is_given_changed_and_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let (home, file) = (home.path(), Path::new("/p/longhaul.toml"));
    let stands = |content: &[u8]| standing(home, file, content).unwrap();
    assert_eq!(stands(b"a"), Standing::Unknown);
    add(home, trusted("/p/longhaul.toml", b"a")).unwrap();
    assert_eq!(stands(b"a"), Standing::Trusted);
    assert_eq!(stands(b"b"), Standing::Changed);
    assert_eq!(standing(home, Path::new("/q/longhaul.toml"), b"a").unwrap(), Standing::Unknown, "the path counts too");
    add(home, trusted("/p/longhaul.toml", b"b")).unwrap();
    assert_eq!(stands(b"a"), Standing::Changed);
    assert_eq!(list(home).unwrap().len(), 1, "one content at a time");
    let mode = home.join(FILE).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(remove(home, "/p/longhaul.toml").unwrap().is_some());
    assert!(remove(home, "/p/longhaul.toml").unwrap().is_none());
    assert_eq!(stands(b"b"), Standing::Unknown);
}

#[test]
fn without_a_home_nothing_is_trusted_and_nothing_is_made() {
    let scratch = tempfile::tempdir().unwrap();
    let home = scratch.path().join("home");
    assert_eq!(standing(&home, Path::new("/p"), b"").unwrap(), Standing::Unknown);
    assert!(!home.exists());
}

#[test]
fn damage_is_never_taken_for_absence_or_trust() {
    let home = tempfile::tempdir().unwrap();
    for bytes in [
        &b"\xff\xfe"[..],
        b"version = 1\ntrusted = 3",
        b"[[trusted]]\npath = 'x'",
        b"version = 2",
        b"version = 1\nx = 1",
    ] {
        std::fs::write(home.path().join(FILE), bytes).unwrap();
        let error = standing(home.path(), Path::new("/p"), b"").unwrap_err();
        assert!(matches!(error, TrustError::Damaged { .. }), "{error:?}");
        add(home.path(), trusted("/p", b"")).unwrap_err();
        assert_eq!(std::fs::read(home.path().join(FILE)).unwrap(), bytes, "nothing was overwritten");
    }
    std::fs::remove_file(home.path().join(FILE)).unwrap();
    std::fs::write(home.path().join("elsewhere"), "version = 1").unwrap();
    std::os::unix::fs::symlink("elsewhere", home.path().join(FILE)).unwrap();
    assert!(matches!(standing(home.path(), Path::new("/p"), b""), Err(TrustError::Read { .. })));
}

#[test]
fn many_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for n in 0..16 {
            let home = home.path();
            scope.spawn(move || add(home, trusted(&format!("/p{n}"), b"")).unwrap());
        }
    });
    assert_eq!(list(home.path()).unwrap().len(), 16);
}

#[test]
fn the_fingerprint_is_sha_256() {
    assert_eq!(fingerprint(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
