//! The files of the database in the home, and whether this place is fit for them.
//!
//! Called when a store is opened. It looks and creates, but never opens an existing database file itself: closing such a
//! descriptor would drop the locks SQLite holds in this process. It deletes nothing.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::failure::{damaged, file_failed};
use crate::StoreError;

/// The bytes of the smallest page, the least a database can have.
const SHORTEST: u64 = 512;

/// The place of one database.
#[derive(Debug, Clone)]
pub(super) struct Place {
    home: PathBuf,
}

/// What was found there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A database that holds something.
    Database,
    /// Nothing, or the empty file of an opening that was cut short.
    Nothing,
}

impl Place {
    /// Looks at a home: an existing directory on a local file system.
    pub(super) fn new(home: &Path) -> Result<Place, StoreError> {
        let unfit = |why: String| StoreError::Unfit { path: home.display().to_string(), why };
        let home = fs::canonicalize(home).map_err(|error| unfit(error.to_string()))?;
        if !home.is_dir() {
            return Err(unfit("not a directory".into()));
        }
        if let Some(kind) = network_file_system(&home)? {
            return Err(unfit(format!("it is on a network file system ({kind})")));
        }
        let place = Place { home };
        if place.is_read_only() { Err(unfit("its file system is read-only".into())) } else { Ok(place) }
    }

    /// The database file.
    pub(super) fn database(&self) -> PathBuf {
        self.home.join("longhaul.db")
    }

    /// SQLite's write-ahead log beside it.
    pub(super) fn log(&self) -> PathBuf {
        self.home.join("longhaul.db-wal")
    }

    /// Whether that log holds anything.
    pub(super) fn has_log(&self) -> bool {
        fs::symlink_metadata(self.log()).is_ok_and(|log| log.len() > 0)
    }

    /// The file that is touched after each commit.
    pub(super) fn doorbell(&self) -> PathBuf {
        self.home.join("doorbell")
    }

    /// The note that a sync failed here.
    pub(super) fn suspect(&self) -> PathBuf {
        self.home.join("longhaul.db.suspect")
    }

    /// Whether the file system takes no writes now, as after an error of its disk.
    pub(super) fn is_read_only(&self) -> bool {
        let facts = rustix::fs::statvfs(&self.home);
        facts.is_ok_and(|facts| facts.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
    }

    /// The copy that is made before schema `version` is migrated.
    pub(super) fn backup(&self, version: u32) -> PathBuf {
        self.home.join(format!("longhaul.db.v{version}.bak"))
    }

    /// Looks for a database. A missing or empty file beside the traces of a database is damage, not absence.
    pub(super) fn find(&self) -> Result<Found, StoreError> {
        // In this order: whoever makes a database makes these two after the file, so what is seen here implies the file.
        let had_doorbell = self.plain_file(&self.doorbell())?.is_some();
        let has_log = self.plain_file(&self.log())?.is_some_and(|length| length > 0);
        self.plain_file(&self.home.join("longhaul.db-shm"))?;
        let has_journal = self.plain_file(&self.home.join("longhaul.db-journal"))?.is_some();
        match self.plain_file(&self.database())? {
            // SQLite takes a file shorter than any header for an empty one and writes over it.
            Some(1..SHORTEST) if !has_journal => Err(damaged("`longhaul.db` is too short for a database")),
            Some(length) if length > 0 => Ok(Found::Database),
            None if has_log || had_doorbell => Err(damaged("`longhaul.db` is missing, but this home had one")),
            Some(_) if has_log || had_doorbell => Err(damaged("`longhaul.db` is empty, but it held tasks")),
            Some(_) | None => Ok(Found::Nothing),
        }
    }

    /// Makes the empty database file, readable for its owner only, unless it exists.
    pub(super) fn create(&self) -> Result<(), StoreError> {
        let path = self.database();
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(_) => self.sync_directory(),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(file_failed("create", &path, error)),
        }
    }

    /// Makes names in the home durable.
    pub(super) fn sync_directory(&self) -> Result<(), StoreError> {
        File::open(&self.home)
            .and_then(|directory| directory.sync_all())
            .map_err(|error| file_failed("sync", &self.home, error))
    }

