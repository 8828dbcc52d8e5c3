//! Random death: 200 workers, keepers, agents and checks are killed in the middle of whatever they do, while several tasks run at once.
//!
//! Afterwards every task is verified and the independent checker finds nothing. `LONGHAUL_KILL_SEED` repeats the choices of a run
//! that failed; what the victims were doing at that moment no seed can repeat.

use std::io::Write as _;
use std::time::{Duration, SystemTime};

use crate::checker;
use crate::env::TestEnv;
use crate::processes::{Process, is_free};

/// Kills in one home, after which everything comes to its end and is checked.
const BATCH: usize = 50;
const BATCHES: u64 = 4;
/// Tasks at once.
const TASKS: usize = 5;

/// Whom to kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Worker,
    Keeper,
    Agent,
    Check,
}

const VICTIMS: [Victim; 4] = [Victim::Worker, Victim::Keeper, Victim::Agent, Victim::Check];

/// A small generator of our own (splitmix64): the same seed gives the same choices everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() { None } else { Some(from[self.roll(from.len())]) }
    }
}

fn seed() -> u64 {
    let given = std::env::var("LONGHAUL_KILL_SEED").ok();
    given.map_or_else(|| u64::from(std::process::id()) << 20 | 0x5eed, |text| text.parse().expect("a number"))
}

