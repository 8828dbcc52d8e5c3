//! Ending a whole process tree: everything in its control group, everything below a root, and every stray that carries the
//! session's marker.
//!
//! The keeper uses it for its own tree, the adopting worker for the tree of a dead keeper. Kills only by the group or by
//! handle after comparing who it is, never by number, and never the caller or one of its ancestors.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use longhaul_core::ids::SessionId;
use rustix::process::Signal;

use crate::contract::Containment;
use crate::layout::SESSION_VARIABLE;
use crate::os;
use crate::tree::ancestry::line_of_ancestors;
use crate::tree::cgroup::Cgroup;
use crate::tree::process::{Process, signal};

/// How long to keep killing what does not die (a process in an unkillable wait).
const PATIENCE: Duration = Duration::from_secs(10);

/// How long somebody may take to start a program before it counts as a stranger. It takes moments, also on a busy machine.
const STARTING: Duration = Duration::from_secs(2);

/// How often in a row children are looked for.
const CHASES: u32 = 20;

/// The result of ending a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// How many processes were killed.
    pub killed: u32,
    /// How many were still there when patience ended; 0 is an empty tree.
    pub left: u32,
}

/// What the caller's own children show about a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kin {
    /// The caller adopts the tree's orphans and has no child: nothing of it can be left but what somebody else started.
    None,
    /// The caller adopts the tree's orphans and has living children: it is not empty.
    Some,
    /// Nothing: the tree is not below the caller.
    Unknown,
}

/// Whether a process carries the session's marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Carried,
    Absent,
    /// It is starting a program, and the kernel shows nothing of its environment meanwhile.
    Unknown,
}

/// One look at all processes.
struct Members {
    living: Vec<Process>,
    /// Somebody may be a member, which the next look can tell.
    is_open: bool,
}

/// A process tree to be ended.
#[derive(Debug)]
pub(crate) struct Tree {
    cgroup: Option<Cgroup>,
    marker: Vec<u8>,
    /// Nothing of the tree was started before this, in the kernel's ticks since boot; none if that is not known.
    not_before: Option<u64>,
    roots: BTreeSet<Process>,
    struck: BTreeSet<Process>,
}

impl Tree {
    /// The tree of a session: its group if it has one, `root`, all below it, and all with the marker.
    pub(crate) fn new(session: SessionId, root: Option<Process>, cgroup: Option<Cgroup>) -> Tree {
        Tree {
            cgroup,
            marker: format!("{SESSION_VARIABLE}={session}").into_bytes(),
            not_before: root.map(|root| root.start),
            roots: root.into_iter().collect(),
            struck: BTreeSet::new(),
        }
    }

    /// How it is held together.
    pub(crate) fn containment(&self) -> Containment {
        if self.cgroup.is_some() { Containment::Cgroup } else { Containment::Walk }
    }

    /// Kills every living member once; returns how many there were outside of the group.
    pub(crate) fn strike(&mut self) -> io::Result<u32> {
        self.strike_members().map(|members| count(&members.living))
    }

    fn strike_members(&mut self) -> io::Result<Members> {
        self.strike_group();
        let members = self.members()?;
        // Children of a process that dies are handed to a stranger, so the dying stay roots for the next look.
        self.roots.extend(members.living.iter().copied());
        for member in &members.living {
            // A failure (another user's process) shows as a member that is still there.
            if signal(member, Signal::KILL).unwrap_or(false) {
                self.struck.insert(*member);
            }
        }
        Ok(members)
    }

