//! A declared agent that is a shell script: one step, and whatever a test lets it do in its working session.
//!
//! `plan` and `work` are shell functions that a test can replace; `$td` is the task directory. `longhaul` is on its PATH.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::env::TestEnv;

const SCRIPT: &str = r#"#!/bin/sh
prompt=$(cat)
td=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p')
task=${td##*/}
plan() { printf '# H\n\n## Tasks\n\n- [ ] Task 1: x\n' >"$td/task_list.md"; echo p >"$td/progress.md"; }
tick() { sed -i 's/- \[ \]/- [x]/' "$td/task_list.md"; }
work() { tick; }
"#;

const END: &str = r#"
case $prompt in *"Initializer Agent"*) plan;; *) work;; esac
echo '{"event":"done"}'
"#;

/// A world whose tasks are worked on by a script with these functions.
pub(crate) fn bot(functions: &str) -> TestEnv {
    let env = TestEnv::new().without_agent();
    let (bin, config) = (env.path().join("bin"), env.path().join("config/longhaul"));
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(&config).unwrap();
    let program = bin.join("bot");
    fs::write(&program, [SCRIPT, functions, END].concat()).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_longhaul"), bin.join("longhaul")).unwrap();
    let table = format!("agent = \"bot\"\n[agents.bot]\nargv = [\"{}\"]\n", program.display());
    fs::write(config.join("config.toml"), table + "done = { when = { \"/event\" = \"done\" } }\n").unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let scratch = env.path().display().to_string();
    env.var("PATH", &path).var("SCRATCH_DIR", &scratch)
}

impl TestEnv {
    /// What a script wrote into a file beside the workspace; empty if it did not.
    pub(crate) fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }
}
