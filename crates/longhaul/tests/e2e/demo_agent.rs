//! The demo agent alone, as the program it is: what it prints, writes, remembers and refuses, and how the one with faults misbehaves.
//! Everything else here trusts them to do what these tests say.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::env::DEMO_AGENT;

const PLAN: &str = "Task Directory: .autonomous/t\nSession: mark-1\nYou are the Initializer Agent.\n";
const WORK: &str = "Task Directory: .autonomous/t\nYou are the Executor Agent.\n";

struct Bench {
    directory: TempDir,
    program: &'static str,
}

struct Ended {
    status: ExitStatus,
    raw: Vec<u8>,
    lines: Vec<Value>,
    stderr: String,
}

impl Ended {
    fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["type"] == kind).collect()
    }

    fn says(&self, text: &str) -> bool {
        self.of_type("text").iter().any(|line| line["text"].as_str().is_some_and(|said| said.contains(text)))
    }

    fn id(&self) -> String {
        self.of_type("session")[0]["id"].as_str().unwrap().to_owned()
    }

    fn is_done(&self) -> bool {
        self.status.code() == Some(0) && self.lines.last().is_some_and(|line| line["type"] == "done")
    }
}

impl Bench {
    /// A bench for the agent with faults.
    fn new() -> Self {
        Self::of(DEMO_AGENT)
    }

    /// A bench for the agent that is installed.
    fn plain() -> Self {
        Self::of(env!("CARGO_BIN_EXE_longhaul"))
    }

    fn of(program: &'static str) -> Self {
        let bench = Self { directory: tempfile::tempdir().unwrap(), program };
        fs::create_dir(bench.workspace()).unwrap();
        bench
    }

    fn planned(goal: &str) -> Self {
        Self::new().with_plan(goal)
    }

