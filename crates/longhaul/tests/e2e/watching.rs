//! Watching tasks in a real terminal, in tmux: the live line over resizes and stops, its keys, and the list that redraws itself.

use std::io::Write;

use crate::env::{TestEnv, wait_for};
use crate::sight::alive;
use crate::tmux::{own_server, screen, tmux};

/// A command in a terminal of this size.
struct Pane<'a> {
    env: &'a TestEnv,
}

impl<'a> Pane<'a> {
    fn start(env: &'a mut TestEnv, size: (u32, u32), args: &[&str]) -> Pane<'a> {
        own_server(env);
        let (columns, rows) = (size.0.to_string(), size.1.to_string());
        let program = env!("CARGO_BIN_EXE_longhaul");
        let start = ["new-session", "-d", "-s", "w", "-x", &columns, "-y", &rows, "env", "TERM=screen", program];
        assert!(env.command_of("tmux".as_ref(), &[&start[..], args].concat()).status().unwrap().success());
        // The pane stays when its command has ended.
        tmux(env, &["set-option", "-t", "w", "remain-on-exit", "on"]).unwrap();
        Pane { env }
    }

    fn text(&self) -> String {
        screen(self.env, "w")
    }

    fn shows(&self, part: &str) {
        wait_for(&format!("`{part}` in the pane:\n{}", self.text()), || self.text().contains(part).then_some(()));
    }

    fn types(&self, keys: &[&str]) {
        tmux(self.env, &[&["send-keys", "-t", "w"], keys].concat()).unwrap();
    }

    fn resize(&self, columns: u32) {
        tmux(self.env, &["resize-window", "-t", "w", "-x", &columns.to_string()]).unwrap();
    }

    /// The rows of the live line.
    fn live(&self) -> Vec<String> {
        let text = self.text();
        let is_spinner = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c);
        text.lines().filter(|row| row.starts_with(is_spinner)).map(str::to_owned).collect()
    }
}

impl Drop for Pane<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            writeln!(std::io::stderr(), "the pane shows:\n{}", self.text()).ok();
        }
        tmux(self.env, &["kill-server"]);
    }
}

const LONG: &str =
    "a goal with a name that is long enough to make the row of the live line longer than a narrow screen";

#[test]
fn resizing_loses_no_line_and_leaves_one_live_row() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang@3");
    let pane = Pane::start(&mut env, (200, 40), &["run", LONG, "--name", "t", "--check", "true"]);
    pane.shows("(demo, session 3)");
    let printed = ["planned", "step 1/4", "(demo, session 2)", "(demo, session 3)"];
    let count = |part: &str| pane.text().matches(part).count();
    let before = printed.map(count);
    for columns in [60, 200, 35, 120, 80] {
        pane.resize(columns);
        wait_for(&format!("one live row of {columns} columns"), || {
            let rows = pane.live();
            let fits = |row: &String| row.chars().count() < columns as usize;
            (rows.len() == 1 && rows.iter().all(fits) && pane.text().trim_end().ends_with(&rows[0])).then_some(())
        });
        // What was wrapped may be broken inside a word; at the end everything is on one row again.
    }
    pane.resize(200);
    wait_for("every printed line once", || (printed.map(count) == before).then_some(()));
    pane.types(&["d"]);
    pane.shows("detached; the task keeps running");
    wait_for("the live row to be gone", || pane.live().is_empty().then_some(()));
}

#[test]
fn keys_tell_pause_and_leave() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let pane = Pane::start(&mut env, (100, 40), &["run", "Do it", "--name", "t"]);
    pane.shows("(demo, session 2)");
    pane.types(&["?"]);
    pane.shows("keys: p pause");
    pane.types(&["t"]);
    pane.shows("tell: ");
    // Letters that are keys elsewhere, a typo, and an arrow that means nothing.
    pane.types(&["-l", "dqp? für später!"]);
    pane.types(&["BSpace", "Left"]);
    pane.shows("tell: dqp? für später▏");
    pane.types(&["Enter"]);
    pane.shows("message for the next session: dqp? für später");
    pane.types(&["t"]);
    pane.shows("tell: ");
    pane.types(&["-l", "never sent"]);
    pane.shows("never sent");
    pane.types(&["C-c"]);
    wait_for("the message to be dropped", || (!pane.text().contains("never sent")).then_some(()));
    assert_eq!(env_state(pane.env), "working", "Ctrl+C ended the message, not the session");
    pane.types(&["p"]);
    pane.shows("longhaul resume t");
    assert_eq!(env_state(pane.env), "paused");
    assert!(!pane.env.kinds("t").contains(&"never sent".to_owned()));
}

fn env_state(env: &TestEnv) -> String {
    env.state("t")
}

#[test]
fn attach_begins_with_where_the_task_is() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    env.submit("Do it", &["--name", "t"]);
    let live = env.live("t", 2);
    let pane = Pane::start(&mut env, (80, 24), &["attach", "t"]);
    pane.shows("t: working · 0/4 steps · 2 sessions · ");
    pane.shows("(demo, session 2)");
    pane.types(&["q"]);
    pane.shows("detached; the task keeps running");
    assert!(alive(live.agent));
}

#[test]
fn a_watched_list_follows_every_change() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    env.submit("Do it", &["--name", "t"]);
    env.live("t", 2);
    let pane = Pane::start(&mut env, (80, 24), &["list", "--watch"]);
    pane.shows("● t ");
    pane.env.ok(&["pause", "t"]);
    pane.shows("    longhaul resume t");
    assert!(!pane.text().contains("RUNNING"), "drawn again, not appended");
    pane.resize(60);
    pane.shows("    longhaul resume t");
    pane.types(&["q"]);
    wait_for("the first screen", || (!pane.text().contains("longhaul resume")).then_some(()));
}

#[test]
fn a_list_is_watched_on_a_terminal_only() {
    let env = TestEnv::new();
    let refused = env.run(&["list", "--watch"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("needs a terminal") && refused.stderr.contains("hint: "), "{}", refused.stderr);
}
