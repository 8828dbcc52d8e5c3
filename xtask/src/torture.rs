//! `cargo xtask torture`: random signals to workers, keepers, agents, an agent's child, checks and git while tasks run, and a checker of its
//! own that looks at what came of it. Everything stays below one temporary directory, bounded in time and number.
//!
//! The seed repeats the choices of a run; what the victims were doing at that moment no seed can repeat.

mod evidence;
mod processes;
mod scene;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::repository::{Outcome, Repository};
use evidence::Evidence;
use processes::{Kind, Process, VICTIMS};
use scene::{Child, Scene};

/// Unfinished tasks at once, and tasks in all.
const AT_ONCE: usize = 6;
const IN_ALL: usize = 3000;
/// Workers at once, at most.
const WORKERS: usize = 3;
/// How long a victim of a kind is looked for.
const LOOK_FOR: Duration = Duration::from_millis(500);
/// How long everything has to come to its end once nobody is signalled any more.
const TO_THE_END: Duration = Duration::from_secs(300);
/// A user without rights, where root asks for an ordinary one.
const NOBODY: u32 = 65534;
const SIGNALS: [(&str, Signal); 4] =
    [("KILL", Signal::KILL), ("TERM", Signal::TERM), ("INT", Signal::INT), ("STOP", Signal::STOP)];

/// What was asked for.
struct Wishes {
    minutes: u64,
    seed: u64,
    user: Option<u32>,
}

pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Outcome<ExitCode> {
    let Some(wishes) = Wishes::read(arguments) else {
        let problem = "torture takes --minutes N, --seed S and --as-user (an ordinary user, for root)";
        return Ok(crate::usage(problem));
    };
    println!("torture: seed {} for {} minutes", wishes.seed, wishes.minutes);
    Ok(torture(repository, &wishes)?)
}

impl Wishes {
    fn read(arguments: &[String]) -> Option<Wishes> {
        let mut wishes = Wishes { minutes: 10, seed: u64::from(std::process::id()), user: None };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--minutes" => wishes.minutes = words.next()?.parse().ok()?,
                "--seed" => wishes.seed = words.next()?.parse().ok()?,
                "--as-user" => wishes.user = Some(NOBODY),
                _ => return None,
            }
        }
        Some(wishes)
    }
}

fn torture(repository: &Repository, wishes: &Wishes) -> io::Result<ExitCode> {
    if !repository.cargo(&["build", "--quiet", "--package", "longhaul"]).status()?.success() {
        return Err(io::Error::other("the binary does not build"));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository.root().join("target"), Into::into);
    let mut run = Run::new(&target.join("debug/longhaul"), wishes)?;
    // Whatever stops it, the end is judged, and what is wrong is kept.
    let suffered = run.suffer(wishes.minutes).and_then(|()| run.conclude());
    run.complaints.extend(suffered.err().map(|error| error.to_string()));
    run.report(wishes)
}

/// A run and what it did so far.
struct Run {
    scene: Scene,
    seed: u64,
    dice: Dice,
    submitted: usize,
    acknowledged: BTreeSet<String>,
    /// By signal and by victim.
    sent: [[usize; VICTIMS.len()]; SIGNALS.len()],
    stopped: Vec<JoinHandle<()>>,
    /// Tasks that were killed too often for their own patience, and resumed.
    helped: usize,
    /// By family, the sessions it had when its limit was raised.
    raised: BTreeMap<String, usize>,
    complaints: Vec<String>,
}

impl Run {
    fn new(binary: &Path, wishes: &Wishes) -> io::Result<Run> {
        let scene = Scene::new(binary, wishes.user)?;
        let contained = contained_by_group(&scene)?;
        if contained {
            scene.choose(Child::Scrubbed)?;
        }
        println!("containment: {}", if contained { "control group" } else { "walk, no control group" });
        Ok(Run {
            scene,
            seed: wishes.seed,
            dice: Dice(wishes.seed),
            submitted: 0,
            acknowledged: BTreeSet::new(),
            sent: [[0; VICTIMS.len()]; SIGNALS.len()],
            stopped: Vec::new(),
            helped: 0,
            raised: BTreeMap::new(),
            complaints: Vec::new(),
        })
    }

    fn suffer(&mut self, minutes: u64) -> io::Result<()> {
        for minute in 1..=minutes {
            let until = Instant::now() + Duration::from_secs(60);
            while Instant::now() < until {
                self.step()?;
            }
            self.summary(&format!("minute {minute}"))?;
        }
        Ok(())
    }

    /// One round: enough tasks, enough workers, some signals.
    fn step(&mut self) -> io::Result<()> {
        let states = self.states()?;
        self.help(&states)?;
        self.submit(states.iter().filter(|(_, state)| state != "done").count())?;
        self.staff()?;
        for _ in 0..5 {
            self.signal();
            // Not to wait for anything: the next victim is to be met somewhere else in its work.
            thread::sleep(Duration::from_millis(self.dice.roll(400) as u64));
        }
        Ok(())
    }

    fn submit(&mut self, unfinished: usize) -> io::Result<()> {
        for _ in unfinished..AT_ONCE.min(unfinished + IN_ALL - self.submitted) {
            self.submitted += 1;
            let name = tasks::name(self.seed, self.submitted as u64);
            // A worker that was killed before it answered has acknowledged nothing.
            if tasks::submit(&self.scene, &name)?.status.success() {
                self.acknowledged.insert(name);
            }
        }
        Ok(())
    }

    fn staff(&mut self) -> io::Result<()> {
        let workers = self.scene.processes().iter().filter(|process| process.kind == Kind::Worker).count();
        // Rolled in any case: how many rolls there were must not depend on what the victims do.
        let is_due = self.dice.roll(4) == 0;
        if workers == 0 || (workers < WORKERS && is_due) {
            self.scene.longhaul(&["worker", "-d"])?;
        }
        Ok(())
    }

