//! The board in a real terminal: tmux gives it a size, keys and signals, and tells what is on the screen.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal;

use crate::env::{TestEnv, wait_for};
use crate::sight::{kill_9, send};
use crate::takeover::World;
use crate::tmux::{own_server, tmux};

/// The prompt of the shell that starts the board.
const READY: &str = "ready$ ";

/// A shell in tmux, in which the board is started. It ends with its world.
struct Board<'a> {
    env: &'a TestEnv,
    session: String,
}

impl<'a> Board<'a> {
    fn open(env: &'a TestEnv, columns: u16, rows: u16) -> Board<'a> {
        let board = Board::shell(env, columns, rows);
        board.types(env!("CARGO_BIN_EXE_longhaul"));
        board.shows("q quit");
        board
    }

    fn shell(env: &'a TestEnv, columns: u16, rows: u16) -> Board<'a> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let session = format!("b{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let size = [columns.to_string(), rows.to_string()];
        let start = [
            "new-session",
            "-d",
            "-s",
            &session,
            "-x",
            &size[0],
            "-y",
            &size[1],
            "bash",
            "--norc",
            "--noprofile",
            "-i",
        ];
        assert!(env.command_of("tmux".as_ref(), &start).env("PS1", READY).status().unwrap().success());
        let board = Board { env, session };
        board.shows(READY.trim());
        board.types("unset TMOUT; clear");
        board
    }

    fn screen(&self) -> String {
        crate::tmux::screen(self.env, &self.session)
    }

    #[track_caller]
    fn shows(&self, part: &str) {
        self.until(part, |screen| screen.contains(part));
    }

    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_for(what, || {
                last = self.screen();
                is_so(&last).then_some(())
            });
        }));
        assert!(found.is_ok(), "`{what}` is not on the screen:\n{last}");
    }

    fn press(&self, keys: &[&str]) {
        tmux(self.env, &[&["send-keys", "-t", &self.session], keys].concat()).unwrap();
    }

    /// Text and Enter.
    fn types(&self, text: &str) {
        tmux(self.env, &["send-keys", "-t", &self.session, "-l", text]).unwrap();
        self.press(&["Enter"]);
    }

    fn resize(&self, columns: u16, rows: u16) {
        let size = [columns.to_string(), rows.to_string()];
        tmux(self.env, &["resize-window", "-t", &self.session, "-x", &size[0], "-y", &size[1]]).unwrap();
    }

    /// The process of the board.
    fn pid(&self) -> i32 {
        let shell = tmux(self.env, &["display-message", "-p", "-t", &self.session, "#{pane_pid}"]).unwrap();
        let children = Command::new("pgrep").args(["-P", shell.trim(), "longhaul"]).output().unwrap();
        String::from_utf8(children.stdout).unwrap().trim().parse().unwrap()
    }

    /// Waits until the shell has its terminal again, as it was.
    #[track_caller]
    fn is_left(&self, code: i32) {
        self.until("the prompt", |screen| screen.trim_end().ends_with(READY.trim()));
        self.types("echo code $? $(stty -a | grep -o -w -e '-\\?icanon' -e '-\\?echo' | xargs)");
        self.shows(&format!("code {code} icanon echo"));
        self.shows_the_shell();
    }

    fn shows_the_shell(&self) {
        let flags = ["display-message", "-p", "-t", &self.session, "#{alternate_on} #{cursor_flag}"];
        assert_eq!(tmux(self.env, &flags).unwrap().trim(), "0 1");
    }
}

