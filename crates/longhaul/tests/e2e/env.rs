//! A scratch home and workspace, and the binary run in them. Everything waits for events; a deadline only bounds a failure.
//!
//! Dropping the environment ends every process that belongs to it, by the home in its environment, never by name.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::documents::assert_published;

/// The longest any test waits for something that must happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// The exit code of a task that is done and whose checks passed in a directory without git, which names no tree.
pub(crate) const PASSED: i32 = 10;

/// The demo agent that misbehaves on request, and that the worker of a debug build starts in place of the built-in one.
pub(crate) const DEMO_AGENT: &str = env!("CARGO_BIN_EXE_demo-agent-with-faults");
/// The variable that names it.
pub(crate) const DEMO_AGENT_VARIABLE: &str = "LONGHAUL_TEST_DEMO_AGENT";

/// One scratch world.
pub(crate) struct TestEnv {
    dir: TempDir,
    vars: Vec<(String, String)>,
}

/// What a finished command left.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestEnv {
    pub(crate) fn new() -> TestEnv {
        TestEnv::new_in(&std::env::temp_dir())
    }

    /// A world below another directory than the system's for temporary files, which some agents cannot live in.
    pub(crate) fn new_in(place: &Path) -> TestEnv {
        let dir = tempfile::Builder::new().prefix("longhaul-e2e-").tempdir_in(place).unwrap();
        let env = TestEnv { dir, vars: Vec::new() };
        std::fs::create_dir(env.workspace()).unwrap();
        let ledger = env.ledger().display().to_string();
        // Tests want no pause between sessions and the demo agent, and must not depend on how full this machine is, who manages its users, or who sits at it.
        env.var(DEMO_AGENT_VARIABLE, DEMO_AGENT)
            .var("DEMO_LEDGER", &ledger)
            .var("LONGHAUL_AGENT", "demo")
            .var("LONGHAUL_SESSION_DELAY", "0s")
            .var("LONGHAUL_SESSION_INHIBIT_SLEEP", "false")
            .var("LONGHAUL_SESSION_SCOPES", "false")
            .var("LONGHAUL_PAGER", "cat")
            .var("LONGHAUL_NOTIFY_DESKTOP", "false")
            .var("LONGHAUL_NOTIFY_TERMINAL", "false")
            .var("LONGHAUL_FLOORS_DISK", "0B")
            .var("LONGHAUL_FLOORS_MEMORY", "0B")
    }

    /// The same world with one more variable for everything started from now on.
    pub(crate) fn var(mut self, name: &str, value: &str) -> TestEnv {
        self.set(name, value);
        self
    }

    /// The same world where no variable names the agent of new tasks.
    pub(crate) fn without_agent(mut self) -> TestEnv {
        self.unset("LONGHAUL_AGENT");
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.vars.retain(|(have, _)| have != name);
        self.vars.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.vars.retain(|(have, _)| have != name);
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path().join("work")
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.path().join("ledger.jsonl")
    }

    pub(crate) fn task_dir(&self, name: &str) -> PathBuf {
        self.workspace().join(".autonomous").join(name)
    }

    /// The binary in this world: own home, own workspace, nothing of the outer Longhaul.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_longhaul")), args)
    }

    /// The same with another copy of the binary.
    pub(crate) fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.workspace()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LONGHAUL_")) {
            command.env_remove(name);
        }
        command.env("LONGHAUL_HOME", self.home()).env("XDG_CONFIG_HOME", self.path().join("config"));
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        let done = done(&self.command(args).output().unwrap());
        if args.contains(&"--json") {
            assert_published(args, &done.stdout);
        }
        done
    }

    /// Runs a command that must succeed, and returns its stdout.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let done = self.run(args);
        assert_eq!(done.code, 0, "longhaul {args:?}\n{}\n{}", done.stdout, done.stderr);
        done.stdout
    }

    /// Runs a read verb with `--json` and returns its `data`.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let text = self.ok(&[args, &["--json"]].concat());
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(value["v"], 1);
        value["data"].clone()
    }

    /// Submits a task in the background and returns its name.
    pub(crate) fn submit(&self, goal: &str, more: &[&str]) -> String {
        self.ok(&[&["run", "-d", goal], more].concat()).trim().to_owned()
    }

    /// The task's state by name.
    pub(crate) fn state(&self, task: &str) -> String {
        self.json(&["show", task])["task"]["state"].as_str().unwrap().to_owned()
    }

    /// The kinds of all events of a task.
    pub(crate) fn kinds(&self, task: &str) -> Vec<String> {
        self.events(task).iter().map(|event| event["event"]["kind"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits for the end of a task and returns its final state.
    pub(crate) fn settle(&self, task: &str) -> String {
        let seconds = DEADLINE.as_secs().to_string();
        let done = self.run(&["wait", task, "--timeout", &seconds]);
        assert_ne!(done.code, 124, "task {task} did not settle: {}", self.run(&["events", task]).stdout);
        self.state(task)
    }

    /// The control group of a session, if it has one.
    pub(crate) fn group(&self, session: &str) -> Option<PathBuf> {
        let identity = std::fs::read_to_string(self.home().join("sessions").join(session).join("identity")).ok()?;
        serde_json::from_str::<Value>(&identity).ok()?["cgroup"].as_str().map(PathBuf::from)
    }

    /// Processes in a session's control group; those of a check carry no marker.
    pub(crate) fn members(&self, session: &str) -> Vec<i32> {
        let listed = self.group(session).and_then(|group| std::fs::read_to_string(group.join("cgroup.procs")).ok());
        listed.unwrap_or_default().lines().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// The same for every session of this home.
    pub(crate) fn grouped(&self) -> Vec<i32> {
        self.session_ids().iter().flat_map(|session| self.members(session)).collect()
    }

    fn session_ids(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.home().join("sessions")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Lines of the demo agent's ledger.
    pub(crate) fn ledger_lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.ledger()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        let home = format!("LONGHAUL_HOME={}", self.home().display());
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut deserted = 0;
        // Until two looks in a row find nobody: a dying worker may just have started a keeper, and that one an agent.
        while deserted < 2 && Instant::now() < deadline {
            let found = [processes_with(&home), self.grouped()].concat();
            deserted = if found.is_empty() { deserted + 1 } else { 0 };
            for pid in found {
                let pid = nix::unistd::Pid::from_raw(pid);
                nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).ok();
            }
        }
        // Nobody adopts what was killed here, so nobody else takes its empty groups away.
        for group in self.session_ids().iter().filter_map(|session| self.group(session)) {
            std::fs::remove_dir(group).ok();
        }
    }
}

pub(crate) fn done(output: &Output) -> Done {
    Done {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Processes whose environment has this entry, without this one.
pub(crate) fn processes_with(entry: &str) -> Vec<i32> {
    let own = std::process::id().to_string();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|found| found.file_name().into_string().ok())
        .filter(|pid| *pid != own)
        .filter_map(|pid| Some((pid.parse().ok()?, std::fs::read(format!("/proc/{pid}/environ")).ok()?)))
        .filter(|(_, environ): &(i32, Vec<u8>)| environ.split(|byte| *byte == 0).any(|have| have == entry.as_bytes()))
        .map(|(pid, _)| pid)
        .collect()
}

/// Waits until something is so; there is no event to wait for when another process writes a file or dies.
pub(crate) fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_within(DEADLINE, what, look)
}

/// The same for what takes longer.
pub(crate) fn wait_within<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