    /// Signals somebody of a kind that the dice choose, if there is one. What is stopped is continued a little later, whatever else
    /// happens meanwhile.
    fn signal(&mut self) {
        let kind = self.dice.roll(VICTIMS.len());
        let candidates = self.candidates(VICTIMS[kind]);
        // More than half are killed; the others share the rest.
        let signal = [0, 0, 0, 0, 1, 2, 3][self.dice.roll(7)];
        let pause = Duration::from_millis(200 + self.dice.roll(1500) as u64);
        let Some(victim) = candidates.get(self.dice.roll(candidates.len().max(1))).cloned() else { return };
        if !victim.signal(SIGNALS[signal].1) {
            return;
        }
        self.sent[signal][kind] += 1;
        if SIGNALS[signal].1 == Signal::STOP {
            self.stopped.push(thread::spawn(move || {
                thread::sleep(pause);
                victim.signal(Signal::CONT);
            }));
        }
    }

    /// The processes of a kind. A git is gone in a moment, so they are looked for again and again.
    fn candidates(&self, kind: Kind) -> Vec<Process> {
        let until = Instant::now() + LOOK_FOR;
        loop {
            let mut found = self.scene.processes();
            found.retain(|process| process.kind == kind);
            if !found.is_empty() || Instant::now() > until {
                return found;
            }
        }
    }

    /// Does what a person would for tasks that were killed too often for their own patience or for their family's limit.
    fn help(&mut self, states: &[(String, String)]) -> io::Result<()> {
        for (name, state) in states {
            if state == "blocked" {
                let why = self.scene.longhaul(&["why", name])?;
                self.complaints.push(format!("blocked: {}", String::from_utf8_lossy(&why.stdout).trim()));
            }
            if state == "stopped" {
                self.raise(tasks::head(name))?;
            }
            if ["blocked", "needs_help", "stopped"].contains(&state.as_str()) {
                self.helped += 1;
                self.scene.longhaul(&["resume", name, "--max-sessions", "none", "--reason", "killed too often"])?;
            }
        }
        Ok(())
    }

    /// Lifts the limit of a family. What it had until then is judged in the end.
    fn raise(&mut self, head: &str) -> io::Result<()> {
        if !self.raised.contains_key(head) {
            self.raised.insert(head.to_owned(), evidence::sessions_of(head, &self.scene.text("ledger")));
            self.scene.longhaul(&["edit", head, "--max-sessions", "none"])?;
        }
        Ok(())
    }

    /// Lets everything come to its end.
    fn conclude(&mut self) -> io::Result<()> {
        self.stopped.drain(..).for_each(|stopped| drop(stopped.join()));
        let deadline = Instant::now() + TO_THE_END;
        loop {
            let mut states = self.states()?;
            states.retain(|(_, state)| state != "done");
            self.help(&states)?;
            let left = self.scene.processes();
            if (states.is_empty() && left.is_empty()) || Instant::now() > deadline {
                return Ok(());
            }
            if left.is_empty() {
                self.scene.longhaul(&["worker", "-d"])?;
            }
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn states(&self) -> io::Result<Vec<(String, String)>> {
        let tasks = self.scene.json(&["list", "--all"])?["tasks"].take();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        Ok(tasks.as_array().into_iter().flatten().map(|task| (text(&task["name"]), text(&task["state"]))).collect())
    }

    fn signals(&self) -> usize {
        self.sent.iter().flatten().sum()
    }

    fn summary(&self, when: &str) -> io::Result<()> {
        let states = self.states()?;
        let done = states.iter().filter(|(_, state)| state == "done").count();
        let [sessions, seen] = ["ledger", "seen"].map(|name| self.scene.text(name).lines().count());
        let (tasks, signals) = (states.len(), self.signals());
        println!("{when}: {tasks} tasks, {done} done, {sessions} sessions, {signals} signals, {seen} complaints");
        Ok(())
    }

    fn report(mut self, wishes: &Wishes) -> io::Result<ExitCode> {
        let gathered = Evidence::gather(&self.scene).and_then(|gathered| self.summary("end").map(|()| gathered));
        let gathered = gathered.unwrap_or_else(|error| {
            self.complaints.push(format!("the end cannot be looked at: {error}"));
            Evidence::default()
        });
        println!("\n{:>8} {}", "", VICTIMS.map(|kind| format!("{:>8}", format!("{kind:?}"))).concat());
        for ((name, _), counts) in SIGNALS.iter().zip(&self.sent) {
            println!("{name:>8} {}", counts.map(|count| format!("{count:>8}")).concat());
        }
        self.acknowledged.extend(self.scene.text("children").lines().map(str::to_owned));
        println!(
            "\nacknowledged {}, helped {}, families at their limit {}",
            self.acknowledged.len(),
            self.helped,
            self.raised.len()
        );
        let signals = self.signals();
        let evidence = Evidence {
            acknowledged: self.acknowledged,
            raised: self.raised,
            signals,
            on_the_way: self.complaints,
            ..gathered
        };
        let violations = evidence.violations();
        println!("violations {}", violations.len());
        if violations.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        violations.iter().for_each(|violation| println!("  {violation}"));
        println!("seed {}, evidence in {}", wishes.seed, self.scene.keep().display());
        Ok(ExitCode::FAILURE)
    }
}

/// Whether a control group holds each session, by the word of `doctor`.
fn contained_by_group(scene: &Scene) -> io::Result<bool> {
    let found = scene.json(&["doctor"])?;
    Ok(found.to_string().contains("by control group"))
}

/// A small generator (splitmix64): the same seed gives the same choices everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap_or(0)
    }
}