/// Ten tasks: two need the person, three run, one waits, four are done.
fn ten() -> TestEnv {
    let mut env = TestEnv::new().var("DEMO_STEPS", "1");
    own_server(&mut env);
    let user = env.path().join("user");
    std::fs::create_dir(&user).unwrap();
    std::fs::write(user.join(".gitconfig"), "[user]\n\tname = Ann\n\temail = ann@example.org\n").unwrap();
    env.set("HOME", &user.display().to_string());
    env.make_repository();
    for name in ["uno", "two", "three", "four"] {
        env.submit("Port the parser to winnow", &["-n", name, "--check", "test -f step-1.md"]);
        assert_eq!(env.settle(name), "done");
    }
    for (fault, name) in
        [("auth", "auth"), ("hang", "held-up"), ("hang", "run-1"), ("hang", "run-2"), ("hang", "run-3")]
    {
        env.set("DEMO_FAULT", fault);
        env.submit(&format!("Work on {name}"), &["-n", name]);
    }
    env.submit("Wait for the others", &["-n", "later", "--after", "run-1"]);
    env.ok(&["pause", "held-up"]);
    assert_eq!(env.settle("auth"), "needs_help");
    ["run-1", "run-2", "run-3"].iter().for_each(|name| drop(env.live(name, 1)));
    env
}

#[test]
fn ten_tasks_at_two_sizes() {
    let env = ten();
    for (columns, rows) in [(80, 24), (200, 50)] {
        let board = Board::open(&env, columns, rows);
        board.shows("2 need you · 3 running · 1 waiting");
        board.until("the groups", |screen| {
            let titles = ["NEEDS YOU", "RUNNING", "WAITING", "DONE"].map(|title| screen.find(&format!(" {title}")));
            let is_first = screen.lines().nth(2).is_some_and(|row| row.starts_with(">!"));
            titles.is_sorted() && titles.iter().all(Option::is_some) && is_first
        });
        board.shows("[Detail]");
        board.press(&["G"]);
        board.shows(">✓ uno");
        board.shows("state   done, verified");
        board.press(&["?"]);
        board.shows("any key closes this");
        board.press(&["x", "Tab"]);
        board.shows("[write] step-1.md");
        board.press(&["Tab"]);
        board.shows("+++ b/step-1.md");
        board.press(&["Enter"]);
        board.until("the open pane", |screen| screen.lines().nth(1).is_some_and(|row| row.starts_with("── uno ──")));
        board.press(&["Escape"]);
        board.shows(">✓ uno");
        board.types("/run-2");
        board.until("one task", |screen| screen.contains(">● run-2") && !screen.contains("held-up"));
        board.resize(200 + 80 - columns, 50 + 24 - rows);
        board.until("the other size", |screen| {
            screen.lines().next_back().is_some_and(|row| row.contains("q quit")) && screen.contains(">● run-2")
        });
        board.press(&["Escape"]);
        board.shows("held-up");
        board.press(&["q"]);
        board.is_left(0);
    }
    assert_eq!(env.state("run-1"), "planning", "leaving changes nothing");
}

#[test]
fn whatever_ends_or_stops_the_board_restores_the_terminal() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang");
    own_server(&mut env);
    env.submit("Keep running", &["-n", "runner"]);
    env.live("runner", 1);
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let board = Board::open(&env, 80, 24);
        board.shows(">● runner");
        send(board.pid(), signal);
        board.is_left(code);
    }
    let board = Board::open(&env, 80, 24);
    for key in ["C-q", "C-c"] {
        board.shows(">● runner");
        board.press(&["C-z"]);
        board.shows("Stopped");
        board.shows_the_shell();
        board.resize(100, 30);
        board.types("clear; stty sane; fg");
        board.until("the board again", |screen| screen.lines().count() == 30 && screen.contains(">● runner"));
        board.press(&["?"]);
        board.shows("any key closes this");
        board.press(&["x", key]);
        board.is_left(0);
        board.types(&format!("clear; {}", env!("CARGO_BIN_EXE_longhaul")));
    }
    assert_eq!(env.state("runner"), "planning");
}

