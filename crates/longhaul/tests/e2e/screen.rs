//! What reaches a terminal: the live line of `run`, the key that detaches, and nothing of an agent raw.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use nix::fcntl::OFlag;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::Signal;
use rustix::termios::{LocalModes, Winsize, tcgetattr};

use crate::env::{TestEnv, wait_for};
use crate::sight::{alive, kill_9, send};

/// The width of the terminals.
const COLUMNS: u16 = 200;

/// A command on a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    watched: Watched,
}

/// What is shown on a terminal.
pub(crate) struct Watched {
    keys: File,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: std::thread::JoinHandle<()>,
}

impl Watched {
    /// Waits until everybody has left the terminal and returns everything that was shown.
    fn finish(self) -> String {
        self.reader.join().unwrap();
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }
}

fn watch_terminal(master: PtyMaster) -> Watched {
    let keys = File::from(OwnedFd::from(master));
    let mut screen = keys.try_clone().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&seen);
    let reader = std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        // The last process on a terminal leaves it with an error, not with an end.
        while let Ok(read @ 1..) = screen.read(&mut chunk) {
            shared.lock().unwrap().extend_from_slice(&chunk[..read]);
        }
    });
    Watched { keys, seen, reader }
}

impl Terminal {
    pub(crate) fn run(env: &TestEnv, args: &[&str]) -> Terminal {
        Terminal::run_in_columns(env, args, COLUMNS)
    }

    pub(crate) fn run_in_columns(env: &TestEnv, args: &[&str], columns: u16) -> Terminal {
        let (master, slave) = open_terminal();
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&slave, size).unwrap();
        let side = || Stdio::from(slave.try_clone().unwrap());
        let mut command = env.command(args);
        command.env("TERM", "xterm-256color").stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().unwrap();
        drop((command, slave));
        Terminal { child, watched: watch_terminal(master) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.watched.seen.lock().unwrap()).into_owned()
    }

    pub(crate) fn shows(&self, part: &str) {
        wait_for(&format!("`{part}` on the screen"), || self.text().contains(part).then_some(()));
    }

    /// Whether this is on the screen, or was.
    pub(crate) fn shows_now(&self, part: &str) -> bool {
        self.text().contains(part)
    }

    pub(crate) fn press(&mut self, key: &[u8]) {
        self.watched.keys.write_all(key).unwrap();
    }

    /// Waits for the command's end and returns its code and everything it showed.
    pub(crate) fn finish(mut self) -> (i32, String) {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, self.watched.finish())
    }
}

/// A command started by a shell on the shell's own terminal, so that the terminal's keys are signals and the shell outlives it.
pub(crate) struct Shell {
    child: Child,
    watched: Watched,
    terminal: File,
    /// The shell waits for somebody at its other end.
    gate: PathBuf,
}

/// Tells the code, and waits to be let go: the end of a session's leader would hang up everybody on its terminal.
const PLAIN: &str =
    r#"exec <"$1" >"$1" 2>&1; gate=$2; shift 2; trap : INT; "$@"; echo "shell: $?"; read -r _ <"$gate""#;
/// Tells each stop, and continues the command when it is let go. It keeps both ends of the gate open: one that it opened while the writer
/// before was still closing it would end at once.
const JOBS: &str = r#"exec <"$1" >"$1" 2>&1; exec 9<>"$2"; shift 2; set -m; "$@" 9<&-; echo "stopped 1"; read -r _ <&9
    fg >/dev/null; echo "stopped 2"; read -r _ <&9; fg >/dev/null; echo "stopped 3"; read -r _ <&9"#;

impl Shell {
    /// A shell without job control.
    pub(crate) fn run(env: &TestEnv, args: &[&str]) -> Shell {
        Shell::start(env, PLAIN, args)
    }

    /// A shell that continues the command twice.
    pub(crate) fn with_job_control(env: &TestEnv, args: &[&str]) -> Shell {
        Shell::start(env, JOBS, args)
    }