    /// The length of a regular file, or none when it is missing. Anything else at this name is refused.
    fn plain_file(&self, path: &Path) -> Result<Option<u64>, StoreError> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(file_failed("inspect", path, error)),
        };
        let why = if metadata.is_symlink() {
            "is a symbolic link"
        } else if !metadata.is_file() {
            "is not a regular file"
        } else if metadata.nlink() > 1 {
            "has a second hard link, and SQLite keeps one log per name"
        } else {
            return Ok(Some(metadata.len()));
        };
        let name = path.file_name().unwrap_or_default().display();
        Err(StoreError::Unfit { path: self.home.display().to_string(), why: format!("`{name}` {why}") })
    }
}

/// The kind of network file system this directory is on, if it is on one. SQLite's locks and shared memory do not hold there.
fn network_file_system(home: &Path) -> Result<Option<String>, StoreError> {
    let facts = rustix::fs::statfs(home).map_err(|error| file_failed("inspect the file system of", home, error))?;
    // The kernel's numbers are 32 bits wide, and the field is signed on some machines.
    Ok(match facts.f_type as u32 {
        FUSE => fuse_kind(home).filter(|kind| is_remote_fuse(kind)),
        magic => network_name(magic).map(str::to_owned),
    })
}

/// The network file systems among the kernel's numbers (`linux/magic.h`).
fn network_name(magic: u32) -> Option<&'static str> {
    match magic {
        0x6969 => Some("nfs"),
        0x517b => Some("smb"),
        0xff53_4d42 => Some("cifs"),
        0xfe53_4d42 => Some("smb2"),
        0x0102_1997 => Some("9p"),
        0x5346_414f | 0x6b41_4653 => Some("afs"),
        0x00c3_6400 => Some("ceph"),
        0x7375_7245 => Some("coda"),
        0x0bd0_0bd0 => Some("lustre"),
        0x0116_1970 => Some("gfs2"),
        0x7461_636f => Some("ocfs2"),
        _ => None,
    }
}

const FUSE: u32 = 0x6573_5546;

/// The name of the FUSE file system a directory is on; many are local.
fn fuse_kind(home: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let device = fs::metadata(home).ok()?.dev();
    let wanted = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        (place.split(' ').nth(2) == Some(wanted.as_str())).then(|| kind.split(' ').next().map(str::to_owned)).flatten()
    })
}

fn is_remote_fuse(kind: &str) -> bool {
    const REMOTE: [&str; 10] =
        ["sshfs", "glusterfs", "s3fs", "rclone", "ceph", "davfs", "gcsfuse", "juicefs", "goofys", "moosefs"];
    kind == "virtiofs" || REMOTE.iter().any(|remote| kind == *remote || kind.strip_prefix("fuse.") == Some(remote))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_local() {
        assert_eq!(network_name(rustix::fs::NFS_SUPER_MAGIC as u32), Some("nfs"));
        let (ext4, tmpfs) = (0xef53, 0x0102_1994);
        assert_eq!((network_name(ext4), network_name(tmpfs)), (None, None));
    }

    #[test]
    fn remote_fuse_is_told_from_local() {
        assert!(is_remote_fuse("fuse.sshfs"));
        assert!(is_remote_fuse("virtiofs"));
        assert!(!is_remote_fuse("fuse.fuse-overlayfs"));
        assert!(!is_remote_fuse("fuseblk"));
    }

    #[test]
    fn an_empty_database_beside_a_log_is_damage() {
        let home = tempfile::tempdir().expect("a directory");
        let place = Place::new(home.path()).expect("a fit place");
        assert_eq!(place.find().expect("nothing wrong"), Found::Nothing);
        place.create().expect("a new file");
        assert_eq!(place.find().expect("nothing wrong"), Found::Nothing);
        fs::write(place.log(), "frames").expect("a log");
        assert!(matches!(place.find(), Err(StoreError::Damaged { .. })));
        fs::remove_file(place.database()).expect("removed");
        assert!(matches!(place.find(), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn links_and_directories_are_unfit() {
        let home = tempfile::tempdir().expect("a directory");
        let place = Place::new(home.path()).expect("a fit place");
        fs::create_dir(place.log()).expect("a directory");
        assert!(matches!(place.find(), Err(StoreError::Unfit { .. })));
        fs::remove_dir(place.log()).expect("removed");
        place.create().expect("a new file");
        fs::hard_link(place.database(), home.path().join("second")).expect("a hard link");
        assert!(matches!(place.find(), Err(StoreError::Unfit { .. })));
    }

    #[test]
    fn a_missing_home_is_unfit() {
        let home = tempfile::tempdir().expect("a directory");
        assert!(matches!(Place::new(&home.path().join("absent")), Err(StoreError::Unfit { .. })));
    }
}
