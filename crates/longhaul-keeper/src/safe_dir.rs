//! Reading and writing below a directory that an agent can change under our feet.
//!
//! The worker uses it for everything it touches in a workspace. No name leads outside or through a symbolic link, and
//! only plain files with one link are read or appended to. It never deletes.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path};

use nix::libc;
use rustix::fs::{FileType, Mode, OFlags, fstat, mkdirat};
use rustix::io::Errno;

use crate::files::replace_at;
use crate::os::open_beneath;

/// Why a file below the directory was not touched.
#[derive(Debug, thiserror::Error)]
pub enum BeneathError {
    /// The name is absolute, empty, or has `..` in it.
    #[error("`{name}` is not a plain relative name")]
    BadName {
        /// The name asked for.
        name: String,
    },
    /// The name is a link, pipe, device or directory, or the file has a second name.
    #[error("`{name}` is not a plain file with one link")]
    NotPlain {
        /// The name asked for.
        name: String,
    },
    /// There is more in it than the caller wants.
    #[error("`{name}` is larger than `{cap}` bytes")]
    TooLarge {
        /// The name asked for.
        name: String,
        /// The most the caller takes.
        cap: u64,
    },
    /// The system said no.
    #[error("failed to use `{name}` in the directory")]
    Io {
        /// The name asked for.
        name: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A directory opened once; everything else is reached from the open directory, never again by its path.
#[derive(Debug)]
pub struct Beneath {
    directory: File,
}

impl Beneath {
    /// Opens the directory at a path the caller trusts.
    pub fn open(path: &Path) -> io::Result<Beneath> {
        let directory = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path)?;
        Ok(Beneath { directory })
    }

    /// Opens a file for reading; none if there is no such file.
    pub fn open_file(&self, name: &str) -> Result<Option<File>, BeneathError> {
        match self.open_plain(name, OFlags::RDONLY) {
            Ok(file) => Ok(Some(file)),
            Err(BeneathError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a whole file of at most `cap` bytes; none if there is no such file.
    pub fn read(&self, name: &str, cap: u64) -> Result<Option<Vec<u8>>, BeneathError> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(cap.saturating_add(1)).read_to_end(&mut bytes).map_err(|source| failed(name, source))?;
        if bytes.len() as u64 > cap {
            return Err(BeneathError::TooLarge { name: name.to_owned(), cap });
        }
        Ok(Some(bytes))
    }

    /// Replaces a file as a whole, durably. A link in its place is replaced, not followed.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), BeneathError> {
        let (parent, last) = self.parent_of(name)?;
        replace_at(parent.as_fd(), last, bytes).map_err(|source| failed(name, source))
    }

    /// Appends to a file, making it if it is missing. Not synced.
    pub fn append(&self, name: &str, bytes: &[u8]) -> Result<(), BeneathError> {
        let mut file = self.open_plain(name, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?;
        file.write_all(bytes).map_err(|source| failed(name, source))
    }

    /// Makes one directory with mode 0700; an existing directory is fine, anything else is not.
    pub fn make_dir(&self, name: &str) -> Result<(), BeneathError> {
        let (parent, last) = self.parent_of(name)?;
        match mkdirat(&parent, last, Mode::RWXU) {
            Ok(()) => rustix::fs::fsync(&parent).map_err(|error| failed(name, error.into())),
            Err(Errno::EXIST) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                open_beneath(parent.as_fd(), Path::new(last), flags, Mode::empty())
                    .map(drop)
                    .map_err(|source| failed(name, source))
            }
            Err(error) => Err(failed(name, error.into())),
        }
    }

    fn open_plain(&self, name: &str, flags: OFlags) -> Result<File, BeneathError> {
        check_name(name)?;
        // Not blocking: opening a named pipe would otherwise wait for whoever planted it.
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
        let descriptor = open_beneath(self.directory.as_fd(), Path::new(name), flags, mode)
            .map_err(|source| failed(name, source))?;
        let stat = fstat(&descriptor).map_err(|error| failed(name, error.into()))?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() || stat.st_nlink != 1 {
            return Err(BeneathError::NotPlain { name: name.to_owned() });
        }
        Ok(File::from(descriptor))
    }

    fn parent_of<'name>(&self, name: &'name str) -> Result<(OwnedFd, &'name OsStr), BeneathError> {
        check_name(name)?;
        let path = Path::new(name);
        let last = path.file_name().ok_or_else(|| BeneathError::BadName { name: name.to_owned() })?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => {
                open_beneath(self.directory.as_fd(), parent, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
            }
            _ => self.directory.try_clone().map(OwnedFd::from),
        };
        Ok((parent.map_err(|source| failed(name, source))?, last))
    }
}

fn check_name(name: &str) -> Result<(), BeneathError> {
    let plain = Path::new(name).components().all(|component| matches!(component, Component::Normal(_)));
    if plain && !name.is_empty() && !name.ends_with('/') {
        Ok(())
    } else {
        Err(BeneathError::BadName { name: name.to_owned() })
    }
}

fn failed(name: &str, source: io::Error) -> BeneathError {
    match source.raw_os_error() {
        // What links, planted pipes and devices answer to a careful open.
        Some(libc::ELOOP | libc::ENXIO | libc::EXDEV | libc::ENOTDIR) => {
            BeneathError::NotPlain { name: name.to_owned() }
        }
        _ => BeneathError::Io { name: name.to_owned(), source },
    }
}
