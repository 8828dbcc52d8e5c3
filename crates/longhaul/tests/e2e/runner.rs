//! `run-session`, the drop-in for the existing shell runner, with a stand-in for codex that is strict about its arguments.
//! Every rule of the runner that its users rely on is here; the real codex runs it in `real/runner.rs`.

mod ends;
mod kills;
mod lists;
mod locks;
mod names;
mod resumes;
mod sessions;
mod states;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::env::{Done, TestEnv, done};

const CODEX: &str = include_str!("runner/codex.sh");

/// A world with a codex on PATH and nothing else of the person's.
pub(crate) struct Runner {
    pub(crate) env: TestEnv,
}

impl Runner {
    pub(crate) fn new() -> Runner {
        let env = TestEnv::new();
        let (programs, records) = (env.path().join("bin"), env.path().join("records"));
        std::fs::create_dir(&records).unwrap();
        std::fs::create_dir(&programs).unwrap();
        let codex = programs.join("codex");
        std::fs::write(&codex, CODEX).unwrap();
        std::fs::set_permissions(&codex, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let records = records.display().to_string();
        Runner { env: env.var("PATH", &path).var("CODEX_RECORDS", &records).var("NO_COLOR", "1") }
    }

    /// The same with a codex that does this.
    pub(crate) fn does(mut self, script: &str) -> Runner {
        self.env.set("CODEX_DOES", script);
        self
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.env.command(&[&["run-session"], args].concat())
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        self.env.run(&[&["run-session"], args].concat())
    }

    /// The same from another directory.
    pub(crate) fn run_in(&self, directory: &Path, args: &[&str]) -> Done {
        done(&self.command(args).current_dir(directory).output().unwrap())
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let done = self.run(args);
        assert_eq!(done.code, 0, "run-session {args:?}\n{}\n{}", done.stdout, done.stderr);
        done.stdout
    }

    /// An invocation that has to fail with code 1 and to say so.
    #[track_caller]
    pub(crate) fn refused(&self, args: &[&str], needle: &str) {
        let done = self.run(args);
        assert_eq!(done.code, 1, "run-session {args:?}\n{}\n{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(needle), "run-session {args:?} lacks `{needle}`:\n{}", done.stderr);
    }

    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        self.env.task_dir(name)
    }

    pub(crate) fn file(&self, name: &str, file: &str) -> String {
        std::fs::read_to_string(self.dir(name).join(file)).unwrap_or_default()
    }

    /// A task directory as the shell runner leaves one.
    pub(crate) fn write(&self, name: &str, file: &str, text: &str) {
        std::fs::create_dir_all(self.dir(name)).unwrap();
        std::fs::write(self.dir(name).join(file), text).unwrap();
    }

    /// A task of the shell runner with so many steps, the first ones ticked.
    pub(crate) fn legacy(&self, name: &str, done: usize, steps: usize) {
        let line = |n: usize| format!("- [{}] Task {n}: step {n}\n", if n <= done { "x" } else { " " });
        let lines: String = (1..=steps).map(line).collect();
        self.write(name, "task_list.md", &format!("# List\n\n## Tasks\n\n{lines}"));
        self.write(name, "progress.md", "# Progress\n");
    }

    /// The arguments of every codex that was started, in the order of their process ids.
    pub(crate) fn argvs(&self) -> Vec<Vec<String>> {
        self.records("argv").iter().map(|text| text.lines().map(str::to_owned).collect()).collect()
    }

    /// What every codex that was started has recorded under this ending.
    pub(crate) fn records(&self, ending: &str) -> Vec<String> {
        let mut found: Vec<(std::time::SystemTime, String)> = std::fs::read_dir(self.env.path().join("records"))
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|have| have == ending))
            .map(|entry| {
                let at = entry.metadata().unwrap().modified().unwrap();
                (at, std::fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        found.sort();
        found.into_iter().map(|(_, text)| text).collect()
    }
}
