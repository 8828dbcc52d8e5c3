//! Writing files so that a crash at any moment leaves the old or the new content, and private directories.
//!
//! The one place for this: keeper, worker and workspace writes all come here. Only `replace_own` follows a symbolic link in
//! the last component, and nothing deletes what it did not make itself.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::libc;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// Replaces the file `name` in `directory` as a whole, durably, with mode 0600.
pub fn replace(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    replace_at(open_directory(directory)?.as_fd(), OsStr::new(name), bytes)
}

/// Replaces a person's own file as a whole, durably. It may be behind a symbolic link and keeps its permissions; its directory is created.
pub fn replace_own(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = match path.canonicalize() {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        Err(error) => return Err(error),
    };
    let (Some(directory), Some(name)) = (place.parent(), place.file_name().and_then(OsStr::to_str)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    std::fs::create_dir_all(directory)?;
    let before = if_exists(place.metadata())?;
    replace(&directory.canonicalize()?, name, bytes)?;
    before.map_or(Ok(()), |before| std::fs::set_permissions(&place, before.permissions()))
}

/// Writes the file `name` in `directory` as a whole, durably, and refuses if there is one already.
///
/// The caller holds the lock that makes it the only writer of this directory.
pub fn write_once(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let directory = open_directory(directory)?;
    match if_exists(statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW))? {
        None => replace_at(directory.as_fd(), OsStr::new(name), bytes),
        Some(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
    }
}

/// What was found; none if there is nothing of that name.
pub fn if_exists<T>(found: Result<T, impl Into<io::Error>>) -> io::Result<Option<T>> {
    match found.map_err(Into::into) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether this open file is what has a name now. A link of that name is another file.
pub fn is_at(file: &File, path: &Path) -> bool {
    let identity = |meta: io::Result<Metadata>| meta.ok().map(|meta| (meta.dev(), meta.ino()));
    let open = identity(file.metadata());
    open.is_some() && open == identity(path.symlink_metadata())
}

/// Whether an error means that there is no room on the disk now and may be again.
pub fn wants_room(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
}

/// Whether an error means that memory, processes or descriptors have run out for now.
pub fn wants_resources(error: &io::Error) -> bool {
    let scarce = [Errno::NOMEM, Errno::AGAIN, Errno::MFILE, Errno::NFILE];
    Errno::from_io_error(error).is_some_and(|errno| scarce.contains(&errno))
}

/// Why a directory is not ours to keep secrets in.
#[derive(Debug, thiserror::Error)]
pub enum PrivateDirError {
    /// The path is a symbolic link or not a directory.
    #[error("`{path}` is a symbolic link or a file, not a directory")]
    NotADirectory {
        /// The path asked for.
        path: std::path::PathBuf,
    },
    /// It belongs to somebody else.
    #[error("`{path}` belongs to user `{owner}`, not to user `{us}`")]
    ForeignOwner {
        /// The path asked for.
        path: std::path::PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who we are.
        us: u32,
    },
    /// The system said no.
    #[error("failed to create private directory `{path}`")]
    Io {
        /// The path asked for.
        path: std::path::PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Makes a directory with mode 0700, or takes an existing one of ours and closes it to others.
///
/// The parent must exist. Durable on return.
pub fn create_private_dir(path: &Path) -> Result<(), PrivateDirError> {
    let io = |source: io::Error| PrivateDirError::Io { path: path.to_owned(), source };
    match mkdirat(rustix::fs::CWD, path, Mode::RWXU) {
        Ok(()) => {}
        Err(Errno::EXIST) => reclaim(path, 0o700),
        Err(error) => return Err(io(error.into())),
    }
    let directory = match open_directory(path) {
        Ok(directory) => directory,
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR)) => {
            return Err(PrivateDirError::NotADirectory { path: path.to_owned() });
        }
        Err(error) => return Err(io(error)),
    };
    let stat = fstat(&directory).map_err(|error| io(error.into()))?;
    let us = rustix::process::geteuid().as_raw();
    if stat.st_uid != us {
        return Err(PrivateDirError::ForeignOwner { path: path.to_owned(), owner: stat.st_uid, us });
    }
    fchmod(&directory, Mode::RWXU).map_err(|error| io(error.into()))?;
    sync_parent(path).map_err(io)
}

/// Gives the owner access again to a file or directory of ours that an agent of the same user has closed. What is open, foreign or gone
/// stays as it is.
pub(crate) fn reclaim(path: &Path, mode: u32) {
    let Ok(found) = path.symlink_metadata() else { return };
    let is_ours = found.uid() == rustix::process::geteuid().as_raw() && (found.is_dir() || found.is_file());
    if is_ours && found.mode() & mode != mode {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).ok();
    }
}

/// Opens a directory itself, never what a symbolic link in its place points at.
pub fn open_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)
}

/// Replaces a file in an open directory as a whole, durably.
pub(crate) fn replace_at(directory: BorrowedFd<'_>, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
    let (temporary, mut file) = create_temporary(directory, name)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| Ok(renameat(directory, &temporary, directory, name)?));
    if let Err(error) = placed {
        // The file is ours by its exclusive creation; if even this fails it stays behind as rubbish, never as content.
        let _best_effort = unlinkat(directory, &temporary, AtFlags::empty());
        return Err(error);
    }
    Ok(rustix::fs::fsync(directory)?)
}

fn create_temporary(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<(OsString, File)> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{count}.tmp", std::process::id()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(directory, &temporary, flags, Mode::RUSR | Mode::WUSR) {
            Ok(descriptor) => return Ok((temporary, File::from(descriptor))),
            // Left behind by an earlier process of the same number.
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(parent)?.sync_all()
}
