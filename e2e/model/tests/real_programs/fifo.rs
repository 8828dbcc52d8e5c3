//! Named pipes through which a tool's command tells that it runs, and is let go again.
//! They are events, so no test has to look again and again.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};

pub(crate) struct Fifo {
    path: PathBuf,
    /// Both ends, so that nobody who opens one has to wait; dropped, it is the end of the file for those who read.
    ends: File,
}

impl Fifo {
    pub(crate) fn make(directory: &Path, name: &str) -> Self {
        let path = directory.join(name);
        let made = Command::new("mkfifo").arg(&path).status().expect("the system has mkfifo");
        assert!(made.success(), "{}", path.display());
        let ends = open(&path, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).expect("a pipe");
        Self { path, ends: File::from(ends) }
    }

    pub(crate) fn wait_for_words(&self, patience: Duration) {
        let mut watched = [PollFd::new(&self.ends, PollFlags::IN)];
        let patience = Timespec::try_from(patience).expect("a short time");
        let ready = poll(&mut watched, Some(&patience)).expect("a pipe can be watched");
        assert_eq!(ready, 1, "nothing came through `{}`", self.path.display());
        let mut words = [0; 64];
        assert!((&self.ends).read(&mut words).expect("there is something") > 0, "`{}`", self.path.display());
    }
}
