//! What a new user does first, in a real terminal and with a real agent: run, close the terminal, come back, land.

use std::path::Path;

use longhaul_scripted_model::{Agent, worker};

use super::terminal::Terminal;
use super::world::World;
use crate::tmux::{own_server, tmux};

fn from_run_to_land(agent: Agent) {
    let mut world = World::new(agent, worker);
    let bin = Path::new(env!("CARGO_BIN_EXE_longhaul")).parent().unwrap();
    let path =
        world.env.command(&[]).get_envs().find_map(|(name, value)| (name == "PATH").then_some(value?.to_owned()));
    let path = path.unwrap_or_else(|| std::env::var_os("PATH").unwrap());
    world.env.set("PATH", &format!("{}:{}", bin.display(), path.display()));
    world.env.unset("LONGHAUL_AGENT");
    own_server(&mut world.env);
    world.env.git(&["config", "user.name", "Ann"]);
    world.env.git(&["config", "user.email", "ann@example.org"]);
    let branch = world.env.git(&["branch", "--show-current"]);
    {
        let first = Terminal::start(&world, &["sh"]);
        first.types(&["longhaul run 'make two files' --check 'test -f one.txt && test -f two.txt'", "Enter"]);
        first.shows(&format!("using {}, the only agent that is installed and logged in", agent.name()));
        first.shows("▶ plan");
        tmux(&world.env, &["kill-session", "-t", "t"]).unwrap();
    }
    world.finish("make-two-files");
    let later = Terminal::start(&world, &["sh"]);
    later.types(&["longhaul list", "Enter"]);
    later.shows("longhaul land make-two-files");
    later.types(&["longhaul land make-two-files", "Enter"]);
    later.shows(&format!("on {branch}"));
    later.shows("landed as");
    assert_eq!(
        world.env.git(&["show", "-s", "--format=%an <%ae>: %s", &branch]),
        "Ann <ann@example.org>: make two files"
    );
    assert!(world.file("one.txt").is_file() && world.file("two.txt").is_file(), "the checkout follows its branch");
    tmux(&world.env, &["kill-server"]);
}

#[test]
fn a_new_user_of_claude_lands_their_first_task() {
    from_run_to_land(Agent::Claude);
}

#[test]
fn a_new_user_of_codex_lands_their_first_task() {
    from_run_to_land(Agent::Codex);
}
