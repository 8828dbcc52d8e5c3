//! `longhaul takeover`: a person in the agent's conversation, on a terminal of their own, with a stand-in for pi that is strict about its
//! arguments. What ends it is always a pause, and nobody else works meanwhile, whoever is killed.

mod hands;
mod kills;
mod refusals;
mod stops;
mod work;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::checker::violations;
use crate::env::{TestEnv, wait_for};
use crate::screen::Shell;

const PI: &str = include_str!("takeover/pi.sh");

/// A world with a pi on PATH.
pub(crate) struct World {
    pub(crate) env: TestEnv,
}

impl World {
    pub(crate) fn new() -> World {
        let env = TestEnv::new();
        let (programs, memory) = (env.path().join("bin"), env.path().join("fake"));
        std::fs::create_dir(&programs).unwrap();
        std::fs::create_dir(&memory).unwrap();
        let pi = programs.join("pi");
        std::fs::write(&pi, PI).unwrap();
        std::fs::set_permissions(&pi, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let (memory, own) = (memory.display().to_string(), env.path().join("pi").display().to_string());
        World { env: env.var("PATH", &path).var("FAKE_DIR", &memory).var("PI_CODING_AGENT_DIR", &own) }
    }

    /// A task that was paused after its first session.
    pub(crate) fn paused(&self, goal: &str) -> String {
        self.paused_with(goal, &[])
    }

    fn paused_with(&self, goal: &str, more: &[&str]) -> String {
        let name = self.env.submit(goal, &[&["--agent", "pi", "--once"], more].concat());
        assert_eq!(self.env.settle(&name), "paused");
        name
    }

    /// A task whose second session works until it is told to stop, with that session's agent.
    fn working(&self, goal: &str) -> (String, i32) {
        std::fs::write(self.file("hang"), "").unwrap();
        let name = self.env.submit(goal, &["--agent", "pi"]);
        let agent = self.env.live(&name, 2).agent;
        (name, agent)
    }

    fn take_over(&self, name: &str) -> Shell {
        Shell::run(&self.env, &["takeover", name])
    }

    /// The same once the interface is there.
    fn taken_over(&self, name: &str) -> Shell {
        std::fs::remove_file(self.file("pids")).ok();
        let shell = self.take_over(name);
        wait_for("the interface", || self.file("pids").exists().then_some(()));
        shell.shows("interface of ");
        shell
    }

    /// The processes of the takeover: the verb itself and the agent's program.
    fn pids(&self) -> (i32, i32) {
        let text = std::fs::read_to_string(self.file("pids")).unwrap();
        let mut pids = text.split_whitespace().map(|pid| pid.parse().unwrap());
        (pids.next().unwrap(), pids.next().unwrap())
    }

    /// The process that the interface left behind.
    fn left(&self) -> i32 {
        std::fs::read_to_string(self.file("left")).unwrap().trim().parse().unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.env.path().join("fake").join(name)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        std::fs::read_to_string(self.file(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// How a task was given back, each time.
    fn releases(&self, task: &str) -> Vec<Value> {
        let events = self.env.events(task).into_iter().map(|event| event["event"].clone());
        events.filter(|event| event["kind"] == "released").map(|event| event["how"].clone()).collect()
    }

    /// Who gave a task back, each time.
    fn released_by(&self, task: &str) -> Vec<String> {
        let events = self.env.events(task).into_iter().filter(|event| event["event"]["kind"] == "released");
        events.map(|event| event["actor"]["principal"].as_str().unwrap().to_owned()).collect()
    }

    fn sessions(&self, task: &str) -> usize {
        self.env.kinds(task).iter().filter(|kind| *kind == "session_started").count()
    }

    /// The invariants, without what the checker can tell of the demo agent's dialect alone.
    #[track_caller]
    fn assert_clean(&self) {
        let of_demo = |text: &String| text.contains("the agent told of") || text.ends_with("transcript.jsonl");
        let broken: Vec<String> = violations(&self.env).into_iter().filter(|text| !of_demo(text)).collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }

    /// The files of holds there are.
    fn holds(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.env.home().join("holds")).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}
