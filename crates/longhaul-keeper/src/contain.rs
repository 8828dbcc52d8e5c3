//! Ending a whole process tree: everything below a root, and every stray that carries the session's marker.
//!
//! The keeper uses it for its own tree, the adopting worker for the tree of a dead keeper. Kills only by handle after
//! comparing who it is, never by number, and never the caller or one of its ancestors.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use longhaul_core::ids::SessionId;
use rustix::process::Signal;

use crate::ancestry::line_of_ancestors;
use crate::layout::SESSION_VARIABLE;
use crate::os;
use crate::process::{Process, signal};

/// How long to go on killing what does not die (a process in an unkillable wait).
const PATIENCE: Duration = Duration::from_secs(10);

/// What the end of a tree came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// How many processes were killed.
    pub killed: u32,
    /// How many were still there when patience ended; 0 is an empty tree, seen twice.
    pub left: u32,
}

/// A process tree to be ended.
#[derive(Debug)]
pub(crate) struct Tree {
    marker: Vec<u8>,
    /// Nothing of the tree was started before this, in the kernel's ticks since boot; none if that is not known.
    not_before: Option<u64>,
    roots: BTreeSet<Process>,
    /// We ourselves and those above us.
    spared: Vec<Process>,
    struck: BTreeSet<Process>,
}

impl Tree {
    /// The tree of a session: `root`, all below it, and all with the marker.
    pub(crate) fn new(session: SessionId, root: Option<Process>) -> Tree {
        Tree {
            marker: format!("{SESSION_VARIABLE}={session}").into_bytes(),
            not_before: root.map(|root| root.start),
            roots: root.into_iter().collect(),
            spared: line_of_ancestors(),
            struck: BTreeSet::new(),
        }
    }

    /// Kills every living member once; returns how many there were.
    pub(crate) fn strike(&mut self) -> io::Result<u32> {
        let members = self.living_members()?;
        // Children of a process that dies are handed to a stranger, so the dying stay roots for the next look.
        self.roots.extend(members.iter().copied());
        for member in &members {
            // A failure (another user's process) shows as a member that is still there.
            if signal(member, Signal::KILL).unwrap_or(false) {
                self.struck.insert(*member);
            }
        }
        Ok(u32::try_from(members.len()).unwrap_or(u32::MAX))
    }

    /// Kills until the tree was empty twice, calling `reap` before each look.
    pub(crate) fn end(&mut self, mut reap: impl FnMut()) -> io::Result<Swept> {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = Duration::from_millis(1);
        let mut empty = 0;
        let mut left = 0;
        while empty < 2 && Instant::now() < deadline {
            reap();
            left = self.strike()?;
            if left == 0 {
                empty += 1;
            } else {
                empty = 0;
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(50));
            }
        }
        reap();
        Ok(Swept { killed: self.killed_besides(None), left })
    }

    /// How many processes were killed so far, not counting `main`.
    pub(crate) fn killed_besides(&self, main: Option<Process>) -> u32 {
        u32::try_from(self.struck.iter().filter(|process| Some(**process) != main).count()).unwrap_or(u32::MAX)
    }

    fn living_members(&self) -> io::Result<Vec<Process>> {
        let all = os::processes()?;
        let mut inside: BTreeSet<u32> =
            all.iter().filter(|seen| self.roots.contains(&seen.process)).map(|seen| seen.process.pid).collect();
        inside.extend(all.iter().filter(|seen| self.is_marked(seen.process)).map(|seen| seen.process.pid));
        // Children may be listed before their parents.
        loop {
            let before = inside.len();
            for seen in &all {
                if inside.contains(&seen.parent) && !self.spared.contains(&seen.process) {
                    inside.insert(seen.process.pid);
                }
            }
            if inside.len() == before {
                break;
            }
        }
        let member =
            |seen: &&os::Seen| seen.alive && inside.contains(&seen.process.pid) && !self.spared.contains(&seen.process);
        Ok(all.iter().filter(member).map(|seen| seen.process).collect())
    }

    fn is_marked(&self, process: Process) -> bool {
        // What the session started was forked after the root, so most of the machine need not be asked.
        self.not_before.is_none_or(|begin| process.start >= begin)
            && !self.spared.contains(&process)
            && os::environment(process.pid)
                .is_some_and(|environment| environment.split(|&byte| byte == 0).any(|entry| entry == self.marker))
    }
}