    fn start(env: &TestEnv, script: &str, args: &[&str]) -> Shell {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let gate = env.path().join(format!("gate-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let (master, terminal) = open_terminal();
        let longhaul = env.command(args);
        let mut command = std::process::Command::new("setsid");
        command.args(["bash", "-c", script, "bash", &ptsname_r(&master).unwrap()]).arg(&gate);
        command.arg(longhaul.get_program()).args(args).current_dir(env.workspace());
        for (name, value) in longhaul.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let child = command.env("TERM", "xterm").stdin(Stdio::null()).spawn().unwrap();
        Shell { child, watched: watch_terminal(master), terminal, gate }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.watched.seen.lock().unwrap()).into_owned()
    }

    pub(crate) fn shows(&self, part: &str) {
        wait_for(&format!("`{part}` on the screen"), || self.text().contains(part).then_some(()));
    }

    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.watched.keys.write_all(keys).unwrap();
    }

    /// Whether the terminal gives whole lines and shows what is typed.
    pub(crate) fn is_cooked(&self) -> bool {
        tcgetattr(&self.terminal).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Lets the shell go on.
    pub(crate) fn has_shown(&self, part: &str) -> bool {
        self.text().contains(part)
    }

    pub(crate) fn release(&self) {
        std::fs::write(&self.gate, "\n").unwrap();
    }

    /// Waits for the command's end, lets the shell go and returns everything that was shown.
    pub(crate) fn finish(mut self) -> String {
        if !self.text().contains("stopped 3") {
            self.shows("shell: ");
            self.release();
        }
        self.child.wait().unwrap();
        drop(self.terminal);
        self.watched.finish()
    }
}

/// Both ends of a terminal, closed over every exec: a process of another test that kept one would keep the reader waiting.
fn open_terminal() -> (PtyMaster, File) {
    let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(OFlag::O_NOCTTY.bits());
    let slave = options.open(ptsname_r(&master).unwrap()).unwrap();
    let size = Winsize { ws_row: 40, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&slave, size).unwrap();
    (master, slave)
}

/// The sequences a terminal would act on, by their introducer and final character.
pub(crate) fn sequences(text: &str) -> std::collections::BTreeSet<String> {
    let mut found = std::collections::BTreeSet::new();
    for part in text.split('\u{1b}').skip(1) {
        let body = part
            .strip_prefix('[')
            .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || ";?".contains(c)));
        found.insert(match body {
            Some(rest) => format!("[{}", rest.chars().next().unwrap_or(' ')),
            None => part.chars().take(1).collect(),
        });
    }
    found
}

#[test]
fn the_live_line_shows_where_the_task_stands() {
    let env = TestEnv::new().var("DEMO_PACE_MS", "250");
    let (code, shown) = Terminal::run(&env, &["run", "Show me"]).finish();
    assert_eq!(code, 0, "{shown}");
    for part in [
        "planning",
        "███████░░░░░░░ 2/4",
        "write step-3",
        "demo",
        "session 3",
        "tokens",
        "1s",
        "d detach",
        "done, unverified",
    ] {
        assert!(shown.contains(part), "`{part}` is missing in {shown:?}");
    }
}

#[test]
fn d_detaches_and_the_task_goes_on() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let mut terminal = Terminal::run(&env, &["run", "Leave me"]);
    terminal.shows("session 2");
    let live = env.live("leave-me", 2);
    terminal.press(b"xd");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("detached; the task keeps running"), "{shown}");
    assert!(shown.contains("longhaul logs -f leave-me"), "and what to do next: {shown}");
    assert_eq!(env.state("leave-me"), "working");
    assert!(alive(live.agent));
}

#[test]
fn a_lost_terminal_changes_nothing() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let terminal = Terminal::run(&env, &["run", "Lose me"]);
    terminal.shows("session 2");
    let live = env.live("lose-me", 2);
    let Terminal { mut child, watched: Watched { keys, reader, .. } } = terminal;
    send(i32::try_from(child.id()).unwrap(), Signal::SIGHUP);
    drop(keys);
    child.wait().unwrap();
    reader.join().unwrap();
    assert_eq!(env.state("lose-me"), "working");
    assert!(alive(live.agent));
}

