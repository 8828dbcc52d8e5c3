//! Too little disk or memory: the task is blocked by its cause, no attempt is burned, and it goes on by itself when there is enough.
//!
//! The disk is a small file system in a mount namespace of its own, so that no other program of this machine is disturbed.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::checker;
use crate::env::{Done, TestEnv, done, wait_for};

/// A mount namespace; an ordinary user gets it inside a user namespace.
fn namespace() -> Vec<&'static str> {
    let mount = ["--mount", "--propagation", "private"];
    let rights: &[&str] = if nix::unistd::geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
    [rights, &mount].concat()
}

/// Whether this user may have a mount namespace. Where a machine of ours must have it, its lack is a failure.
fn may_mount() -> bool {
    let tried = Command::new("unshare").args(namespace()).arg("true").stderr(Stdio::null()).status();
    let may = tried.is_ok_and(|status| status.success());
    assert!(may || std::env::var_os("CI").is_none(), "this machine must be able to make mount namespaces");
    may
}

/// Runs a script in a mount namespace where the workspace is a disk of 8 MiB; `longhaul` is the program under test.
fn on_a_small_disk(env: &TestEnv, script: &str) -> Done {
    let prelude = "set -e; mount -t tmpfs -o size=8m none . && cd \"$PWD\"; longhaul() { \"$PROGRAM\" \"$@\"; }\n";
    let mut command = env.command_of("unshare".as_ref(), &namespace());
    command.args(["sh", "-c"]);
    command.arg(format!("{prelude}{script}")).env("PROGRAM", env!("CARGO_BIN_EXE_longhaul"));
    done(&command.output().unwrap())
}

