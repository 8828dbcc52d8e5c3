//! A scratch world below one temporary directory: a home, a repository, the agent, and a copy of the binary that runs in them.
//! Every command is bounded in time. With another user given, everything of the product runs as that one.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::processes::{self, Process};

/// Longer than this no command of ours may take; `timeout` ends it then.
const PATIENCE: Duration = Duration::from_secs(90);
/// The exit code of `timeout` for a command that it ended.
const TOO_LONG: i32 = 124;

/// One scratch world.
pub(super) struct Scene {
    directory: TempDir,
    user: Option<u32>,
}

/// What the agent's child does with the environment it was given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Child {
    /// Keeps it, and so the marker of its session.
    Marked,
    /// Drops it: then only a control group ties it to its session when its keeper was killed.
    Scrubbed,
}

impl Scene {
    pub(super) fn new(binary: &Path, user: Option<u32>) -> io::Result<Scene> {
        let directory = tempfile::Builder::new().prefix("longhaul-torture-").tempdir()?;
        let scene = Scene { directory, user };
        for name in ["home", "work", "locks", "config", "config/longhaul"] {
            fs::create_dir(scene.path(name))?;
        }
        fs::copy(binary, scene.path("longhaul"))?;
        fs::write(scene.path("agent.sh"), include_str!("agent.sh"))?;
        fs::write(scene.path("check.sh"), include_str!("check.sh"))?;
        fs::write(scene.path("work/.gitignore"), "dirt\nready\n")?;
        scene.choose(Child::Marked)?;
        fs::set_permissions(scene.path("home"), fs::Permissions::from_mode(0o700))?;
        for name in ["", "home", "work", "locks", "config", "config/longhaul"] {
            chown(scene.path(name), user, user)?;
        }
        for arguments in
            ["init -q -b main", "config user.name A", "config user.email a@b.example", "add -A", "commit -q -m begin"]
        {
            scene.git(&arguments.split(' ').collect::<Vec<_>>())?;
        }
        Ok(scene)
    }

    /// Declares the agent.
    pub(super) fn choose(&self, child: Child) -> io::Result<()> {
        let (script, scene) = (self.path("agent.sh"), self.path(""));
        let mode = match child {
            Child::Marked => "marked",
            Child::Scrubbed => "scrubbed",
        };
        let argv = serde_json::json!(["/bin/sh", script, scene, mode]);
        let text = format!("[agents.bot]\nargv = {argv}\ndone = {{ when = {{ \"/event\" = \"done\" }} }}\n");
        fs::write(self.path("config/longhaul/config.toml"), text)
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What was written to a file of the scene; nothing if there is none.
    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Runs the product in an environment with nothing but what it needs.
    pub(super) fn longhaul(&self, arguments: &[&str]) -> io::Result<Output> {
        self.longhaul_with(&[], arguments)
    }

    /// The same with more settings, as variables without their common prefix.
    pub(super) fn longhaul_with(&self, settings: &[(&str, &str)], arguments: &[&str]) -> io::Result<Output> {
        let mut command = self.command(&self.path("longhaul"), arguments);
        command.env("LONGHAUL_HOME", self.path("home")).env("XDG_CONFIG_HOME", self.path("config"));
        for (name, value) in [
            ("SESSION_DELAY", "0s"),
            ("SESSION_INHIBIT_SLEEP", "false"),
            ("SESSION_SCOPES", "false"),
            ("FLOORS_DISK", "0B"),
            ("FLOORS_MEMORY", "0B"),
            ("LIMITS_BACKOFF", "50ms"),
            ("LIMITS_BACKOFF_CAP", "500ms"),
            ("LIMITS_ATTEMPTS", "100"),
            ("LIMITS_IDLE_SESSIONS", "1000"),
            ("VERIFY_FIX_ATTEMPTS", "100"),
        ]
        .iter()
        .chain(settings)
        {
            command.env(format!("LONGHAUL_{name}"), value);
        }
        let output = command.output()?;
        match output.status.code() {
            Some(TOO_LONG) if !arguments.contains(&"wait") => Err(io::Error::other(format!("hangs: {arguments:?}"))),
            Some(_) | None => Ok(output),
        }
    }

    /// The `data` of a verb's JSON.
    pub(super) fn json(&self, arguments: &[&str]) -> io::Result<Value> {
        let output = self.longhaul(&[arguments, &["--json"]].concat())?;
        let mut value: Value = serde_json::from_slice(&output.stdout)?;
        Ok(value["data"].take())
    }

    /// Runs git in the repository; what it printed, if it succeeded.
    pub(super) fn git(&self, arguments: &[&str]) -> io::Result<Option<String>> {
        let output = self.command(Path::new("git"), arguments).output()?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", &PATIENCE.as_secs().to_string()]).arg(program).args(arguments);
        command.current_dir(self.path("work")).stdin(Stdio::null());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", self.path(""));
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Everything that runs in the scene.
    pub(super) fn processes(&self) -> Vec<Process> {
        processes::of(self.directory.path(), &self.path("home"))
    }

    /// Leaves the directory for a person to look at.
    pub(super) fn keep(mut self) -> PathBuf {
        self.directory.disable_cleanup(true);
        self.directory.path().to_owned()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for process in self.processes() {
            process.signal(rustix::process::Signal::KILL);
        }
    }
}