/// Tells the seed of every run, past the capture of the test harness: a run that hangs or is killed has to name it too.
fn tell(seed: u64) {
    let line = format!("LONGHAUL_KILL_SEED={seed} makes the same choices again\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// A home with tasks that take a while: several sessions, two checks, much patience.
struct Scene {
    env: TestEnv,
    dice: Dice,
    submitted: usize,
    killed: [usize; VICTIMS.len()],
}

impl Scene {
    fn new(seed: u64) -> Scene {
        let env = TestEnv::new()
            .var("DEMO_STEPS", "2")
            .var("DEMO_STEPS_PER_SESSION", "1")
            .var("DEMO_PACE_MS", "60")
            .var("LONGHAUL_LIMITS_BACKOFF", "10ms")
            .var("LONGHAUL_LIMITS_BACKOFF_CAP", "40ms")
            .var("LONGHAUL_LIMITS_ATTEMPTS", "100")
            .var("LONGHAUL_LIMITS_IDLE_SESSIONS", "1000")
            .var("LONGHAUL_VERIFY_FIX_ATTEMPTS", "100");
        Scene { env, dice: Dice(seed), submitted: 0, killed: [0; VICTIMS.len()] }
    }

    fn tasks(&self, filter: &str) -> Vec<String> {
        let Some(database) = self.env.database() else { return Vec::new() };
        let mut statement = database.prepare(&format!("SELECT name FROM tasks WHERE {filter}")).unwrap();
        let found = statement.query_map([], |row| row.get(0)).unwrap();
        found.collect::<Result<Vec<String>, _>>().unwrap()
    }

    /// Keeps so many tasks running; a dead worker's ones count, because somebody will take them.
    fn top_up(&mut self) {
        while self.tasks("final = 0").len() < TASKS {
            self.submitted += 1;
            let name = format!("task-{}", self.submitted);
            let place = self.env.path().join(&name);
            std::fs::create_dir(&place).unwrap();
            let place = place.to_str().unwrap();
            let more = ["--name", &name, "--workspace", place, "--check", "sleep 0.3", "--check", "sleep 0.2"];
            // The worker may be killed before it answers; then nothing was made, or the task is there and found.
            self.env.run(&[&["run", "-d", "Outlive it"], &more[..]].concat());
        }
    }

    fn workers(&self) -> Vec<Process> {
        let entries = std::fs::read_dir(self.env.home().join("workers")).into_iter().flatten().flatten();
        let held = entries.map(|entry| entry.path()).filter(|path| !is_free(path));
        let texts = held.filter_map(|path| std::fs::read_to_string(path).ok());
        texts.filter_map(|text| Process::read(&serde_json::from_str(&text).ok()?)).collect()
    }

    /// Keepers, agents or checks of the sessions that live by the store's word.
    fn of_sessions(&self, victim: Victim) -> Vec<Process> {
        let (keeper, verifying) = match victim {
            Victim::Keeper => (true, "live_session IS NOT NULL"),
            Victim::Agent => (false, "live_session IS NOT NULL AND state <> 'verifying'"),
            Victim::Check => (false, "state = 'verifying'"),
            Victim::Worker => return self.workers(),
        };
        let Some(database) = self.env.database() else { return Vec::new() };
        let mut statement = database.prepare(&format!("SELECT live_session FROM tasks WHERE {verifying}")).unwrap();
        let sessions = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let found = sessions.filter_map(|session| self.env.identity(&session.ok()?));
        found.map(|(its_keeper, child)| if keeper { its_keeper } else { child }).collect()
    }

    /// Kills somebody, if there is somebody of the kind the dice chose.
    fn kill(&mut self) {
        let kind = self.dice.roll(VICTIMS.len());
        let mut candidates = self.of_sessions(VICTIMS[kind]);
        candidates.retain(|process| process.is_alive());
        if let Some(victim) = self.dice.pick(&candidates) {
            victim.signal(nix::sys::signal::Signal::SIGKILL);
            self.killed[kind] += 1;
        }
    }

    fn kills(&self) -> usize {
        self.killed.iter().sum()
    }

    /// Two workers at least, so that one may die while the other adopts.
    fn staff(&self) {
        for _ in self.workers().len()..2 {
            self.env.ok(&["worker", "--detach"]);
        }
    }

    /// Lets everything come to its end; a task that a person would have to help by now is helped.
    fn conclude(&self) {
        self.staff();
        for task in self.tasks("1 = 1") {
            while self.env.settle(&task) != "done" {
                assert_eq!(self.env.state(&task), "needs_help", "{}", self.env.ok(&["events", &task]));
                self.env.ok(&["resume", &task, "--reason", "it was killed too often"]);
            }
            assert!(self.env.task(&task)["state"]["verdict"]["not_verified"].is_object());
        }
        self.env.wait_until_empty();
        self.age_locks_without_a_name();
        self.env.ok(&["worker", "--only"]);
        checker::assert_clean(&self.env);
    }

    /// A worker killed before its lock had a name leaves a file that is swept when it is a minute old; here it is older at once.
    fn age_locks_without_a_name(&self) {
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        let entries = std::fs::read_dir(self.env.home().join("workers")).unwrap().flatten().map(|entry| entry.path());
        // Sockets are not opened; the sweep removes them with the lock of their worker.
        for lock in entries.filter(|path| path.extension().is_some_and(|extension| extension == "lock")) {
            let file = std::fs::File::options().write(true).open(lock).unwrap();
            file.set_modified(long_ago).unwrap();
        }
    }
}

#[test]
fn two_hundred_random_kills_break_no_invariant() {
    let seed = seed();
    tell(seed);
    let mut killed = [0; VICTIMS.len()];
    for batch in 0..BATCHES {
        let mut scene = Scene::new(seed.wrapping_add(batch));
        while scene.kills() < BATCH {
            scene.top_up();
            scene.staff();
            scene.kill();
            let pause = scene.dice.roll(200);
            // Not to wait for anything: the next victim is to be met somewhere else in its work.
            std::thread::sleep(Duration::from_millis(u64::try_from(pause).unwrap()));
        }
        scene.conclude();
        killed.iter_mut().zip(scene.killed).for_each(|(sum, more)| *sum += more);
    }
    assert_eq!(killed.iter().sum::<usize>(), BATCH * 4);
    assert!(killed.iter().all(|kills| *kills >= 10), "every kind was killed: {killed:?} of {VICTIMS:?}");
}

#[test]
fn the_control_the_same_seed_gives_the_same_choices_and_another_one_others() {
    let rolls = |seed: u64| -> Vec<usize> {
        let mut dice = Dice(seed);
        (0..20).map(|_| dice.roll(6)).collect()
    };
    assert_eq!(rolls(7), rolls(7));
    assert_ne!(rolls(7), rolls(8));
    assert!(rolls(7).iter().all(|roll| *roll < 6));
}
