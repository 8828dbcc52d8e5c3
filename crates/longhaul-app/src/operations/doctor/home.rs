//! Longhaul's home: its owner and mode, its file system, free space, and what uses the space.
//! One part of `doctor`; it only reads, even if there is no home yet.

use longhaul_core::units;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::Patient;
use crate::free_disk;
use crate::home::{Home, WORKER_LOGS};
use crate::session::on_disk::survey;
use crate::views::Finding;

const HOME: &str = "home";
const DISK: &str = "disk";
const ROOM: &str = "room";

pub(super) fn check(patient: &Patient<'_>) -> Vec<Finding> {
    let root = patient.call.home().root();
    let floor = patient.config.as_ref().map_or(0, |loaded| loaded.settings.patience.disk_floor);
    let mut findings = vec![privacy(root), file_system(root), disk(root, floor)];
    if root.is_dir() {
        findings.push(room(patient, patient.call.home()));
    }
    findings
}

fn privacy(root: &Path) -> Finding {
    let shown = root.display();
    let meta = match root.symlink_metadata() {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Finding::ok(HOME, format!("`{shown}` does not exist yet; the first task creates it"));
        }
        Err(error) => return Finding::problem(HOME, format!("`{shown}`: {error}"), "make it readable for your user"),
    };
    let us = rustix::process::geteuid().as_raw();
    if !meta.is_dir() {
        return Finding::problem(
            HOME,
            format!("`{shown}` is not a directory"),
            "set LONGHAUL_HOME to a directory you own",
        );
    }
    if meta.uid() != us {
        let facts = format!("`{shown}` belongs to user {}, not to user {us}", meta.uid());
        return Finding::problem(HOME, facts, "set LONGHAUL_HOME to a directory you own");
    }
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let facts = format!("`{shown}` has mode {mode:o}: others can read it");
        return Finding::warning(HOME, facts, format!("chmod 700 '{shown}'"));
    }
    Finding::ok(HOME, format!("`{shown}`, owned by you, mode {mode:o}"))
}

/// The kind of file system, from the longest mount point above the home.
fn file_system(root: &Path) -> Finding {
    const SUBJECT: &str = "file system";
    let Ok(mounts) = std::fs::read_to_string("/proc/self/mountinfo") else {
        return Finding::unknown(SUBJECT, "this system does not report it");
    };
    let existing = nearest_existing(root);
    match kind_of(&mounts, &existing) {
        None => Finding::unknown(SUBJECT, "the mount of the home is not listed"),
        Some(kind) if is_remote(&kind) => {
            let advice = "set LONGHAUL_HOME to a directory on a local disk: databases break on network file systems";
            Finding::problem(SUBJECT, format!("{kind}, a network file system"), advice)
        }
        Some(kind) if kind == "tmpfs" || kind == "ramfs" => {
            let advice = "set LONGHAUL_HOME to a directory on a disk if tasks should survive a reboot";
            Finding::warning(SUBJECT, format!("{kind}: lost at a reboot"), advice)
        }
        Some(kind) => Finding::ok(SUBJECT, kind),
    }
}

fn nearest_existing(path: &Path) -> PathBuf {
    path.ancestors().find_map(|above| above.canonicalize().ok()).unwrap_or_else(|| PathBuf::from("/"))
}

fn kind_of(mounts: &str, path: &Path) -> Option<String> {
    let parse = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?.replace("\\040", " ");
        let kind = after.split(' ').next()?.to_owned();
        path.starts_with(&point).then_some((point.len(), kind))
    };
    // Of two mounts on one point the later one is on top.
    mounts.lines().filter_map(parse).max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

fn is_remote(kind: &str) -> bool {
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "virtiofs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone"]
        .contains(&kind)
}

fn disk(root: &Path, floor: u64) -> Finding {
    let Some(free) = free_disk(&nearest_existing(root)) else {
        return Finding::unknown(DISK, "free space is unknown");
    };
    let facts = format!("{} free, sessions start above {}", units::bytes(free), units::bytes(floor));
    if free < floor {
        return Finding::problem(
            DISK,
            facts,
            "free some space, for instance with `longhaul gc`; blocked tasks then continue",
        );
    }
    if free < floor.saturating_mul(2) {
        return Finding::warning(
            DISK,
            facts,
            "free some space before tasks are blocked, for instance with `longhaul gc`",
        );
    }
    Finding::ok(DISK, facts)
}

/// What uses the space in the home.
fn room(patient: &Patient<'_>, home: &Home) -> Finding {
    let sessions = match survey(home) {
        Ok(on_disk) => on_disk.bytes(),
        Err(error) => return Finding::unknown(ROOM, error.sentence()),
    };
    let length = |name: &str| home.root().join(name).symlink_metadata().map_or(0, |meta| meta.len());
    let database: u64 = ["longhaul.db", "longhaul.db-wal", "longhaul.db-shm"].iter().map(|name| length(name)).sum();
    let log = WORKER_LOGS.into_iter().map(length).sum::<u64>();
    let facts = format!(
        "{} in total: sessions {}, database {}, worker log {}; worktrees not counted",
        units::bytes(sessions + database + log),
        units::bytes(sessions),
        units::bytes(database),
        units::bytes(log)
    );
    let kept = patient.config.as_ref().ok().and_then(|loaded| loaded.settings.retention.bytes);
    match kept {
        Some(kept) if sessions > kept => {
            let facts = format!("{facts}; {} should be kept", units::bytes(kept));
            Finding::warning(ROOM, facts, "`longhaul gc --dry-run` shows what can be removed, `longhaul gc` removes it")
        }
        Some(_) | None => Finding::ok(ROOM, facts),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_remote, kind_of};

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:40 / /home rw - nfs4 server:/home rw
31 30 0:41 / /home/me/my\\040disk rw shared:2 - xfs /dev/sdb rw
32 22 0:42 / /tmp rw - ext4 /dev/x rw
33 22 0:43 / /tmp rw - tmpfs tmpfs rw
";

    #[test]
    fn the_longest_mount_point_counts_and_the_later_of_two() {
        let kind = |path: &str| kind_of(MOUNTS, Path::new(path)).unwrap_or_default();
        assert_eq!(kind("/var/lib"), "ext4");
        assert_eq!(kind("/home/me"), "nfs4");
        assert_eq!(kind("/homely"), "ext4", "a name that only begins alike is another one");
        assert_eq!(kind("/home/me/my disk/x"), "xfs");
        assert_eq!(kind("/tmp/x"), "tmpfs");
        assert!(is_remote("nfs4") && !is_remote("ext4"));
        assert_eq!(kind_of("", Path::new("/")), None);
    }
}
