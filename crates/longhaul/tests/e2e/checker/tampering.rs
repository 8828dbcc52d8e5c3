//! The checker's negative controls: each damage to a healthy home must be complained of, by the right invariant.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rusqlite::Connection;

use super::{assert_clean, violations};
use crate::env::TestEnv;

/// A home with one finished task in it, and what its files were.
struct Healthy {
    env: TestEnv,
    kept: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl Healthy {
    fn new() -> Healthy {
        Healthy::with(&[])
    }

    fn with(more: &[&str]) -> Healthy {
        let env = TestEnv::new().var("DEMO_STEPS", "2");
        let task = env.submit("Tampered with", more);
        assert_eq!(env.settle(&task), "done");
        env.wait_until_empty();
        assert_clean(&env);
        let session = env.home().join("sessions").join(first_session(&env));
        let files = ["longhaul.db", "longhaul.db-wal", "longhaul.db-shm"].map(|name| env.home().join(name));
        let more = ["out.log", "exit", "end", "index"].map(|name| session.join(name));
        let paths = files.into_iter().chain(more).chain([env.ledger()]);
        let kept = paths.map(|path| (path.clone(), std::fs::read(path).ok())).collect();
        Healthy { env, kept }
    }

    /// Damages the home, sees that the checker says so, and puts everything back.
    #[track_caller]
    fn must_complain(&self, of: &str, damage: impl FnOnce(&TestEnv)) {
        damage(&self.env);
        let found = violations(&self.env);
        assert!(found.iter().any(|what| what.starts_with(of)), "no complaint that begins with `{of}`: {found:?}");
        for (path, content) in &self.kept {
            match content {
                Some(content) => {
                    std::fs::write(path, content).unwrap();
                    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
                }
                None => drop(std::fs::remove_file(path)),
            }
        }
        assert_clean(&self.env);
    }
}

fn first_session(env: &TestEnv) -> String {
    session_of(&env.ledger_lines()[0])
}

fn session_of(line: &serde_json::Value) -> String {
    line["session"].as_str().unwrap().to_owned()
}

/// Changes the database as someone with an editor would, past the triggers that forbid it.
fn sql(statement: &'static str) -> impl FnOnce(&TestEnv) {
    move |env| tamper(env, statement)
}

fn tamper(env: &TestEnv, statement: &str) {
    let connection = Connection::open(env.home().join("longhaul.db")).unwrap();
    connection.execute_batch("DROP TRIGGER events_are_not_changed; DROP TRIGGER events_are_not_deleted;").unwrap();
    assert!(connection.execute(statement, []).unwrap() > 0, "`{statement}` changed nothing");
}

fn append_to_ledger(change: impl Fn(&str) -> String) -> impl FnOnce(&TestEnv) {
    move |env| {
        let text = std::fs::read_to_string(env.ledger()).unwrap();
        let line = change(text.lines().next().unwrap());
        std::fs::write(env.ledger(), format!("{text}{line}\n")).unwrap();
    }
}

#[test]
fn a_changed_history_is_noticed() {
    let home = Healthy::new();
    home.must_complain("I7: the hash of event 2", sql("UPDATE events SET payload = payload || ' ' WHERE seq = 2"));
    home.must_complain("I7: the hash of event 3", sql("UPDATE events SET at = at + 1 WHERE seq = 3"));
    home.must_complain("I7: event 3 is missing", sql("DELETE FROM events WHERE seq = 3"));
    home.must_complain("I7: the head", sql("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)"));
    home.must_complain("I7: the events do not replay", sql("UPDATE snapshots SET body = replace(body, 'demo', 'd')"));
    home.must_complain("I7: the row says", sql("UPDATE tasks SET state = 'paused'"));
    home.must_complain("I7: the row has live session", sql("UPDATE tasks SET live_session = 'x'"));
}

#[test]
fn a_second_owner_or_agent_is_noticed() {
    let home = Healthy::new();
    home.must_complain("I2: event 4 of epoch 0", sql("UPDATE events SET epoch = 0 WHERE seq = 4"));
    home.must_complain("I2: event 5 is of epoch 2", sql("UPDATE events SET epoch = 2 WHERE seq >= 5"));
    home.must_complain("I2: the row is of epoch", sql("UPDATE tasks SET epoch = 7"));
    home.must_complain(
        "I2: event 4 claims epoch 1 a second time",
        sql("UPDATE events SET kind = 'claimed' WHERE seq = 4"),
    );
    home.must_complain(
        "I2: event",
        sql("UPDATE events SET kind = 'noted' WHERE seq = (SELECT min(seq) FROM events WHERE kind = 'session_ended')"),
    );
    home.must_complain("I2: session", append_to_ledger(|line| line.replace("\"start\"", "\"overlap\"")));
    home.must_complain("I6: session", append_to_ledger(str::to_owned));
    let stranger = "0190a0b0-c0d0-7000-8000-000000000001";
    home.must_complain(
        "I6: an agent ran for session 0190a0b0",
        append_to_ledger(|line| {
            let own: serde_json::Value = serde_json::from_str(line).unwrap();
            line.replace(own["session"].as_str().unwrap(), stranger)
        }),
    );
}

#[test]
fn an_invented_success_is_noticed() {
    let home = Healthy::new();
    let unknown = "UPDATE events SET payload = replace(payload, '\"exit\":{\"code\":0}', '\"exit\":\"unknown\"') \
                   WHERE kind = 'session_ended'";
    home.must_complain("I3: session", sql(unknown));
    home.must_complain("I3: ended with", sql(unknown));
    home.must_complain(
        "I3: done without",
        sql("UPDATE events SET payload = replace(payload, '\"ticked\":[', '\"was\":[') WHERE kind = 'plan_revised'"),
    );
    let never = "UPDATE events SET payload = replace(payload, '\"exit\":{\"code\":0}', '\"exit\":\"never_started\"')";
    home.must_complain("I3: session", sql(never));
    let killed = never.replace("\"never_started\"", "{\"signal\":15}");
    home.must_complain("I3: session", |env| tamper(env, &killed));
    let session = home.env.home().join("sessions").join(first_session(&home.env));
    home.must_complain("I3: ended with", |_| std::fs::remove_file(session.join("exit")).unwrap());
}

#[test]
fn invented_evidence_is_noticed() {
    let home = Healthy::with(&["--check", "echo one", "--check", "echo two", "--expect", "step-1.md"]);
    let forge = |from: &str, to: &str, kind: &str| {
        format!("UPDATE events SET payload = replace(payload, '{from}', '{to}') WHERE kind = '{kind}'")
    };
    let cases = [
        ("I3: evidence says", forge(r#""exit":{"code":0}"#, r#""exit":{"code":7}"#, "checked")),
        ("I3: evidence says", forge(r#""exit":{"code":0}"#, r#""exit":"unknown""#, "session_ended")),
        ("I3: verified without a passed run", forge(r#""lasted_ms""#, r#""failure":"x","lasted_ms""#, "checked")),
        ("I3: verified by a round", forge(r#""passed""#, r#""failed""#, "round_ended")),
        ("I3: verified without the expected file", forge(r#""sha256":""#, r#""was":""#, "round_started")),
        ("I3: evidence of session", forge("echo one", "echo six", "checked")),
        ("I3: evidence of session", forge(r#""sha256":""#, r#""sha256":"0"#, "checked")),
        (
            "I3: verified although the agent worked",
            forge(r#""purpose":"check""#, r#""purpose":"work""#, "session_started"),
        ),
        ("I3: verified without a round", "UPDATE events SET kind = 'noted' WHERE kind = 'round_started'".to_owned()),
    ];
    for (complaint, statement) in cases {
        home.must_complain(complaint, |env| tamper(env, &statement));
    }
}

#[test]
fn lost_or_repeated_output_is_noticed() {
    let home = Healthy::new();
    let session = home.env.home().join("sessions").join(first_session(&home.env));
    let shorten = |name: &str, by: u64| {
        let file = std::fs::OpenOptions::new().write(true).open(session.join(name)).unwrap();
        let length = file.metadata().unwrap().len();
        file.set_len(length - by).unwrap();
    };
    home.must_complain("I4: out.log has", |_| shorten("out.log", 1));
    home.must_complain("I4: the index covers", |_| shorten("index", 24));
    home.must_complain("I4: gap", |_| std::fs::remove_file(session.join("end")).unwrap());
    home.must_complain(
        "I6: the agent told of",
        sql("UPDATE events SET payload = replace(payload, '\"usage\":{\"input\":', '\"usage\":{\"input\":1') \
             WHERE kind = 'session_read'"),
    );
    // Both sessions' readings as one session's: how often a single one is read depends on the machine.
    let sessions: BTreeSet<String> = home.env.ledger_lines().iter().map(session_of).collect();
    let [first, .., second] = &Vec::from_iter(sessions)[..] else { panic!("two sessions expected") };
    let twice = format!(
        "UPDATE events SET payload = replace(replace(payload, '\"byte\":', '\"byte\":0,\"was\":'), '{second}', '{first}') \
         WHERE kind = 'session_read'"
    );
    home.must_complain("I6: output was read", |env| tamper(env, &twice));
}

#[test]
fn what_is_left_behind_is_noticed() {
    let home = Healthy::new();
    let root = home.env.home();
    let session = root.join("sessions").join(first_session(&home.env));
    for path in [
        root.join("surprise"),
        root.join(".longhaul.db.tmp"),
        root.join("workers/0190a0b0-c0d0-7000-8000-000000000001.lock"),
        session.join(".exit.1-0.tmp"),
        root.join("sessions/0190a0b0-c0d0-7000-8000-000000000001"),
    ] {
        std::fs::write(&path, "").unwrap();
        let found = violations(&home.env);
        assert!(found.iter().any(|what| what.starts_with("I8: left behind")), "{}: {found:?}", path.display());
        std::fs::remove_file(&path).unwrap();
        assert_clean(&home.env);
    }
}

#[test]
fn a_prompt_that_stayed_and_an_open_door_are_noticed() {
    let home = Healthy::new();
    let session = home.env.home().join("sessions").join(first_session(&home.env));
    let must_complain = |of: &str| {
        let found = violations(&home.env);
        assert!(found.iter().any(|what| what.starts_with(of)), "no complaint that begins with `{of}`: {found:?}");
    };
    std::fs::write(session.join("prompt"), "").unwrap();
    must_complain("I8: the prompt outlived");
    std::fs::remove_file(session.join("prompt")).unwrap();
    assert_clean(&home.env);
    std::fs::set_permissions(session.join("spec"), PermissionsExt::from_mode(0o644)).unwrap();
    must_complain("I8: others may read");
}

#[test]
fn a_process_that_outlives_its_session_is_noticed() {
    let home = Healthy::new();
    let marker = first_session(&home.env);
    let mut stray =
        Command::new("sleep").arg("600").env("LONGHAUL_SESSION", marker).stdin(Stdio::null()).spawn().unwrap();
    let found = violations(&home.env);
    stray.kill().unwrap();
    stray.wait().unwrap();
    assert!(found.iter().any(|what| what.starts_with("I5: session")), "{found:?}");
    assert_clean(&home.env);
}