#[test]
pub(crate) fn a_full_disk_blocks_before_a_session_and_heals_by_itself() {
    if !may_mount() {
        return;
    }
    let env = crate::rounds::one_step().var("LONGHAUL_FLOORS_DISK", "4MiB");
    // The home is on the large disk; only the workspace is short.
    let script = "head -c 6000000 /dev/zero > filler
        longhaul run -d 'Do it' --name t --check true
        longhaul wait t --timeout 2 && exit 9 || echo code $?
        longhaul show t
        rm filler
        longhaul wait t --timeout 60 || echo end $?";
    let done = on_a_small_disk(&env, script);
    let said = [done.stdout.as_str(), &done.stderr].concat();
    assert!(done.stdout.contains("code 124"), "{said}");
    assert!(done.stdout.contains("blocked: disk:") && done.stdout.contains("4.0 MiB needed"), "{said}");
    assert!(done.stdout.contains("end 10"), "{said}");
    let kinds = env.kinds("t");
    let of = |kind: &str| kinds.iter().position(|have| have == kind);
    assert!(of("blocked") < of("unblocked") && of("unblocked") < of("session_started"), "{kinds:?}");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_disk_that_runs_full_under_the_agent_is_no_failed_attempt() {
    if !may_mount() {
        return;
    }
    let env = crate::rounds::one_step().var("LONGHAUL_FLOORS_DISK", "1MiB").var("DEMO_FAULT", "stop@2");
    let script = "longhaul run -d 'Do it' --name t --attempts 1 --check true
        until longhaul show t | grep -q 'session .*2, agent'; do :; done
        agent() { longhaul show t | sed -n 's/.*2, agent pid \\([0-9]*\\).*/\\1/p'; }
        until grep -q '^State:.*T' /proc/$(agent)/status; do :; done
        dd if=/dev/zero of=filler bs=64k 2>/dev/null || true
        kill -CONT $(agent)
        until longhaul show t | grep -q blocked; do :; done
        longhaul show t
        rm filler
        longhaul wait t --timeout 60 || echo end $?";
    let done = on_a_small_disk(&env, script);
    let said = [done.stdout.as_str(), &done.stderr].concat();
    assert!(done.stdout.contains("blocked: disk:") && done.stdout.contains("end 10"), "{said}");
    let ended = &env.sessions("t")[1]["ended"];
    assert!(ended["starved"]["disk"].is_object() && ended["outcome"] != "completed", "{ended}");
    assert_eq!(env.task("t")["tally"]["failures"], 0, "with one attempt a burned one would have needed help");
    env.deserted();
    checker::assert_clean(&env);
}

/// The database, the logs and every temporary file are on the full disk; the workspace is not.
#[test]
fn a_home_that_runs_full_is_waited_out_and_nothing_acknowledged_is_lost() {
    if !may_mount() {
        return;
    }
    let env = crate::rounds::one_step().var("DEMO_FAULT", "stop@2");
    let script = "mkdir -p \"$LONGHAUL_HOME\" && mount -t tmpfs -o size=32m,mode=700 none \"$LONGHAUL_HOME\"
        longhaul run -d 'Do it' --name t --check true
        until longhaul show t | grep -q 'session .*2, agent'; do :; done
        agent=$(longhaul show t | sed -n 's/.*2, agent pid \\([0-9]*\\).*/\\1/p')
        until grep -q '^State:.*T' /proc/$agent/status; do :; done
        longhaul events t > before
        dd if=/dev/zero of=\"$LONGHAUL_HOME\"/filler bs=4k 2>/dev/null || true
        longhaul tell t 'no room for this' && exit 9 || echo told $?
        kill -CONT $agent
        until grep -q 'no space left for the database' \"$LONGHAUL_HOME\"/worker.log || ! kill -0 $agent 2>/dev/null; do :; done
        rm \"$LONGHAUL_HOME\"/filler
        longhaul wait t --timeout 60 || echo end $?
        longhaul events t --verify; echo chain $?
        longhaul store check; echo store $?
        longhaul events t | head -n $(wc -l < before) | cmp - before && echo kept";
    let done = on_a_small_disk(&env, script);
    let said = [done.stdout.as_str(), &done.stderr].concat();
    for part in ["told 1", "end 10", "chain 0", "store 0", "kept"] {
        assert!(done.stdout.contains(part), "`{part}` is missing in {said}");
    }
    assert!(done.stderr.contains("free some space"), "{said}");
}

/// A program that reports over HTTP or MCP gets a code and a sentence, still reads, and continues once space is free.
#[test]
fn servers_answer_on_a_full_disk_and_keep_what_they_acknowledged() {
    if !may_mount() {
        return;
    }
    let env = TestEnv::new();
    let script = r#"mkdir -p "$LONGHAUL_HOME" && mount -t tmpfs -o size=8m,mode=700 none "$LONGHAUL_HOME"
        key=$(longhaul keys create k --rights run)
        "$PROGRAM" serve --listen 127.0.0.1:0 --no-worker > address & server=$!
        until grep -q listening address; do :; done
        runs=$(sed 's/listening on //' address)/api/v1/runs
        ask() { curl --silent --header "Authorization: Bearer $key" "$@"; }
        run=$(ask --json '{"goal":"g"}' $runs | sed 's/.*"run_id":"\([^"]*\)".*/\1/')
        text=$(head -c 7000 /dev/zero | tr '\0' x) kept=0
        dd if=/dev/zero of="$LONGHAUL_HOME"/filler bs=64k count=110 2>/dev/null || true
        while ask --json "{\"progress_summary\":\"$kept $text\"}" $runs/$run/update > answer && grep -q '"task_run"' answer; do
            kept=$((kept + 1))
        done
        echo refused $(cat answer)
        hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
        call='{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"task_run_update","arguments":{"run_id":"'$run'","progress_summary":"'$text'"}}}'
        echo tool $(printf '%s\n%s\n' "$hello" "$call" | longhaul mcp | tail -n 1)
        ask $runs/$run | grep -q "\"progress_summary\":\"$((kept - 1)) x" && echo read
        rm "$LONGHAUL_HOME"/filler
        ask --json '{"progress_summary":"room again"}' $runs/$run/update | grep -q '"room again"' && echo healed
        longhaul events $run --json | grep -c '"kind":"reported"' | sed "s/^$((kept + 1))\$/none lost/"
        kill -TERM $server && wait $server && echo ended $?"#;
    let done = on_a_small_disk(&env, script);
    let said = [done.stdout.as_str(), &done.stderr].concat();
    for part in ["read\n", "healed\n", "none lost\n", "ended 0\n"] {
        assert!(done.stdout.contains(part), "`{part}` is missing in {said}");
    }
    for start in ["refused", "tool"] {
        let line =
            done.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {said}"));
        assert!(line.contains("storage_full") && line.contains("no space left") && line.contains("free some space"));
    }
}

#[test]
pub(crate) fn too_little_memory_blocks_and_a_person_may_give_up() {
    let env = TestEnv::new().var("LONGHAUL_FLOORS_MEMORY", "1TiB");
    env.submit("Do it", &["--name", "t"]);
    env.reach("t", "blocked");
    assert_eq!(env.task("t")["state"]["cause"]["memory"]["floor"], json!(1u64 << 40));
    let waited = env.run(&["wait", "t", "--timeout", "1"]);
    assert_eq!(waited.code, 124, "{}", waited.stderr);
    assert!(env.ok(&["why", "t"]).contains("memory"));
    assert_eq!(env.run(&["resume", "t"]).code, 8, "it resumes automatically");
    assert!(env.ledger_lines().is_empty(), "nothing ran");
    env.ok(&["pause", "t"]);
    env.deserted();
    env.ok(&["resume", "t"]);
    env.reach("t", "blocked");
    env.ok(&["cancel", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, 4);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn w20_a_blocked_task_has_an_owner_again_after_its_death() {
    let env = TestEnv::new().var("LONGHAUL_FLOORS_MEMORY", "1TiB");
    env.submit("Do it", &["--name", "t"]);
    env.reach("t", "blocked");
    let first = env.owner("t").unwrap();
    first.kill_9();
    env.ok(&["worker", "--only", "--detach"]);
    wait_for("another owner", || env.owner("t").filter(|owner| *owner != first));
    assert_eq!(env.state("t"), "blocked");
}
