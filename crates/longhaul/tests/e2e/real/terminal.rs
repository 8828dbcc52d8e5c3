//! A real terminal, in tmux, for programs that talk to a person. Everything waits until something is to be seen.

use std::io::Write;

use serde_json::Value;

use super::world::{World, wait_for};
use crate::env::TestEnv;
use crate::tmux;

/// After so many looks a key is pressed again.
pub(super) const SOON: usize = 100;
/// The same for a key that must not be left for whoever has the terminal next.
pub(super) const LATE: usize = 1000;

/// A program in its own terminal.
pub(super) struct Terminal<'a> {
    world: &'a World,
}

impl<'a> Terminal<'a> {
    /// Starts it in the workspace, in a world with its own server of tmux.
    pub(super) fn start(world: &'a World, program: &[&str]) -> Terminal<'a> {
        let size = ["-x", "120", "-y", "60"];
        let arguments = [&["new-session", "-d", "-s", "t"], &size[..], program].concat();
        assert!(world.env.command_of("tmux".as_ref(), &arguments).status().unwrap().success());
        Terminal { world }
    }

    pub(super) fn shows(&self, part: &str) {
        wait_for(&format!("`{part}` in the terminal"), || self.has(part).then_some(()));
    }

    /// Types until something is to be seen, again after so many looks: programs draw before they listen.
    pub(super) fn types_until(&self, keys: &[&str], part: &str, looks: usize) {
        let mut looked = 0;
        wait_for(&format!("`{part}` in the terminal"), || {
            if looked % looks == 0 {
                self.types(keys);
            }
            looked += 1;
            self.has(part).then_some(())
        });
    }

    fn has(&self, part: &str) -> bool {
        tmux::screen(&self.world.env, "t").contains(part)
    }

    pub(super) fn types(&self, keys: &[&str]) {
        tmux::tmux(&self.world.env, &[&["send-keys", "-t", "t"], keys].concat()).unwrap();
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let shown = tmux::screen(&self.world.env, "t");
            writeln!(std::io::stderr(), "the terminal shows:\n{}", shown.trim()).ok();
        }
    }
}

/// Tells claude that a person has been in the workspace before and trusted it.
pub(super) fn trust_workspace(env: &TestEnv) {
    let file = env.path().join("agents/.claude/.claude.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let workspace = env.workspace().canonicalize().unwrap().display().to_string();
    state["projects"][workspace]["hasTrustDialogAccepted"] = true.into();
    std::fs::write(file, state.to_string()).unwrap();
}
