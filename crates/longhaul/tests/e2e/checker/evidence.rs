//! What must hold of a task's evidence (I3): every piece is of a check whose end was seen, says what its files say, and a verified
//! task has a passing one for every command, all of one round.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::record::{SessionRow, TaskRow};
use crate::env::TestEnv;

pub(super) fn check(env: &TestEnv, task: &TaskRow, found: &mut Vec<String>) {
    let mut complain = |what: String| found.push(format!("I3: {what} (task {})", task.name));
    let sessions = task.sessions();
    let checked = task.events.iter().filter(|row| row.kind == "checked").map(|row| &row.event["evidence"]);
    for evidence in checked {
        match sessions.iter().find(|session| evidence["session"] == session.id) {
            Some(session) => of_a_seen_end(env, evidence, session, &mut complain),
            None => complain(format!("evidence of session {}, which nobody committed", evidence["session"])),
        }
    }
    verified_by_a_whole_round(task, &mut complain);
    set_up_before_any_agent(task, &mut complain);
}

fn of_a_seen_end(env: &TestEnv, evidence: &Value, session: &SessionRow<'_>, complain: &mut dyn FnMut(String)) {
    let id = session.id;
    let is_its_own = match session.run["purpose"].as_str() {
        Some("check") => true,
        Some("setup") => evidence["role"] == "setup",
        _ => false,
    };
    if !is_its_own || session.run["command"] != evidence["command"] {
        complain(format!("evidence of session {id}, which ran something else"));
    }
    let exit = session.ended.map_or(&Value::Null, |ended| &ended["exit"]);
    let waited_for = exit["code"].is_i64() || exit["signal"].is_i64() || exit["not_executable"].is_string();
    if !waited_for || *exit != evidence["exit"] {
        complain(format!("evidence says {}, session {id} ended with {exit}", evidence["exit"]));
    }
    if evidence["failure"].is_null() && evidence["exit"] != json!({ "code": 0 }) {
        complain(format!("evidence of session {id} calls {exit} a pass"));
    }
    let directory = env.home().join("sessions").join(id);
    let mut hash = Sha256::new();
    for log in ["out.log", "err.log"] {
        hash.update(std::fs::read(directory.join(log)).unwrap_or_default());
    }
    let printed: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let whole = evidence["output"]["bytes"].as_u64() < Some(1 << 20);
    // A longer log is in pieces, of which some may be gone.
    if whole && evidence["output"]["sha256"] != json!(printed) {
        complain(format!("evidence of session {id} is not what its log holds"));
    }
}

/// In a worktree whose task has a setup, an agent starts after a setup that passed, unless a person changed the setup.
fn set_up_before_any_agent(task: &TaskRow, complain: &mut dyn FnMut(String)) {
    let find = |kind: &str, is_it: &dyn Fn(&Value) -> bool| {
        task.events.iter().position(|row| row.kind == kind && is_it(&row.event))
    };
    let in_worktree = find("placed", &|event| event["workspace"]["branch"].is_string()).is_some();
    let wants_setup = task.events.first().is_some_and(|row| row.event["submission"]["setup"].is_string());
    let changed = find("edited", &|event| event["settings"].to_string().contains("\"setup\"")).is_some();
    let is_agent =
        |event: &Value| ["plan", "work", "fix"].iter().any(|purpose| event["session"]["purpose"] == *purpose);
    let Some(agent) = find("session_started", &is_agent).filter(|_| in_worktree && wants_setup && !changed) else {
        return;
    };
    let passed = |event: &Value| event["evidence"]["role"] == "setup" && event["evidence"]["failure"].is_null();
    if find("checked", &passed).is_none_or(|setup| setup > agent) {
        complain("an agent started in a worktree that was not set up".into());
    }
}

/// Everything since the last round began: one passing piece of evidence per command, no work in between, and a passed outcome.
fn verified_by_a_whole_round(task: &TaskRow, complain: &mut dyn FnMut(String)) {
    let finished = task.events.iter().find(|row| row.kind == "finished");
    let passed = |verdict: &Value| verdict["verified"].is_object() || verdict["not_verified"].is_object();
    if !finished.is_some_and(|row| passed(&row.event["verdict"])) {
        return;
    }
    let Some(begun) = task.events.iter().rposition(|row| row.kind == "round_started") else {
        return complain("verified without a round of checks".into());
    };
    let round = &task.events[begun..];
    let ended = round.iter().find(|row| row.kind == "round_ended");
    if !ended.is_some_and(|row| row.event["outcome"]["passed"].is_object()) {
        complain("verified by a round that did not pass".into());
    }
    let ran =
        |row: &&super::record::EventRow| row.kind == "session_started" && row.event["session"]["purpose"] != "check";
    if round.iter().any(|row| ran(&row)) {
        complain("verified although the agent worked after the round began".into());
    }
    let passed: Vec<&Value> = round
        .iter()
        .filter(|row| row.kind == "checked" && row.event["evidence"]["failure"].is_null())
        .map(|row| &row.event["evidence"]["command"])
        .collect();
    for command in wanted(task) {
        if !passed.contains(&&command) {
            complain(format!("verified without a passed run of {command}"));
        }
    }
    const INTERRUPTIONS: [&str; 5] = ["stop_asked", "paused", "held", "blocked", "wait_started"];
    if let Some(row) = round.iter().find(|row| INTERRUPTIONS.contains(&row.kind.as_str())) {
        complain(format!("verified by a round that was interrupted: {}", row.kind));
    }
    // In a clean checkout they are looked for after each check.
    let later = round.iter().rev().map(|row| &row.event["ended"]["expected"]).find(|files| files.is_array());
    let files = later.unwrap_or(&round[0].event["files"]).as_array().cloned().unwrap_or_default();
    for path in task.events[0].event["submission"]["expects"].as_array().into_iter().flatten() {
        if !files.iter().any(|file| file["path"] == *path && file["sha256"].is_string()) {
            complain(format!("verified without the expected file {path}"));
        }
    }
}

/// Every command of the task, those of its criteria too, as they were last changed.
fn wanted(task: &TaskRow) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let submission = &task.events[0].event["submission"];
    let edits = task.events.iter().filter(|row| row.kind == "edited");
    let edited = edits.flat_map(|row| list(&row.event["settings"])).rfind(|setting| setting["setting"] == "checks");
    let checks = list(edited.as_ref().map_or(&submission["checks"], |setting| &setting["value"]));
    let criteria = list(&submission["criteria"]).into_iter().map(|criterion| criterion["check"].clone());
    checks.into_iter().chain(criteria.filter(Value::is_string)).collect()
}