#[test]
fn the_board_shows_what_happens_while_it_is_open() {
    let mut env = TestEnv::new().var("DEMO_STEPS", "1");
    own_server(&mut env);
    let env = env;
    let board = Board::open(&env, 80, 24);
    board.shows("No tasks in this project yet.");
    env.submit("Say hello", &["-n", "hello"]);
    board.shows(">✓ hello");
    let mut run = env.command(&["run", "-d", "Keep running", "-n", "runner"]);
    assert!(run.env("DEMO_FAULT", "hang").output().unwrap().status.success());
    let live = env.live("runner", 1);
    board.shows("● runner");
    board.press(&["g"]);
    board.shows(">● runner");
    kill_9(env.worker_pid("runner"));
    board.shows("no worker: ");
    assert!(crate::sight::alive(live.agent));
    env.ok(&["cancel", "runner"]);
    board.shows("✗ runner");
    board.press(&["q"]);
    board.is_left(0);
}

#[test]
fn keys_act_on_the_selected_task() {
    let mut env = ten();
    env.unset("DEMO_FAULT");
    let board = Board::open(&env, 80, 24);
    let select = |name: &str| {
        board.types(&format!("/{name}"));
        board.until(name, |screen| screen.lines().any(|line| line.starts_with('>') && line.contains(name)));
    };
    select("run-2");
    board.press(&["p"]);
    board.shows("run-2: paused");
    board.press(&["t"]);
    board.types("use the new API");
    board.shows("run-2: the next session gets the message");
    assert_eq!(env.json(&["show", "run-2"])["guidance"][0], "use the new API");
    select("run-3");
    board.press(&["D"]);
    board.shows("Cancel run-3 for good? y/N");
    board.press(&["n", "D", "y"]);
    board.shows("run-3: cancelled");
    select("auth");
    board.press(&["a"]);
    board.shows("Your answer to auth:");
    board.types("logged in now");
    board.until("the answer to be taken", |screen| screen.contains("auth: ") && !screen.contains("error"));
    wait_for("the reason", || env.ok(&["events", "auth"]).contains("logged in now").then_some(()));
    select("held-up");
    board.press(&["D", "y"]);
    board.shows("held-up: cancelled");
    board.press(&["p"]);
    board.shows("error: cannot pause");
    select("uno");
    board.press(&["L"]);
    board.shows("Land uno on main as \"Port the parser to winnow\"? y/N");
    board.press(&["y"]);
    board.shows("uno: landed as ");
    assert_eq!(env.git(&["show", "-s", "--format=%s %an", "main"]), "Port the parser to winnow Ann");
    select("two");
    board.press(&["X"]);
    board.shows("Remove worktree and branch of two? y/N");
    board.press(&["y"]);
    board.shows("two: discarded");
    board.press(&["n"]);
    board.types("Say hello to everybody");
    board.shows("say-hello-to-everybody: submitted, demo works on it");
    board.press(&["q"]);
    board.is_left(0);
    assert_eq!(env.settle("say-hello-to-everybody"), "done");
}

#[test]
fn a_person_works_in_the_conversation_and_comes_back_to_the_board() {
    let mut world = World::new();
    own_server(&mut world.env);
    let name = world.paused("Take it");
    let board = Board::open(&world.env, 80, 24);
    board.shows(&format!(">! {name}"));
    board.press(&["T"]);
    board.shows("interface of ");
    // Meant for the program, not for the board.
    board.press(&["C-c"]);
    board.shows("interrupted");
    board.types("bye");
    board.shows("q quit");
    board.press(&["?"]);
    board.shows("any key closes this");
    board.press(&["x", "q"]);
    board.is_left(0);
    assert_eq!(world.env.state(&name), "paused");
}

#[test]
fn without_a_terminal_that_can_show_it_there_is_help() {
    let env = TestEnv::new();
    let help = env.run(&[]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    assert_eq!(help.stdout, env.ok(&["-h"]));
    let mut env = env;
    own_server(&mut env);
    let shell = Board::shell(&env, 100, 90);
    shell.types(&format!("clear; TERM=dumb {}", env!("CARGO_BIN_EXE_longhaul")));
    shell.shows("Usage: longhaul [OPTIONS] [COMMAND]");
    shell.is_left(0);
}
