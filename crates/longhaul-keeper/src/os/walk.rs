//! Opening a path below a directory one component at a time, never through a symbolic link.
//!
//! The portable way; Linux uses it only where the kernel has no `openat2`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags, openat};

/// Opens `path` below `directory` with every component checked.
pub(super) fn open_step_by_step(
    directory: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let mut below: Option<OwnedFd> = None;
    let mut components = path.components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let here = below.as_ref().map_or(directory, AsFd::as_fd);
        if components.peek().is_none() {
            return Ok(openat(here, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode)?);
        }
        let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        below = Some(openat(here, name, step, Mode::empty())?);
    }
    Err(io::Error::from(io::ErrorKind::InvalidInput))
}
