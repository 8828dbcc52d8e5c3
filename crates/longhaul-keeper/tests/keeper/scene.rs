//! A home in a temporary directory, sessions in it, and ways to wait for what really happened.
//!
//! Used by all tests of the keeper. Whatever a failing test leaves behind is killed when its scene is dropped.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use longhaul_core::ids::SessionId;
use longhaul_core::time::Time;
use longhaul_keeper::process::Process;
use longhaul_keeper::{
    CONTRACT_VERSION, Caps, Containment, EndRecord, Executable, ExitRecord, Identity, Marking, SessionDir,
    SessionStatus, Spec, StopSignal, StopStep, inspect_session, prepare_session,
};

pub(crate) const FIXTURE: &str = env!("CARGO_BIN_EXE_keeper-fixture");
/// The value of a variable with a telling name in every keeper's environment.
pub(crate) const SECRET: &str = "qz81-mmxv-0042-trout";
const DEADLINE: Duration = Duration::from_secs(30);

/// A home with sessions.
pub(crate) struct Scene {
    pub(crate) home: tempfile::TempDir,
    pub(crate) executable: Executable,
    pub(crate) tag: String,
    containment: Containment,
    faults: String,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        Scene::at(tempfile::tempdir().unwrap())
    }

    /// Whose keepers hold their trees together in this way.
    pub(crate) fn held_by(containment: Containment) -> Scene {
        let mut scene = Scene::new();
        scene.containment = containment;
        scene
    }

    /// Whose keepers see these system calls fail.
    pub(crate) fn with_faults(faults: &str) -> Scene {
        let mut scene = Scene::new();
        scene.faults = faults.to_owned();
        scene
    }

    pub(crate) fn at(home: tempfile::TempDir) -> Scene {
        std::fs::create_dir(home.path().join("points")).unwrap();
        let tag = format!("tag-{}", mint());
        let executable = Executable::open(Path::new(FIXTURE)).unwrap();
        Scene { home, executable, tag, containment: Containment::Cgroup, faults: String::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// A spec that runs the fixture with these words.
    pub(crate) fn spec(&self, words: &[&str]) -> Spec {
        let mut argv = vec![FIXTURE.to_owned()];
        argv.extend(words.iter().map(|&word| word.to_owned()));
        Spec {
            version: CONTRACT_VERSION,
            session: mint(),
            task: "task".to_owned(),
            epoch: 3,
            argv,
            cwd: self.home.path().to_owned(),
            env_unset: Vec::new(),
            env_set: BTreeMap::from([("LEDGER".to_owned(), self.text("ledger"))]),
            env_pass: None,
            secret_names: Vec::new(),
            marking: Marking::default(),
            no_input: false,
            stop: vec![StopStep { signal: StopSignal::Terminate, grace_ms: 20_000 }],
            silence_ms: None,
            spare_busy: false,
            wall_ms: None,
            drain_ms: 2000,
            caps: Caps::default(),
        }
    }

    pub(crate) fn prepare(&self, spec: &Spec) -> SessionDir {
        prepare_session(self.home.path(), spec.session, spec, b"").unwrap()
    }

    /// Starts a keeper, with fail points if any are named.
    pub(crate) fn keeper(&self, directory: &SessionDir, points: &str) -> Child {
        let mut command = self.executable.command(["keep", directory.path().to_str().unwrap()]);
        if self.containment == Containment::Walk {
            command.env("LONGHAUL_CONTAIN", "walk");
        }
        command.env("LONGHAUL_FAULTS", &self.faults);
        command.env("LONGHAUL_FAIL_POINTS", points).env("LONGHAUL_FAIL_DIR", self.path("points"));
        command.env("SECRET_THING", "seen").env("AN_API_KEY", SECRET).spawn().unwrap()
    }

    /// Runs a session to its end.
    pub(crate) fn run(&self, spec: &Spec) -> Ended {
        let directory = self.prepare(spec);
        let mut keeper = self.keeper(&directory, "");
        let code = wait(&mut keeper).code();
        Ended { code, exit: directory.exit().unwrap().unwrap(), end: directory.end().unwrap(), directory }
    }

    /// Runs a session until its output says `ready`.
    pub(crate) fn run_until_ready(&self, spec: &Spec) -> (SessionDir, Child, Identity) {
        let directory = self.prepare(spec);
        let keeper = self.keeper(&directory, "");
        until("the agent is ready", || output(&directory).contains("ready"));
        let identity = directory.identity().unwrap().unwrap();
        (directory, keeper, identity)
    }

    /// How often an agent was executed.
    pub(crate) fn executions(&self) -> usize {
        std::fs::read_to_string(self.path("ledger")).map_or(0, |ledger| ledger.lines().count())
    }

    /// All living processes with this scene's tag in their arguments.
    pub(crate) fn tagged(&self) -> Vec<Process> {
        tagged(&self.tag)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for process in self.tagged() {
            kill(&process);
        }
    }
}

/// A session that came to its end.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) exit: ExitRecord,
    pub(crate) end: Option<EndRecord>,
    pub(crate) directory: SessionDir,
}

pub(crate) fn mint() -> SessionId {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let mut random = [0; 10];
    random[..4].copy_from_slice(&std::process::id().to_le_bytes());
    random[4..8].copy_from_slice(&COUNTER.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    SessionId::mint(Time(i64::try_from(since.as_micros()).unwrap()), random)
}

/// The ways to hold a tree together that this machine allows. Where tests run for everybody, and a group is ours to write, that is both.
pub(crate) fn containments() -> Vec<Containment> {
    let scene = Scene::new();
    let used = scene.run(&scene.spec(&["exit", "0"])).end.unwrap().containment;
    if used == Containment::Cgroup {
        return vec![Containment::Cgroup, Containment::Walk];
    }
    let writable = |group: &PathBuf| rustix::fs::access(group, rustix::fs::Access::WRITE_OK).is_ok();
    let must = is_ci() && longhaul_keeper::group_parents().iter().any(writable);
    assert!(!must, "a control group is writable here and none was used");
    let _told = writeln!(std::io::stderr(), "no control group can be made here: only the walk is tested");
    vec![Containment::Walk]
}

pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

pub(crate) fn output(directory: &SessionDir) -> String {
    std::fs::read_to_string(directory.out_log()).unwrap_or_default()
}

pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let mut status = None;
    until("the child has exited", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

/// Looks until nobody holds the lock: a fork on its way out may hold it for a moment after its keeper's death.
pub(crate) fn inspect_when_free(directory: &SessionDir) -> SessionStatus {
    let mut found = None;
    until("the lock is free", || {
        found = Some(inspect_session(directory).unwrap());
        !matches!(found, Some(SessionStatus::Alive(_)))
    });
    found.unwrap()
}

pub(crate) fn tagged(tag: &str) -> Vec<Process> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let Ok(pid) = entry.unwrap().file_name().to_str().unwrap_or_default().parse::<u32>() else { continue };
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if line.split(|&byte| byte == 0).any(|word| word == tag.as_bytes())
            && let Ok(Some(start)) = longhaul_keeper::process::start_time(pid)
        {
            found.push(Process { pid, start });
        }
    }
    found
}

/// Kills one process of a test by number, which the test has just seen alive.
pub(crate) fn kill(process: &Process) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(process.pid).unwrap()).unwrap();
    let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}
