//! Files of ours that an agent or a careless person removed or closed while workers and sessions live.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use crate::checker::violations;
use crate::env::{DEADLINE, TestEnv, done, wait_for};
use crate::sight::{gone, kill_9, listing, send};

fn claims(env: &TestEnv, name: &str) -> usize {
    env.kinds(name).iter().filter(|kind| *kind == "claimed").count()
}

fn locks(env: &TestEnv) -> Vec<PathBuf> {
    let files = listing(&env.home().join("workers")).into_keys();
    files.filter(|path| path.extension().is_some_and(|end| end == "lock")).collect()
}

#[test]
fn workers_whose_lock_files_were_removed_come_to_rest() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    env.make_repository();
    let mut workers = [1, 2, 3].map(|number| {
        let worker = env.start(&["worker", "--stay"]);
        wait_for("the worker's lock", || (locks(&env).len() == number).then_some(()));
        worker
    });
    let name = env.submit("Stay calm", &["--backoff", "30ms"]);
    let live = env.live(&name, 2);
    let alive = locks(&env);
    alive.iter().for_each(|lock| std::fs::remove_file(lock).unwrap());
    wait_for("every worker to put its lock back", || (locks(&env) == alive).then_some(()));
    // Whoever took the task meanwhile keeps it: all of them go round while another task is done.
    let another = env.submit("Meanwhile", &["--agent", "demo"]);
    assert_eq!(env.settle(&another), "done");
    let before = claims(&env, &name);
    let another = env.submit("And again", &["--agent", "demo"]);
    assert_eq!(env.settle(&another), "done");
    assert_eq!(claims(&env, &name), before, "nobody takes it from a living owner");
    kill_9(live.agent);
    assert_eq!(env.settle(&name), "done");
    for worker in &mut workers {
        send(i32::try_from(worker.id()).unwrap(), Signal::SIGTERM);
        worker.wait().unwrap();
    }
    assert_eq!(violations(&env), [""; 0]);
}

#[test]
fn the_workers_log_is_exchanged_when_it_is_full_and_counts_what_repeats() {
    let env = TestEnv::new();
    let worker: i32 = env.ok(&["worker", "--stay", "-d"]).trim().parse().unwrap();
    let lock = wait_for("the worker's lock", || locks(&env).pop());
    let (log, old) = (env.home().join("worker.log"), env.home().join("worker.log.1"));
    let full = "longhaul worker: earlier\n".repeat(50_000);
    std::fs::OpenOptions::new().append(true).open(&log).unwrap().write_all(full.as_bytes()).unwrap();
    for _ in 0..10 {
        std::fs::remove_file(&lock).unwrap();
        wait_for("the lock to be back", || lock.exists().then_some(()));
    }
    send(worker, Signal::SIGTERM);
    gone(worker);
    assert_eq!(std::fs::read_to_string(&old).unwrap(), full, "kept as it was");
    let message = "longhaul worker: this worker's lock file was removed; restored it";
    let written = std::fs::read_to_string(&log).unwrap();
    assert_eq!(written.lines().collect::<Vec<_>>(), [message, &format!("{message} (reported 10 times)")]);
}

/// As an ordinary user, because nothing is closed to root.
#[test]
fn a_session_directory_that_its_agent_closed_is_opened_again() {
    let env = TestEnv::new();
    let agent = env.path().join("agent.sh");
    std::fs::write(&agent, AGENT).unwrap();
    std::fs::create_dir_all(env.path().join("config/longhaul")).unwrap();
    let argv = format!(
        "[agents.bot]\nargv = [\"/bin/sh\", \"{}\"]\ndone = {{ when = {{ \"/event\" = \"done\" }} }}\n",
        agent.display()
    );
    std::fs::write(env.path().join("config/longhaul/config.toml"), argv).unwrap();
    let us = nix::unistd::geteuid();
    let run = |args: &[&str]| {
        let mut command = env.command(args);
        command.env("HOME", env.path());
        if us.is_root() {
            command.uid(NOBODY);
        }
        done(&command.output().unwrap())
    };
    give(env.path(), if us.is_root() { NOBODY } else { us.as_raw() });
    assert_eq!(run(&["run", "-d", "--name", "t", "--agent", "bot", "Close it"]).code, 0);
    let waited = run(&["wait", "t", "--timeout", &DEADLINE.as_secs().to_string()]);
    assert_eq!(waited.code, 0, "{}", run(&["why", "t"]).stdout);
    give(env.path(), us.as_raw());
    assert!(env.path().join("closed").exists(), "the control: the agent closed it");
    let ends: Vec<_> = env.sessions("t").iter().map(|session| session["ended"]["exit"].clone()).collect();
    assert!(ends.iter().all(|exit| exit["code"] == 0), "each end was seen: {ends:?}");
    for directory in std::fs::read_dir(env.home().join("sessions")).unwrap().flatten() {
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
    let log = std::fs::read_to_string(env.home().join("worker.log")).unwrap_or_default();
    assert!(log.lines().count() < 10, "{log}");
}

const NOBODY: u32 = 65534;

/// Closes the directory of its second session.
const AGENT: &str = r#"
prompt=$(cat); dir=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p')
case $prompt in
    *"Initializer Agent"*) printf '# T\n\n## Tasks\n\n- [ ] Task 1: x\n' >"$dir/task_list.md"; echo p >"$dir/progress.md" ;;
    *) chmod 000 "$LONGHAUL_HOME/sessions/$LONGHAUL_SESSION"; touch "$HOME/closed"; sed -i 's/- \[ \]/- [x]/' "$dir/task_list.md" ;;
esac
echo '{"event":"done"}'
"#;

fn give(path: &Path, user: u32) {
    let everything = listing(path).into_keys().chain([path.to_owned()]);
    // The worker may be about to remove its lock.
    everything.for_each(|path| drop(std::os::unix::fs::chown(path, Some(user), None)));
}