#[test]
fn a_terminated_viewer_leaves_the_terminal_as_it_was() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let name = format!("end-me-{code}");
        let (master, slave) = open_terminal();
        let side = || Stdio::from(slave.try_clone().unwrap());
        let mut command = env.command(&["run", "End me", "--name", &name]);
        let mut child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let cooked = || tcgetattr(&slave).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO);
        wait_for("the keyboard to be listened to", || (!cooked()).then_some(()));
        send(i32::try_from(child.id()).unwrap(), signal);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(cooked(), "{signal}");
        assert!(!["paused", "cancelled"].contains(&env.state(&name).as_str()), "the task goes on");
        drop(master);
    }
}

/// In a shell with job control, started with `&`.
#[test]
fn a_viewer_in_the_background_is_not_stopped() {
    let env = TestEnv::new();
    let (master, slave) = open_terminal();
    let script = "exec <\"$1\" >\"$1\" 2>&1; set -m; shift; \"$@\" & wait $!; echo \"background: $?\"";
    let mut command = std::process::Command::new("setsid");
    let longhaul = env.command(&[]);
    command.args(["sh", "-c", script, "sh", &ptsname_r(&master).unwrap()]);
    command.arg(longhaul.get_program()).args(["run", "Stay behind"]).current_dir(env.workspace());
    command.envs(longhaul.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    let mut shell = command.spawn().unwrap();
    let terminal = watch_terminal(master);
    wait_for("the end", || shell.try_wait().unwrap());
    drop(slave);
    let shown = terminal.finish();
    assert!(shown.contains("background: 0") && shown.contains("done, unverified"), "{shown}");
}

#[test]
fn a_worker_outlives_its_terminal() {
    let mut env = TestEnv::new();
    assert_eq!(env.run(&["run", "Broken"]).code, 0);
    env.deserted();
    let database = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    database.execute("UPDATE tasks SET head = 'half' WHERE name = 'broken'", []).unwrap();
    drop(database);
    let (master, slave) = open_terminal();
    drop(master);
    // It has something to tell, the damaged row, and nobody to tell it to.
    let mut worker = env.command(&["worker", "--stay"]).stdout(Stdio::null()).stderr(slave).spawn().unwrap();
    env.set("DEMO_FAULT", "hang");
    let name = env.submit("Go on", &[]);
    let first = env.worker_pid(&name);
    if first != i32::try_from(worker.id()).unwrap() {
        kill_9(first);
    }
    wait_for("the adoption", || env.owner(&name).filter(|owner| u32::try_from(owner.pid) == Ok(worker.id())));
    assert_eq!(worker.try_wait().unwrap(), None);
    send(i32::try_from(worker.id()).unwrap(), Signal::SIGTERM);
    assert_eq!(worker.wait().unwrap().code(), Some(0));
}

#[test]
fn a_full_disk_behind_standard_error_ends_no_viewer() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut run = env.command(&["run", "Fill up"]).stderr(full()).spawn().unwrap();
    wait_for("the task", || env.column("fill-up", "id"));
    env.live("fill-up", 2);
    assert_eq!(run.try_wait().unwrap(), None, "the task is not finished");
    env.ok(&["pause", "fill-up"]);
    assert_eq!(run.wait().unwrap().code(), Some(5));
    let list = env.command(&["list"]).stdout(full()).stderr(Stdio::piped()).spawn().unwrap();
    let list = crate::sight::finish(list);
    assert_eq!(list.code, 1, "data that is lost is no success");
    assert!(list.stderr.contains("standard output"), "{}", list.stderr);
}

#[test]
fn nothing_of_an_agent_reaches_the_terminal_raw() {
    // Our own colours would hide a stranger's.
    let env = TestEnv::new().var("DEMO_FAULT", "garbage").var("NO_COLOR", "1");
    let (code, shown) = Terminal::run(&env, &["run", "Spit"]).finish();
    assert_eq!(code, 0, "{shown}");
    let own = ["[J", "[h", "[l"];
    let strange: Vec<String> = sequences(&shown).into_iter().filter(|found| !own.contains(&found.as_str())).collect();
    assert!(strange.is_empty(), "not ours: {strange:?}");
    assert!(!shown.contains(['\0', '\u{7}', '\u{202e}']), "{shown:?}");
    for args in [
        &["logs", "spit"][..],
        &["logs", "spit", "--raw"],
        &["logs", "spit", "--json"],
        &["events", "spit"],
        &["show", "spit"],
    ] {
        let (code, shown) = Terminal::run(&env, args).finish();
        assert_eq!(code, 0);
        let strange = shown.chars().find(|c| (c.is_control() && !"\r\n\t".contains(*c)) || *c == '\u{202e}');
        assert_eq!(strange, None, "{args:?}");
    }
    let log = std::fs::read(env.task_dir("spit").join("session.log")).unwrap();
    assert!(log.windows(5).any(|bytes| bytes == b"\x1b]52;"), "the agent did print escapes");
    assert!(env.ok(&["logs", "spit"]).contains("\\u{1b}]52;"), "they are shown visibly");
}

