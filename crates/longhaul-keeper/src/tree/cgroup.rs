//! A control group (v2) of a session's own, which holds its whole tree whatever the processes do to get away.
//!
//! The keeper makes one and forks into it; keeper and adopter end it. Only where a v2 hierarchy is mounted and our own
//! group in it, or its root, may be written; elsewhere the walk has to do. Never changes any other group.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use longhaul_core::ids::SessionId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::files::open_directory;

const PREFIX: &str = "longhaul-";
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);

/// One session's control group.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
    directory: File,
}

impl Cgroup {
    /// Makes the group of a session; none where that can not be done.
    pub(crate) fn create(session: SessionId, pids_max: u32) -> Option<Cgroup> {
        if cfg!(debug_assertions) && std::env::var_os("LONGHAUL_CONTAIN").is_some_and(|how| how == "walk") {
            return None;
        }
        let path = places(session).into_iter().find(|path| std::fs::create_dir(path).is_ok())?;
        let directory = open_directory(&path).ok()?;
        let group = Cgroup { path, directory };
        // Only there where the controller was handed down to us.
        let _where_there_is_one = group.write("pids.max", &pids_max.to_string());
        Some(group)
    }

    /// Opens the group an identity names; none if it is gone or not the session's.
    pub(crate) fn open(path: &Path, session: SessionId) -> Option<Cgroup> {
        let is_named_after_it = path.file_name().is_some_and(|name| name == name_of(session).as_str());
        let directory = open_directory(path).ok().filter(|_| is_named_after_it)?;
        let is_group = path.join("cgroup.procs").symlink_metadata().is_ok();
        // Whoever is inside would end itself.
        let is_around_us = session_in(&read_or_empty("/proc/self/cgroup")) == Some(session);
        (is_group && !is_around_us).then(|| Cgroup { path: path.to_owned(), directory })
    }

    /// Looks for a session's group in the places where this process would have made one.
    pub(crate) fn find(session: SessionId) -> Option<Cgroup> {
        places(session).iter().find_map(|path| Cgroup::open(path, session))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves a process into it.
    pub(crate) fn admit(&self, pid: u32) -> io::Result<()> {
        self.write("cgroup.procs", &pid.to_string())
    }

    /// The numbers of the processes in it.
    pub(crate) fn members(&self) -> Vec<u32> {
        let listed = std::fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        // Those a namespace hides from us are listed as 0.
        listed.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid != 0).collect()
    }

    /// Kills everything in it and below it at once.
    pub(crate) fn kill(&self) -> io::Result<()> {
        self.write("cgroup.kill", "1")
    }

    /// Whether a process lives in it or below it; a group that is gone has none.
    pub(crate) fn is_populated(&self) -> bool {
        std::fs::read_to_string(self.path.join("cgroup.events"))
            .is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
    }

    /// Waits until it is empty, but no longer than this.
    pub(crate) fn wait_until_empty(&self, longest: Duration) -> bool {
        let deadline = Instant::now() + longest;
        let Ok(events) = File::open(self.path.join("cgroup.events")) else { return true };
        while self.is_populated() {
            if Instant::now() >= deadline {
                return false;
            }
            // Wakes when the file changes; the time limit covers a change between the look and the wait.
            let short = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
            let _looked_at_again = poll(&mut [PollFd::new(&events, PollFlags::PRI)], Some(&short));
        }
        true
    }

    /// Takes the group away; one that is not empty stays.
    pub(crate) fn remove(&self) -> io::Result<()> {
        std::fs::remove_dir(&self.path)
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.path.join(name))?.write_all(text.as_bytes())
    }
}

impl AsFd for Cgroup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Removes groups that nobody came back for: empty, named after some session, and untouched for a long time.
///
/// A session that runs has a process in its group, so none of those is one.
pub(crate) fn remove_forgotten() {
    for parent in group_parents() {
        for entry in std::fs::read_dir(&parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let session = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<SessionId>().ok());
            let age = entry.metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
            if session.is_some() && age.is_some_and(|age| age > FORGOTTEN_AFTER) {
                // The kernel refuses this for a group with a process in it.
                let _in_use = std::fs::remove_dir(entry.path());
            }
        }
    }
}

/// Returns the session whose group a process is in or below, from the text of its `/proc/<pid>/cgroup`.
pub(crate) fn session_in(text: &str) -> Option<SessionId> {
    own_path(text)?.split('/').find_map(|part| part.strip_prefix(PREFIX)?.parse().ok())
}

/// The groups below which a session's could be made: our own and the root of the hierarchy. None where there is none of version 2.
pub fn group_parents() -> Vec<PathBuf> {
    let Some((mounted, root)) = mount_point(&read_or_empty("/proc/self/mountinfo")) else { return Vec::new() };
    let text = read_or_empty("/proc/self/cgroup");
    let own = own_path(&text).and_then(|own| own.strip_prefix(root.trim_end_matches('/')));
    let own = own.map(|own| mounted.join(own.trim_start_matches('/'))).filter(|own| *own != mounted);
    own.into_iter().chain([mounted]).collect()
}

fn name_of(session: SessionId) -> String {
    format!("{PREFIX}{session}")
}

/// Where a session's group could be: below our own group, or below the root of the hierarchy.
fn places(session: SessionId) -> Vec<PathBuf> {
    group_parents().into_iter().map(|parent| parent.join(name_of(session))).collect()
}

fn read_or_empty(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn own_path(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

/// Where the v2 hierarchy is mounted, and which part of it.
fn mount_point(mounts: &str) -> Option<(PathBuf, String)> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, mounted) = (fields.next()?, fields.next()?);
        after.starts_with("cgroup2 ").then(|| (PathBuf::from(mounted), root.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_found_in_hybrid_and_pure_mounts() {
        let hybrid = "30 23 0:25 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                      31 23 0:26 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(mount_point(hybrid), Some(("/sys/fs/cgroup/unified".into(), "/".into())));
        let inside = "31 23 0:26 /user.slice/x /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        assert_eq!(mount_point(inside), Some(("/sys/fs/cgroup".into(), "/user.slice/x".into())));
        assert_eq!(mount_point("30 23 0:25 / /proc rw - proc proc rw\n"), None);
    }

    #[test]
    fn a_process_knows_its_session_by_its_group() {
        let id = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";
        let text = format!("4:memory:/x\n0::/user.slice/longhaul-{id}/deeper\n");
        assert_eq!(session_in(&text).map(|session| session.to_string()).as_deref(), Some(id));
        assert_eq!(session_in("4:memory:/longhaul-x\n0::/\n"), None);
    }
}
