//! `longhaul session`: an agent that is only a shell script reports, leaves a checkpoint, asks a person and says that it is done.
//! The script finds the binary on PATH, as an installed one would.

use std::fs;
use std::os::unix::fs::symlink;

use super::{DIALECT, file, launches, started, table, tell, world};
use crate::env::{TestEnv, wait_for};

/// A world whose agent runs these commands in its first working session.
fn saying(config: &str, commands: &str) -> TestEnv {
    let env = world(config);
    symlink(env!("CARGO_BIN_EXE_longhaul"), env.path().join("bin/longhaul")).unwrap();
    tell(&env, "say", commands);
    env
}

fn said(env: &TestEnv) -> String {
    fs::read_to_string(env.path().join("fake/said")).unwrap_or_default()
}

fn prompt(env: &TestEnv) -> String {
    fs::read_to_string(env.path().join("fake/prompt")).unwrap()
}

#[test]
fn an_agent_reports_and_its_word_that_it_is_done_proves_nothing() {
    let commands = "export API_TOKEN=hunter2-hunter2-hunter2
        longhaul session report 'half of it' --completed 'file one' --failed 'file two=no room' --cursor 'file 3'
        printf 'the password is hunter2-hunter2-hunter2' | longhaul session checkpoint -
        longhaul session done 'all of it'
        longhaul session report --completed '' --key k; longhaul session report --completed '' --key k";
    let env = saying(&table("mine"), commands);
    let done = env.run(&["run", "Make files", "--name", "t", "--agent", "mine", "--check", "test -e file-2"]);
    assert_eq!(done.code, crate::env::PASSED, "{}", done.stderr);
    assert_eq!(launches(&env).len(), 3, "a planning session and one for each step, whatever it said");
    let said = said(&env);
    assert!(said.contains("not taken as proof") && said.contains("secret value(s) were masked"), "{said}");
    assert!(said.contains("already carried out under its key"), "{said}");
    let kinds = env.kinds("t");
    let count = |kind: &str| kinds.iter().filter(|have| *have == kind).count();
    assert_eq!((count("reported"), count("checkpointed"), count("said_done")), (2, 1, 1), "{kinds:?}");
    let show = env.ok(&["show", "t"]);
    for words in ["all of it", "file two: no room", "1 completed, 1 failed", "file 3", "not taken as proof"] {
        assert!(show.contains(words), "{words}: {show}");
    }
    let page = env.ok(&["report", "t"]);
    assert!(page.contains("## Reported by the agent") && page.contains("## Sessions"), "{page}");
    let events = env.ok(&["events", "t", "--json"]);
    assert!(!show.contains("hunter2") && !page.contains("hunter2") && !events.contains("hunter2"), "{show}");
    env.ok(&["store", "check"]);
}

#[test]
fn an_agent_asks_a_person_and_the_next_session_has_the_answer() {
    let env = saying(&table("mine"), "longhaul session help 'which colour?' --hint 'name one'\nsleep 600");
    let waited = env.run(&["run", "Make files", "--name", "t", "--agent", "mine"]);
    assert_eq!(waited.code, 5, "{}", waited.stderr);
    assert!(waited.stderr.contains("which colour?") || waited.stdout.contains("which colour?"), "{}", waited.stderr);
    assert!(said(&env).contains("end your turn now"), "{}", said(&env));
    let why = env.ok(&["why", "t"]);
    assert!(why.contains("the agent asks: which colour?") && why.contains("longhaul resume t --reason"), "{why}");
    assert!(env.ok(&["list"]).contains("which colour?"));
    assert_eq!(env.run(&["resume", "t"]).code, 2, "an answer is needed");
    assert_eq!(file(&env, "file-1"), "");
    env.ok(&["resume", "t", "--reason", "green"]);
    assert_eq!(env.settle("t"), "done");
    let sessions = started(&env, "t");
    assert!(sessions[2]["resumes"].is_string(), "the conversation is resumed: {sessions:?}");
    let ended = env.events("t").into_iter().filter(|event| event["event"]["kind"] == "session_ended");
    assert_eq!(ended.filter(|event| event["event"]["ended"]["stopped_by"] == "task").count(), 1);
    assert_eq!(env.task("t")["tally"]["failures"], 0, "asking is no failure");
}

/// Without a conversation the next session gets the checkpoint, and the answer all the same.
#[test]
fn an_agent_without_conversations_continues_from_its_checkpoint() {
    let plain = "argv = [\"strict-agent\", \"--prompt-file\", \"{prompt_file}\"]\nprompt = \"file\"\n";
    let config = format!("[agents.plain]\n{plain}{}", DIALECT.replace("id = \"/session/id\"\n", ""));
    let commands = "longhaul session checkpoint 'painted the fence' --cursor 'the gate'
        longhaul session help 'which colour?'
        longhaul session report 'too late'
        exit 0";
    let env = saying(&config, commands);
    assert_eq!(env.run(&["run", "Make files", "--name", "t", "--agent", "plain"]).code, 5);
    assert!(said(&env).contains("its session is being stopped"), "{}", said(&env));
    env.ok(&["resume", "t", "--reason", "green", "--once"]);
    assert_eq!(env.settle("t"), "paused");
    let prompt = prompt(&env);
    for words in ["session 2 left this checkpoint", "painted the fence", "the gate", "which colour?", "green"] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    env.ok(&["resume", "t"]);
    assert_eq!(env.settle("t"), "done");
}

#[test]
fn what_an_agent_may_not_say_is_refused_and_changes_nothing() {
    let env = saying(
        &table("mine"),
        "longhaul session help ''\nlonghaul session checkpoint ' '\ntouch \"$FAKE_DIR/asked\"\nsleep 600",
    );
    let task = env.submit("Make files", &["--agent", "mine"]);
    wait_for("the refusals", || env.path().join("fake/asked").exists().then_some(()));
    let said = said(&env);
    assert!(said.contains("empty reason") && said.contains("empty summary"), "{said}");
    let session = env.task(&task)["state"]["session"]["id"].as_str().unwrap().to_owned();
    let before = env.kinds(&task);
    let other = env.run(&["session", "report", "I am a person"]);
    assert!(other.code == 8 && other.stderr.contains("longhaul tell"), "{}", other.stderr);
    let stranger = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";
    let below =
        |session: &str| env.command(&["session", "report", "x"]).env("LONGHAUL_SESSION", session).output().unwrap();
    assert_eq!(below(stranger).status.code(), Some(8));
    assert_eq!(env.kinds(&task), before);
    assert_eq!(below(&session).status.code(), Some(0), "the control: the live session may");
    env.ok(&["pause", &task, "--now"]);
    assert_eq!(env.settle(&task), "paused");
    let late = below(&session);
    assert_eq!(late.status.code(), Some(8));
    assert!(String::from_utf8_lossy(&late.stderr).contains("while it runs"), "{late:?}");
}
