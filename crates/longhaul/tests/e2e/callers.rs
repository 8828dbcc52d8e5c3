//! Who may change tasks: a person may, an agent may not, and a caller in another PID namespace than a worker may only read.

use std::process::{Command, Stdio};

use crate::bot::bot;
use crate::env::{Done, TestEnv, done, wait_for};
use crate::rounds::one_step;
use crate::sight::listing;

/// A PID namespace with its own `/proc`; an ordinary user gets it inside a user namespace.
fn namespace() -> Vec<&'static str> {
    let own = ["--pid", "--fork", "--mount-proc"];
    let rights: &[&str] = if nix::unistd::geteuid().is_root() { &[] } else { &["--user", "--map-current-user"] };
    [rights, &own].concat()
}

/// Whether this user may have a PID namespace. Where a machine of ours must have it, its lack is a failure.
fn may_unshare() -> bool {
    let tried = Command::new("unshare").args(namespace()).arg("true").stderr(Stdio::null()).status();
    let may = tried.is_ok_and(|status| status.success());
    assert!(may || std::env::var_os("CI").is_none(), "this machine must be able to make PID namespaces");
    may
}

/// Runs a verb in another PID namespace.
fn elsewhere(env: &TestEnv, args: &[&str]) -> Done {
    let mut command = env.command_of("unshare".as_ref(), &namespace());
    done(&command.arg(env!("CARGO_BIN_EXE_longhaul")).args(args).output().unwrap())
}

#[test]
fn a_caller_in_another_pid_namespace_than_a_worker_may_only_read() {
    if !may_unshare() {
        return;
    }
    let env = one_step().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Do it", &["--check", "false"]);
    env.live(&name, 2);
    let before = (env.events(&name), listing(&env.home()));
    for args in [
        &["pause", &name][..],
        &["resume", &name, "--reason", "I say so"],
        &["edit", &name, "--check", "true"],
        &["tell", &name, "hello"],
        &["plan", &name, "--accept"],
        &["cancel", &name],
        &["retry", &name],
        &["run", "-d", "Another"],
        &["worker", "-d"],
        &["gc"],
        &["demo"],
        &["trust", "."],
        &["service", "install"],
        &["takeover", &name],
        &["run-session", "Another"],
    ] {
        let done = elsewhere(&env, args);
        assert_eq!(done.code, 8, "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains("different PID namespaces"), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains("run the command where the worker runs"), "{args:?}: {}", done.stderr);
    }
    for args in [&["list"][..], &["show", &name], &["why", &name], &["logs", &name], &["events", &name], &["doctor"]] {
        assert_eq!(elsewhere(&env, args).code, 0, "{args:?}");
    }
    assert_eq!(elsewhere(&env, &["wait", &name, "--timeout", "0"]).code, 124);
    assert_eq!(before, (env.events(&name), listing(&env.home())));
    env.ok(&["pause", &name]);
    env.deserted();
    let done = elsewhere(&env, &["cancel", &name]);
    assert_eq!(done.code, 0, "the control, with no worker left: {}", done.stderr);
}

#[test]
fn an_agent_that_hides_in_new_namespaces_is_not_taken_for_a_person() {
    if !may_unshare() {
        return;
    }
    let env = bot(&format!(
        r#"work() {{
            env -i PATH="$PATH" HOME="$HOME" LONGHAUL_HOME="$LONGHAUL_HOME" unshare {} --cgroup \
                longhaul edit "$task" --check true >"$SCRATCH_DIR/said" 2>&1
            echo "exit $?" >>"$SCRATCH_DIR/said"
            tick
        }}"#,
        namespace().join(" ")
    ));
    let name = env.submit("Do it", &["--check", "false", "--fix-attempts", "0"]);
    let said = wait_for("the agent's attempt", || Some(env.noted("said")).filter(|said| said.contains("exit")));
    assert!(said.contains("exit 8"), "{said}");
    assert_eq!(env.settle(&name), "needs_help", "its own check still counts");
    assert!(!env.kinds(&name).contains(&"edited".to_owned()));
}