/// Long texts are cut so that each row fits, and ages are easier to read than times. The command is never cut.
#[test]
fn a_list_fits_the_terminal() {
    let env = TestEnv::new().var("NO_COLOR", "1");
    let name = "long-".repeat(20);
    env.submit("Later", &["-n", &name, "--hours", "03:00-03:01"]);
    env.ok(&["pause", &name]);
    let (code, shown) = Terminal::run_in_columns(&env, &["list"], 80).finish();
    let rows: Vec<&str> = shown.lines().collect();
    assert_eq!((code, rows.len()), (0, 3), "{shown}");
    assert!(rows[..2].iter().all(|row| row.chars().count() <= 80), "{shown}");
    assert!(rows[1].contains('…'), "{shown}");
    assert!(rows[1].contains("paused") && rows[1].ends_with("just now"), "{shown}");
    assert_eq!(rows[2], format!("    longhaul resume {name}"));
    assert!(env.ok(&["list"]).contains(&format!("! {name}  paused")), "a pipe gets all of it");
}

#[test]
fn there_is_no_colour_with_no_color() {
    let mut env = TestEnv::new().var("NO_COLOR", "1");
    for args in [&["run", "Grey"][..], &["list"], &["show", "grey"], &["run", "--wrong"]] {
        let (_, shown) = Terminal::run(&env, args).finish();
        assert!(!sequences(&shown).contains("[m"), "{args:?} {shown:?}");
    }
    env.unset("NO_COLOR");
    let (_, shown) = Terminal::run(&env, &["list"]).finish();
    assert!(sequences(&shown).contains("[m"), "without it there is: {shown:?}");
    assert!(!env.ok(&["list"]).contains('\u{1b}'), "in a pipe there is none");
    for always in [&["list", "--color", "always"][..], &["--color=always", "list"]] {
        assert!(sequences(&env.ok(always)).contains("[m"), "{always:?}");
    }
    let (_, shown) = Terminal::run(&env, &["list", "--color", "never"]).finish();
    assert!(!sequences(&shown).contains("[m"), "{shown:?}");
    let (_, shown) = Terminal::run(&env, &["run", "--wrong", "--color=never"]).finish();
    assert!(!sequences(&shown).contains("[m"), "{shown:?}");
    assert_eq!(env.run(&["list", "--color", "sometimes"]).code, 2);
    env.set("CLICOLOR_FORCE", "1");
    assert!(sequences(&env.ok(&["list"])).contains("[m"), "forced in a pipe");
    env.set("NO_COLOR", "1");
    assert!(!env.ok(&["list"]).contains('\u{1b}'), "NO_COLOR comes first");
    assert!(sequences("\u{1b}[1;31mred\u{1b}[0m").contains("[m"), "the check can fail");
}

#[test]
fn a_reader_who_left_is_no_error() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Talk"]).code, 0);
    for args in
        [&["list"][..], &["list", "--json"], &["logs", "talk"], &["events", "talk"], &["show", "talk"], &["--help"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = env.command(args);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let done = crate::sight::finish(child);
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        assert!(!done.stderr.contains("panicked"), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn without_a_reader_a_stream_ends_and_a_code_still_counts() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Talk", &[]);
    env.live(&name, 2);
    let unread = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        env.command(args).stdout(writer).stderr(Stdio::null()).status().unwrap().code()
    };
    assert_eq!(unread(&["logs", "-f", &name]), Some(0), "it does not follow for nobody");
    env.ok(&["pause", &name]);
    assert_eq!(unread(&["wait", &name]), Some(5), "paused, whoever reads that");
}
