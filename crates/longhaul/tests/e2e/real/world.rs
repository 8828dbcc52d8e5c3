//! A world in which a real agent program talks to a scripted model: its own home, configuration and login, and a git workspace.
//! Everything waits for events of the task or requests to the model.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_scripted_model::{Agent, Login, Programs, Script, Server, Setup, place_for_homes};
use serde_json::Value;

use crate::env::{TestEnv, wait_within};
use crate::processes::Process;

/// The longest anything is waited for; on a busy machine opencode alone takes half a minute to start.
pub(super) const PATIENCE: Duration = Duration::from_secs(240);

/// A scratch world with a model of its own.
pub(super) struct World {
    pub(super) env: TestEnv,
    pub(super) server: Server,
}

impl World {
    /// A world for one agent that is logged in with a key.
    pub(super) fn new(agent: Agent, script: impl Script + 'static) -> World {
        World::with(&[agent], Login::Key, script)
    }

    /// A world for several agents.
    pub(super) fn with(agents: &[Agent], login: Login, script: impl Script + 'static) -> World {
        let programs = Programs::find().unwrap_or_else(|missing| panic!("{missing}"));
        let server = Server::start(script).unwrap();
        let mut env = TestEnv::new_in(&place_for_homes(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap());
        let setup = Setup::new(server.url(), env.path().join("agents")).with_login(login);
        for (name, value) in programs.environments(agents, &setup).unwrap() {
            env.set(&name, &value);
        }
        git_workspace(&env.workspace());
        World { env, server }
    }

    /// Submits a task of two steps, in place, so that the files are easy to find.
    pub(super) fn submit(&self, agent: Agent, more: &[&str]) -> String {
        self.submit_to(&["--agent", agent.name(), "--in-place"], more)
    }

    /// The same with another choice of agents and place.
    pub(super) fn submit_to(&self, base: &[&str], more: &[&str]) -> String {
        let check = ["--check", "test -f one.txt && test -f two.txt", "--backoff", "50ms"];
        self.env.submit("make two files", &[base, &check, more].concat())
    }

    /// The task as it is stored.
    pub(super) fn task(&self, name: &str) -> Value {
        self.env.task(name)
    }

    /// The session that runs now, once there is one of this number and its program was started.
    pub(super) fn session(&self, name: &str, number: u64) -> Live {
        wait_for("the session", || {
            let session = self.env.recorded_session(name).filter(|session| session["number"] == number)?;
            let id = session["id"].as_str()?.to_owned();
            let (keeper, program) = self.env.identity(&id)?;
            Some(Live { id, keeper, program })
        })
    }

    /// Waits until the task is in this state, and returns it.
    pub(super) fn reach(&self, name: &str, state: &str) -> Value {
        wait_for(state, || {
            let task = self.task(name);
            (task["state"]["state"] == state).then_some(task)
        })
    }

    /// Sessions as they were started, with how they ended.
    pub(super) fn sessions(&self, name: &str) -> Vec<Session> {
        let mut sessions: Vec<Session> = Vec::new();
        for stored in self.env.events(name) {
            let event = &stored["event"];
            let kind = event["kind"].as_str().unwrap();
            if kind == "session_started" {
                let (told, ended) = (Value::Null, Value::Null);
                sessions.push(Session { run: event["session"].clone(), told, ended, stored });
                continue;
            }
            let Some(last) = sessions.last_mut() else { continue };
            match kind {
                "session_read" if last.told.is_null() => last.told = event["said"]["conversation"].clone(),
                "session_ended" => last.ended = event["ended"].clone(),
                _ => {}
            }
        }
        sessions
    }

    /// The sessions of agents.
    pub(super) fn agent_sessions(&self, name: &str) -> Vec<Session> {
        self.sessions(name).into_iter().filter(|session| session.run["purpose"] != "check").collect()
    }

    /// The mark of a session's prompt.
    pub(super) fn mark(&self, name: &str, session: &Session) -> String {
        let task = self.task(name)["id"].as_str().unwrap().to_owned();
        let attempt = session.run["attempt"].as_u64().unwrap_or(1);
        format!("Session: {task}/{}.{attempt}\n", session.run["number"])
    }

    /// No conversation holds any session's prompt twice.
    pub(super) fn assert_no_prompt_twice(&self, name: &str) {
        for session in self.agent_sessions(name) {
            let copies = self.server.copies(&self.mark(name, &session));
            assert!(copies <= 1, "the prompt stands {copies} times in one conversation: {session:?}");
        }
    }

    /// What became of the task, for a failed assertion.
    pub(super) fn story(&self, name: &str) -> String {
        self.env.run(&["events", name]).stdout
    }

    /// Waits until the task settles and nothing of this world runs any more.
    pub(super) fn settle(&self, name: &str) -> String {
        let seconds = PATIENCE.as_secs().to_string();
        let waited = self.env.run(&["wait", name, "--timeout", &seconds]);
        assert_ne!(waited.code, 124, "the task did not settle: {}", self.story(name));
        wait_for("the last process of this world", || self.env.processes().is_empty().then_some(()));
        assert_eq!(sleepers(), [] as [i32; 0], "a command of the agent lives on");
        self.env.state(name)
    }

    /// Waits until the task is done, and verified.
    pub(super) fn finish(&self, name: &str) {
        assert_eq!(self.settle(name), "done", "{}", self.story(name));
        let state = self.task(name)["state"].clone();
        assert!(state["verdict"]["verified"].is_object(), "{state}");
    }

    /// A worker that looks after this home; it leaves when nothing is left to do.
    pub(super) fn start_worker(&self) {
        self.env.ok(&["worker", "--only", "--detach"]);
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.env.workspace().join(name)
    }

    /// A file in a session's directory.
    pub(super) fn session_file(&self, session: &str, name: &str) -> PathBuf {
        self.env.home().join("sessions").join(session).join(name)
    }
}

/// A session that runs.
pub(super) struct Live {
    pub(super) id: String,
    pub(super) keeper: Process,
    pub(super) program: Process,
}

/// One session of a task, as its events tell.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) run: Value,
    /// The conversation the agent told first.
    pub(super) told: Value,
    pub(super) ended: Value,
    /// The event of its start.
    pub(super) stored: Value,
}

impl Session {
    pub(super) fn id(&self) -> &str {
        self.run["id"].as_str().unwrap()
    }
}

/// A command that takes for ever, and that only this test runs: each test is a process of its own.
pub(super) fn long_sleep() -> String {
    format!("sleep 600.{}", std::process::id())
}

/// The processes of `long_sleep` that live now.
pub(super) fn sleepers() -> Vec<i32> {
    let wanted = long_sleep().replace(' ', "\0") + "\0";
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == wanted.as_bytes()))
        .collect()
}

/// Waits until something is so, as long as real programs take.
pub(super) fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, look)
}

fn git_workspace(path: &Path) {
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(arguments).current_dir(path);
        assert!(command.status().unwrap().success(), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    std::fs::write(path.join("README"), "a project\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "begin"]);
}