    fn with_plan(self, goal: &str) -> Self {
        assert!(self.run("", &format!("Goal: {goal}\n{PLAN}"), "").is_done());
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    fn list(&self) -> String {
        fs::read_to_string(self.workspace().join(".autonomous/t/task_list.md")).unwrap()
    }

    fn ticked(&self) -> usize {
        self.list().matches("- [x] Task").count()
    }

    fn ledger(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("ledger")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn command(&self, arguments: &str, fault: &str) -> Command {
        let mut command = Command::new(self.program);
        command.arg("demo-agent").args(arguments.split_whitespace()).env("DEMO_FAULT", fault);
        command.env("LONGHAUL_HOME", self.directory.path());
        command.env("DEMO_AGENT_HOME", self.path("home")).env("DEMO_LEDGER", self.path("ledger"));
        command.current_dir(self.workspace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, fault: &str, prompt: &str) -> Child {
        prompted(&mut self.command("", fault), prompt)
    }

    fn run(&self, arguments: &str, prompt: &str, fault: &str) -> Ended {
        let output = prompted(&mut self.command(arguments, fault), prompt).wait_with_output().unwrap();
        let lines = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let lines = lines.filter(|line: &Value| line.is_object()).collect();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Ended { status: output.status, lines, raw: output.stdout, stderr }
    }

    fn shell(&self, script: &str) -> String {
        let output = Command::new("sh").args(["-ec", script]).current_dir(self.workspace()).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn prompted(command: &mut Command, prompt: &str) -> Child {
    let mut child = command.spawn().unwrap();
    // An agent that refuses its arguments never reads the prompt.
    drop(child.stdin.take().unwrap().write_all(prompt.as_bytes()));
    child
}

fn wait_for_session_line(child: &mut Child) {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("\"type\":\"session\"")));
}

/// For what the kernel tells nobody: that a process stopped or became another program.
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn builds_a_todo_app_that_works() {
    let bench = Bench::plain();
    bench.shell("git init -q; echo mine >mine.txt; git add mine.txt");
    let planned = bench.run("", &format!("Goal: a todo app\n{PLAN}"), "");
    assert!(planned.is_done());
    assert!(bench.workspace().join(".autonomous/t/progress.md").exists());
    for done in [2, 4, 6] {
        let worked = bench.run("", WORK, "");
        assert!(worked.is_done());
        assert_eq!((bench.ticked(), worked.of_type("usage").len()), (done, 2));
        assert_eq!(worked.of_type("tool").iter().filter(|line| line["name"] == "git").count(), 2, "{:?}", worked.lines);
    }
    assert!(bench.run("", WORK, "").says("All steps are done"));
    bench.shell("sh test.sh");
    let listed =
        "sh todo.sh add 'a  b'; sh todo.sh add c; sh todo.sh done 1; sh todo.sh rm 2; sh todo.sh list; rm todo.txt";
    assert_eq!(bench.shell(listed), "1 [x] a  b\n");
    assert_eq!(bench.shell("git log --format=%an").lines().count(), 6);
    assert_eq!(bench.shell("git ls-tree --name-only HEAD"), "README.md\ntest.sh\ntodo.sh\n");
    assert_eq!(bench.shell("git status --porcelain"), "A  mine.txt\n?? .autonomous/\n");
    let progress = fs::read_to_string(bench.workspace().join(".autonomous/t/progress.md")).unwrap();
    assert_eq!((progress.matches("## Session").count(), progress.matches("### Accomplished").count()), (3, 6));
}

#[test]
fn a_broken_app_does_not_get_its_last_tick() {
    let bench = Bench::planned("a todo app");
    for _ in 0..2 {
        bench.run("", WORK, "");
    }
    let mut command = bench.command("", "");
    command.env("DEMO_STEPS_PER_SESSION", "1");
    assert!(prompted(&mut command, WORK).wait_with_output().unwrap().status.success());
    assert_eq!(bench.ticked(), 5);
    bench.shell("sed -i 's/^add)/plus)/' todo.sh");
    assert!(bench.run("", WORK, "").says("Task 6 stays open"));
    assert_eq!(bench.ticked(), 5);
}

#[test]
fn other_goals_get_notes_and_lost_work_comes_back() {
    let bench = Bench::plain().with_plan("port the parser");
    bench.run("", WORK, "");
    assert_eq!(bench.ticked(), 2);
    bench.shell("rm step-1.md; echo 'a person wrote this' >step-3.md");
    let worked = bench.run("", WORK, "");
    assert!(worked.says("`step-3.md` is not my file") && worked.says("Task 3 stays open"));
    assert!(bench.shell("cat step-1.md").contains("port the parser"));
    assert_eq!(bench.shell("cat step-3.md"), "a person wrote this\n");
    assert_eq!(bench.ticked(), 2);
}

#[test]
fn a_readme_of_a_person_is_kept_but_a_foreign_script_ends_the_work() {
    let bench = Bench::plain().with_plan("a todo app");
    bench.shell("echo mine >README.md");
    assert!(bench.run("", WORK, "").is_done());
    assert_eq!((bench.ticked(), bench.shell("cat README.md").as_str()), (2, "mine\n"));
    bench.shell("echo mine >todo.sh");
    assert!(bench.run("", WORK, "").says("Task 3 stays open"));
    assert_eq!((bench.ticked(), bench.shell("cat todo.sh").as_str()), (2, "mine\n"));
}

#[test]
fn the_installed_program_knows_no_faults() {
    let bench = Bench::plain().with_plan("port it");
    let worked = bench.run("", WORK, "crash-early,no-such-fault,lie");
    assert!(worked.is_done() && bench.ticked() == 2, "{}", worked.stderr);
    assert!(bench.path("demo-agent").exists() && !bench.path("home").exists() && !bench.path("ledger").exists());
}

#[test]
fn refuses_before_it_leaves_a_trace() {
    let bench = Bench::new();
    let refused = [
        (bench.run("--json", WORK, ""), "unknown argument `--json`"),
        (bench.run("", "", ""), "standard input is empty"),
        (bench.run("", "You are the Executor Agent.", ""), "Task Directory"),
        (bench.run("", WORK, "crush"), "unknown fault `crush`"),
    ];
    for (ended, message) in &refused {
        assert_eq!((ended.status.code(), ended.lines.len()), (Some(2), 0), "{message}");
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    }
    assert!(!bench.path("home").exists() && !bench.path("ledger").exists());
    assert!(bench.run("--model m", "hello", "").is_done());
}

#[test]
fn resumes_what_it_knows_and_nothing_else() {
    let bench = Bench::new();
    let first = bench.run("", &format!("Goal: port it\n{PLAN}"), "no-plan");
    let id = first.id();
    assert!(!bench.workspace().join(".autonomous").exists());
    let second = bench.run(&format!("--resume {id}"), PLAN, "");
    assert!(second.is_done() && second.id() == id && second.says("turn 2"));
    assert!(bench.list().contains("port it"), "the goal is remembered");
    let unknown = bench.run("--resume demo-0123", WORK, "");
    assert_eq!(unknown.status.code(), Some(1));
    assert_eq!(unknown.lines[0]["class"], "bad_conversation");
    let ledger = bench.ledger();
    assert_eq!(ledger[0]["prompt_mark"], "mark-1");
    let resumed: Vec<_> =
        ledger.iter().map(|line| (line["invocation"].as_u64().unwrap(), line["resume"] == true)).collect();
    assert_eq!(resumed, [(1, false), (1, false), (2, true), (2, true), (3, true), (3, true)]);
}

#[test]
fn crashes_when_asked_and_recovers() {
    let bench = Bench::planned("a todo app");
    let early = bench.run("", WORK, "crash-early");
    assert_eq!((early.status.signal(), early.lines.len()), (Some(9), 0));
    let spared = bench.run("", WORK, "crash@2,crash-late@4");
    assert!(spared.is_done(), "this is the third invocation");
    let late = bench.run("", WORK, "crash@2,crash-late@4");
    assert_eq!((late.status.signal(), late.of_type("done").len(), bench.ticked()), (Some(9), 0, 4));
    let crashed = bench.run("", WORK, "crash");
    assert_eq!((crashed.status.signal(), crashed.of_type("tool").len(), bench.ticked()), (Some(9), 1, 4));
    assert!(bench.run("", WORK, "").is_done());
    bench.shell("sh test.sh");
    let ended = bench.ledger().iter().filter(|line| line["event"] == "end").count();
    assert_eq!((bench.ledger().len(), ended), (6 + 3, 3));
}

#[test]
fn a_hang_obeys_term_and_a_hard_one_does_not() {
    let bench = Bench::new();
    let mut soft = bench.start("hang", WORK);
    wait_for_session_line(&mut soft);
    signal(&soft, Signal::TERM);
    assert_eq!(soft.wait().unwrap().signal(), Some(15));

    let mut hard = bench.start("hang-hard", WORK);
    let name = format!("/proc/{}/comm", hard.id());
    wait_until("exec", || fs::read_to_string(&name).is_ok_and(|name| name == "sleep\n"));
    signal(&hard, Signal::TERM);
    signal(&hard, Signal::INT);
    bench.run("", WORK, "exit:0");
    signal(&hard, Signal::KILL);
    assert_eq!(hard.wait().unwrap().signal(), Some(9), "it died of KILL, not of the TERM before");
    bench.run("", WORK, "exit:0");
    let overlaps: Vec<_> = bench
        .ledger()
        .iter()
        .filter(|line| line["event"] == "overlap")
        .map(|line| line["invocation"].clone())
        .collect();
    assert_eq!(overlaps, [3], "alive beside the hard hang, alone after it");
}

#[test]
fn a_stopped_agent_goes_on_when_continued() {
    let bench = Bench::planned("port it");
    let child = bench.start("stop", WORK);
    let status = format!("/proc/{}/status", child.id());
    wait_until("stop", || fs::read_to_string(&status).is_ok_and(|status| status.contains("State:\tT")));
    assert_eq!(bench.ticked(), 0);
    signal(&child, Signal::CONT);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(bench.ticked(), 2);
}

#[test]
fn leaves_daemons_of_other_sessions() {
    let bench = Bench::planned("port it");
    let log = bench.path("out");
    let mut command = bench.command("", "daemon");
    command.stdout(File::create(&log).unwrap()).env("LONGHAUL_SESSION", "s-1");
    assert!(prompted(&mut command, WORK).wait().unwrap().success());
    let line = bench.ledger().into_iter().find(|line| line["event"] == "daemon").unwrap();
    let pids: Vec<i32> = line["pids"].as_array().unwrap().iter().map(|pid| pid.as_i64().unwrap() as i32).collect();
    let agent = line["pid"].as_i64().unwrap() as i32;
    assert_eq!((pids.len(), &line["session"]), (3, &Value::from("s-1")));
    wait_until("setsid", || {
        pids.iter().all(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n"))
    });
    let has_output = |pid: &&i32| fs::read_link(format!("/proc/{pid}/fd/1")).is_ok_and(|target| target == log);
    let has_mark = |pid: &&i32| fs::read(format!("/proc/{pid}/environ")).unwrap().windows(3).any(|part| part == b"s-1");
    assert_eq!(pids.iter().filter(has_output).collect::<Vec<_>>(), [&pids[2]]);
    assert_eq!(pids.iter().filter(has_mark).collect::<Vec<_>>(), [&pids[0], &pids[2]]);
    assert!(test_kill_process(Pid::from_raw(agent).unwrap()).is_err());
    for pid in pids {
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }
}

#[test]
fn limits_hold_until_their_time() {
    let bench = Bench::planned("port it");
    let limited = bench.run("", WORK, "limit:99999999999999");
    assert_eq!((limited.status.code(), bench.ticked()), (Some(1), 0));
    assert_eq!(limited.lines.last().unwrap()["until_ms"], 99_999_999_999_999_i64);
    assert_eq!(bench.run("", WORK, "limit").lines.last().unwrap()["until_ms"], Value::Null);
    let relative = |_| bench.run("", WORK, "limit:+9000000").lines.last().unwrap()["until_ms"].as_i64().unwrap();
    let [first, second] = [(), ()].map(relative);
    assert_eq!(first, second, "counted from the first invocation");
    assert!(bench.run("", WORK, "limit:5,limit:+0").is_done());
    assert_eq!(bench.ticked(), 2);
}

#[test]
fn lies_say_done_and_do_something_else() {
    let bench = Bench::planned("port it");
    bench.run("", WORK, "");
    let honest = bench.list();
    let restore = || fs::write(bench.workspace().join(".autonomous/t/task_list.md"), &honest).unwrap();
    assert!(bench.run("", WORK, "lie").is_done());
    assert_eq!(bench.list(), honest);
    assert!(bench.run("", WORK, "lie-delete").is_done());
    assert_eq!((bench.list().matches("] Task").count(), bench.ticked()), (2, 2));
    restore();
    assert!(bench.run("", WORK, "lie-untick").is_done());
    assert_eq!(bench.list(), honest.replace("[x]", "[ ]"));
    assert!(bench.run("", WORK, "lie-garbage-list").is_done());
    assert!(!bench.list().contains("## Tasks"));
}

#[test]
fn noise_does_not_stop_the_work() {
    let bench = Bench::planned("port it");
    let noisy = bench.run("", WORK, "flood:1000000,long-line:300000,garbage,says:exit code 0,env-dump,slow:1");
    assert!(noisy.is_done() && noisy.says("exit code 0") && noisy.says("DEMO_LEDGER="));
    assert!(noisy.raw.len() > 1_400_000 && std::str::from_utf8(&noisy.raw).is_err());
    let longest = noisy.raw.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
    assert_eq!((longest, bench.ticked()), (Some(300_000), 2));
}

#[test]
fn reports_failures_and_exits_as_told() {
    let bench = Bench::planned("port it");
    for (fault, class) in [("auth", "auth"), ("server-error", "server"), ("context-full", "context_full")] {
        let ended = bench.run("", WORK, fault);
        assert_eq!((ended.status.code(), &ended.lines.last().unwrap()["class"]), (Some(1), &Value::from(class)));
    }
    let exited = bench.run("", WORK, "exit:7");
    assert_eq!((exited.status.code(), exited.of_type("done").len(), bench.ticked()), (Some(7), 0, 0));
}

#[test]
fn a_half_plan_is_finished_by_planning_again() {
    let bench = Bench::new();
    let progress = |bench: &Bench| Path::new(&bench.workspace()).join(".autonomous/t/progress.md").exists();
    assert!(bench.run("", PLAN, "half-plan").is_done());
    assert!(!progress(&bench));
    let list = bench.list();
    assert!(bench.run("", PLAN, "").is_done());
    assert!(progress(&bench) && bench.list() == list);
}

#[test]
fn a_fixing_prompt_is_answered_with_a_visible_fix_or_none() {
    const FIX: &str = "You are the Executor Agent.\nTask Directory: .autonomous/t\nChecks that failed:\n- `make`\n";
    let bench = Bench::planned("port it");
    let fixes = || fs::read_to_string(bench.workspace().join("FIXES.md")).unwrap_or_default();
    let progress = || fs::read_to_string(bench.workspace().join(".autonomous/t/progress.md")).unwrap();
    let (list, before) = (bench.list(), progress());
    assert!(bench.run("", FIX, "no-fix").is_done());
    assert_eq!((fixes().as_str(), progress() == before), ("", true));
    assert!(bench.run("", FIX, "").is_done());
    assert_eq!(fixes(), "- fix 1: fixed what the checks found\n");
    assert!(progress().contains("see FIXES.md, fix 1"), "{}", progress());
    assert!(bench.run("", FIX, "").is_done());
    assert_eq!((fixes().lines().count(), bench.list()), (2, list), "a fix ticks nothing");
}

#[test]
fn reports_tokens_and_money_as_told_and_works_on() {
    let bench = Bench::planned("port it");
    let ended = bench.run("", WORK, "tokens:5000,cost:1500000");
    let used = ended.of_type("usage");
    assert_eq!((&used[0]["input"], &used[0]["cost_micros"]), (&Value::from(5000), &Value::Null));
    assert_eq!((&used[1]["input"], &used[1]["cost_micros"]), (&Value::from(0), &Value::from(1_500_000)));
    assert_eq!((ended.is_done(), bench.ticked()), (true, 2));
}