    /// Kills until the tree is empty, calling `reap` before each walk through all processes: empty once if no kin is left, else twice.
    ///
    /// No walk is needed where an empty group and a caller without children prove it: whatever leaves the group is still below the
    /// caller, which adopts orphans.
    pub(crate) fn end(&mut self, mut reap: impl FnMut() -> Kin) -> io::Result<Swept> {
        let begin = Instant::now();
        let deadline = begin + PATIENCE;
        let mut pause = Duration::from_millis(1);
        let mut empty = 0;
        let mut left = 0;
        while empty < 2 && Instant::now() < deadline {
            self.strike_group();
            let group_is_empty =
                self.cgroup.as_ref().is_none_or(|group| group.wait_until_empty(Duration::from_millis(50)));
            let kin = self.chase_children(&mut reap);
            if self.cgroup.is_some() && group_is_empty && kin == Kin::None {
                left = 0;
                break;
            }
            let members = self.strike_members()?;
            left = count(&members.living).max(u32::from(kin == Kin::Some)).max(u32::from(!group_is_empty));
            if left == 0 && kin == Kin::None {
                empty = 2;
            } else if left == 0 && (!members.is_open || begin.elapsed() > STARTING) {
                empty += 1;
            } else {
                empty = 0;
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(50));
            }
        }
        reap();
        left += self.leave_group();
        Ok(Swept { killed: self.killed_besides(None), left })
    }

    /// Kills the caller's own children a few times over: what keeps restarting itself can outrun a walk through all
    /// processes, but not this.
    fn chase_children(&mut self, reap: &mut impl FnMut() -> Kin) -> Kin {
        let mut kin = reap();
        for _ in 0..CHASES {
            if kin != Kin::Some {
                break;
            }
            for process in os::children().into_iter().filter_map(|pid| os::process(pid).ok().flatten()) {
                if process.alive && signal(&process.process, Signal::KILL).unwrap_or(false) {
                    self.struck.insert(process.process);
                }
            }
            kin = reap();
        }
        kin
    }

    fn strike_group(&mut self) {
        if let Some(group) = self.cgroup.as_ref().filter(|group| group.is_populated()) {
            self.struck.extend(members_of(group));
            // An old kernel can not; then the walk does it.
            let _walked_instead = group.kill();
        }
    }

    /// Takes the group away once it is empty; returns how many are in it still.
    fn leave_group(&mut self) -> u32 {
        let Some(group) = &self.cgroup else { return 0 };
        if group.is_populated() {
            return u32::try_from(group.members().len()).unwrap_or(u32::MAX).max(1);
        }
        // A group below it that the program made and left keeps it there, empty.
        let _stays_empty = group.remove();
        0
    }

    /// How many processes were killed so far, not counting `main`.
    pub(crate) fn killed_besides(&self, main: Option<Process>) -> u32 {
        u32::try_from(self.struck.iter().filter(|process| Some(**process) != main).count()).unwrap_or(u32::MAX)
    }

    /// How much of the processors the tree has used, with the children that it and the caller waited for. Nothing is lost when one
    /// of them ends: then it counts for whoever waits for it.
    pub(crate) fn processor_time(&self) -> io::Result<Duration> {
        let members = self.living_members()?.into_iter().filter_map(|member| os::processor_time(member.pid));
        Ok(members.sum::<Duration>() + os::processor_time_of_children())
    }

    /// Everyone of the tree who lives.
    pub(crate) fn living_members(&self) -> io::Result<Vec<Process>> {
        self.members().map(|members| members.living)
    }

    fn members(&self) -> io::Result<Members> {
        let all = os::processes()?;
        // We ourselves and those above us.
        let spared = line_of_ancestors();
        let marks: Vec<Mark> = all.iter().map(|seen| self.mark(seen, &spared)).collect();
        let is_in = |(seen, mark): (&os::Seen, &Mark)| *mark == Mark::Carried || self.roots.contains(&seen.process);
        let mut inside: BTreeSet<u32> =
            all.iter().zip(&marks).filter(|pair| is_in(*pair)).map(|(seen, _)| seen.process.pid).collect();
        // Children may be listed before their parents.
        loop {
            let before = inside.len();
            for seen in &all {
                if inside.contains(&seen.parent) && !spared.contains(&seen.process) {
                    inside.insert(seen.process.pid);
                }
            }
            if inside.len() == before {
                break;
            }
        }
        let member =
            |seen: &&os::Seen| seen.alive && inside.contains(&seen.process.pid) && !spared.contains(&seen.process);
        let living = all.iter().filter(member).map(|seen| seen.process).collect();
        Ok(Members { living, is_open: marks.contains(&Mark::Unknown) })
    }

    fn mark(&self, seen: &os::Seen, spared: &[Process]) -> Mark {
        let process = seen.process;
        // What the session started was forked after the root, so most of the machine need not be asked.
        if self.not_before.is_some_and(|begin| process.start < begin) || spared.contains(&process) {
            return Mark::Absent;
        }
        match os::environment(process.pid) {
            Some(environment) if environment.split(|&byte| byte == 0).any(|entry| entry == self.marker) => {
                Mark::Carried
            }
            Some(environment) if environment.is_empty() && seen.alive && os::is_starting(process.pid) => Mark::Unknown,
            Some(_) | None => Mark::Absent,
        }
    }
}

fn count(processes: &[Process]) -> u32 {
    u32::try_from(processes.len()).unwrap_or(u32::MAX)
}

fn members_of(group: &Cgroup) -> impl Iterator<Item = Process> {
    let seen = group.members().into_iter().filter_map(|pid| os::process(pid).ok().flatten());
    seen.filter(|seen| seen.alive).map(|seen| seen.process)
}
