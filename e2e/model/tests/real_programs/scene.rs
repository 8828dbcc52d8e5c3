//! A scene for one agent: a server, a home, a workspace, and the agent's commands as its vendor's users type them.
//! The home lies below the target directory: codex runs no sandboxed command when it lies in the temporary one.

use std::cell::RefCell;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use longhaul_scripted_model::{Agent, Login, Programs, Script, Server, Setup, place_for_homes};
use serde_json::Value;
use tempfile::TempDir;

/// Longer than any program needs on a machine with much else to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

const PRESET_SESSION: &str = "5f0c3e0a-1f6e-4f6e-9c4e-2d6f3a1b7c88";

pub(crate) struct Scene {
    agent: Agent,
    pub(crate) server: Server,
    environment: Vec<(String, String)>,
    place: TempDir,
    runs: RefCell<usize>,
}

/// A program that runs, with a watcher that ends it when it takes too long.
pub(crate) struct Running {
    agent: Agent,
    child: Child,
    output: PathBuf,
    /// The watcher goes away with it.
    _watched: mpsc::Sender<()>,
}

/// A program that has ended: what it printed on both streams, and its exit code.
pub(crate) struct Ended {
    agent: Agent,
    pub(crate) text: String,
    pub(crate) code: Option<i32>,
}

impl Scene {
    pub(crate) fn new(agent: Agent, script: impl Script + 'static) -> Self {
        Self::with_login(agent, Login::Key, script)
    }

    pub(crate) fn with_login(agent: Agent, login: Login, script: impl Script + 'static) -> Self {
        let programs = Programs::find().unwrap_or_else(|missing| panic!("{missing}"));
        let homes = place_for_homes(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("a place for homes");
        let place = tempfile::tempdir_in(homes).expect("a directory for this scene");
        fs::create_dir(place.path().join("workspace")).expect("a new directory");
        let server = Server::start(script).expect("a free port");
        let setup = Setup::new(server.url(), place.path().join("home")).with_login(login);
        let environment = programs.environment(agent, &setup).expect("the home is new");
        Self { agent, server, environment, place, runs: RefCell::new(0) }
    }

    /// The same with a server that has stopped; the one that takes its place listens elsewhere.
    pub(crate) fn without_server(self) -> Self {
        let elsewhere = Server::start(|_: &longhaul_scripted_model::Turn| unreachable!("nobody knows this server"));
        Self { server: elsewhere.expect("a free port"), ..self }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.place.path().join("workspace")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.place.path().join("home")
    }

    pub(crate) fn list(&self) -> String {
        fs::read_to_string(self.workspace().join(".autonomous/t/task_list.md")).expect("the list is there")
    }

    pub(crate) fn prompt(&self, role: &str, session: usize) -> String {
        let directory = self.workspace().join(".autonomous/t");
        format!("You are the {role}.\nTask Directory: {}\nSession: t/{session}.1\n", directory.display())
    }

    pub(crate) fn start(&self, prompt: &str) -> Ended {
        self.spawn_start(prompt).end()
    }

    pub(crate) fn resume(&self, session: &str, prompt: &str) -> Ended {
        self.spawn(&resume_arguments(self.agent, session), prompt).end()
    }

    pub(crate) fn spawn_start(&self, prompt: &str) -> Running {
        self.spawn(&start_arguments(self.agent), prompt)
    }

    fn spawn(&self, arguments: &[&str], prompt: &str) -> Running {
        let number = self.runs.replace_with(|number| *number + 1);
        let file = |name: &str| self.place.path().join(format!("{number}.{name}"));
        fs::write(file("prompt"), prompt).expect("a new file");
        let output = File::create(file("output")).expect("a new file");
        let mut command = Command::new(self.agent.name());
        command.args(arguments).current_dir(self.workspace()).env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(File::open(file("prompt")).expect("the prompt is there"));
        command.stdout(output.try_clone().expect("a second handle")).stderr(output);
        let child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", self.agent.name()));
        let watched = watch(&child);
        Running { agent: self.agent, child, output: file("output"), _watched: watched }
    }
}

fn start_arguments(agent: Agent) -> Vec<&'static str> {
    match agent {
        Agent::Codex => words("exec --json --skip-git-repo-check -s workspace-write -"),
        Agent::Claude => {
            let mut arguments = words("-p --output-format stream-json --verbose --dangerously-skip-permissions");
            arguments.extend(["--session-id", PRESET_SESSION]);
            arguments
        }
        Agent::OpenCode => words("run --format json --auto --title t"),
        Agent::Pi => words("-p --mode json --session-id s-1"),
        Agent::Gemini => [words("-o stream-json --yolo"), vec!["--session-id", PRESET_SESSION]].concat(),
    }
}

fn resume_arguments(agent: Agent, session: &str) -> Vec<&str> {
    match agent {
        Agent::Codex => {
            let mut arguments = words("exec --json --skip-git-repo-check -s workspace-write resume");
            arguments.extend([session, "-"]);
            arguments
        }
        Agent::Claude => {
            let mut arguments = words("-p --output-format stream-json --verbose --dangerously-skip-permissions");
            arguments.extend(["--resume", session]);
            arguments
        }
        Agent::OpenCode => [words("run --format json --auto --session"), vec![session]].concat(),
        Agent::Pi => start_arguments(agent),
        Agent::Gemini => [words("-o stream-json --yolo --resume"), vec![session]].concat(),
    }
}

fn words(text: &'static str) -> Vec<&'static str> {
    text.split(' ').collect()
}

fn watch(child: &Child) -> mpsc::Sender<()> {
    let (ended, receiver) = mpsc::channel();
    let pid = rustix::process::Pid::from_child(child);
    thread::spawn(move || {
        if receiver.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            // It has not been waited for, so the number still is its own.
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is our child");
        }
    });
    ended
}

impl Running {
    /// Ends it as a lost machine would.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        let ended = self.end();
        assert_eq!(ended.code, None, "it was to be killed: {ended}");
    }

    /// The session's name, which every program has told before its first tool runs, or which was chosen for it.
    pub(crate) fn session_by_now(&self) -> String {
        Ended { agent: self.agent, text: read(&self.output), code: None }.session()
    }

    pub(crate) fn end(mut self) -> Ended {
        let status = self.child.wait().expect("it can be waited for");
        let text = read(&self.output);
        Ended { agent: self.agent, text, code: status.code() }
    }
}

/// A test that fails leaves no program behind; of one that has been waited for, nothing is left to end.
impl Drop for Running {
    fn drop(&mut self) {
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).expect("the output is there")).into_owned()
}

impl Ended {
    /// Whether it ended well and said these words.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.code == Some(0) && self.lines().iter().any(|line| holds_text(line, words))
    }

    pub(crate) fn session(&self) -> String {
        let member = match self.agent {
            Agent::Codex => "thread_id",
            Agent::OpenCode => "sessionID",
            Agent::Claude | Agent::Pi | Agent::Gemini => return PRESET_SESSION.to_owned(),
        };
        let lines = self.lines();
        let id = lines.iter().find_map(|line| line[member].as_str());
        id.unwrap_or_else(|| panic!("no session is named: {self}")).to_owned()
    }

    fn lines(&self) -> Vec<Value> {
        self.text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// Whether any string in it is exactly these words.
fn holds_text(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text == words,
        Value::Array(items) => items.iter().any(|item| holds_text(item, words)),
        Value::Object(members) => members.values().any(|member| holds_text(member, words)),
        _ => false,
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ended with {:?} after\n{}", self.agent.name(), self.code, self.text)
    }
}
