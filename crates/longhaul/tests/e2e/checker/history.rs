//! What must hold of one task's events: an unbroken chain, epochs in order, one session at a time, and no invented success.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::record::TaskRow;

pub(super) fn check(task: &TaskRow, found: &mut Vec<String>) {
    let mut complain = |what: String| found.push(format!("{what} (task {})", task.name));
    chain(task, &mut complain);
    ownership(task, &mut complain);
    sessions_alternate(task, &mut complain);
    truthful_ends(task, &mut complain);
    row_agrees(task, &mut complain);
}

/// I7: sequence numbers without a gap, and every hash made from the one before.
fn chain(task: &TaskRow, complain: &mut dyn FnMut(String)) {
    let mut hash: [u8; 32] = Sha256::digest(task.id.as_bytes()).into();
    for (row, expected) in task.events.iter().zip(1i64..) {
        if row.seq != expected {
            return complain(format!("I7: event {expected} is missing, {} follows", row.seq));
        }
        let (seq, at, epoch) = (row.seq.to_le_bytes(), row.at.to_le_bytes(), row.epoch.to_le_bytes());
        let fields: [&[u8]; 7] =
            [task.id.as_bytes(), &seq, &at, &epoch, row.actor.as_bytes(), row.kind.as_bytes(), row.payload.as_bytes()];
        let mut bytes = hash.to_vec();
        for field in fields {
            bytes.extend(u64::try_from(field.len()).unwrap().to_le_bytes());
            bytes.extend(field);
        }
        hash = Sha256::digest(&bytes).into();
        if hex(&hash) != row.hash {
            return complain(format!("I7: the hash of event {expected} does not fit"));
        }
    }
    if hex(&hash) != task.head {
        complain("I7: the head is not the hash of the last event".into());
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// I2: epochs never go back, and every claim opens a new one.
fn ownership(task: &TaskRow, complain: &mut dyn FnMut(String)) {
    let mut epoch = 0;
    let mut claimed = 0;
    for row in &task.events {
        if row.epoch < epoch {
            complain(format!("I2: event {} of epoch {} comes after epoch {epoch}", row.seq, row.epoch));
        }
        epoch = epoch.max(row.epoch);
        if row.kind == "claimed" {
            if row.epoch <= claimed {
                complain(format!("I2: event {} claims epoch {} a second time", row.seq, row.epoch));
            }
            claimed = row.epoch;
        }
        if row.epoch != claimed {
            complain(format!("I2: event {} is of epoch {}, which nobody claimed", row.seq, row.epoch));
        }
    }
    if task.epoch != epoch {
        complain(format!("I2: the row is of epoch {}, its last event of {epoch}", task.epoch));
    }
}

/// I2: a session starts only when none lives, and only the living one is read or ends.
fn sessions_alternate(task: &TaskRow, complain: &mut dyn FnMut(String)) {
    let mut live: Option<&str> = None;
    let mut numbers = 0;
    for row in &task.events {
        let named = row.event["session"].as_str();
        match row.kind.as_str() {
            "session_started" => {
                if let Some(live) = live {
                    complain(format!("I2: event {} starts a session while {live} lives", row.seq));
                }
                numbers += 1;
                if row.event["session"]["number"] != json!(numbers) {
                    complain(format!("I2: event {} does not start session number {numbers}", row.seq));
                }
                live = row.event["session"]["id"].as_str();
            }
            "session_read" | "session_ended" if named != live || live.is_none() => {
                complain(format!("I2: event {} is about a session that does not live", row.seq));
            }
            "session_ended" => live = None,
            _ => {}
        }
    }
    if task.live_session.as_deref() != live {
        complain(format!("I7: the row has live session {:?}, the events {live:?}", task.live_session));
    }
}

/// I3: a completed session was seen to exit with 0, or to be told to stop when its turn was over, and `done` means that every step is ticked.
fn truthful_ends(task: &TaskRow, complain: &mut dyn FnMut(String)) {
    for session in task.sessions() {
        let Some(ended) = session.ended else { continue };
        let checks = session.run["purpose"] == "check" || session.run["purpose"] == "setup";
        let told = ended["stopped_by"] == "over" && ended["exit"]["signal"].is_i64();
        let seen = if checks { ended["exit"]["code"].is_i64() } else { told || ended["exit"] == json!({ "code": 0 }) };
        if ended["outcome"] == "completed" && !seen {
            complain(format!("I3: session {} completed with exit {}", session.id, ended["exit"]));
        }
    }
    if task.state != "done" {
        return;
    }
    let followed_up = task.events.last().is_some_and(|row| row.event["verdict"]["followed_up"].is_object());
    if task.events.first().is_some_and(|row| row.event["submission"]["follow_up"].is_object()) {
        if !followed_up {
            complain("I3: a follow-up is done without what came of it".into());
        }
        return;
    }
    let ticks = last_plan(task);
    if ticks.is_empty() || ticks.values().any(|ticked| !ticked) {
        complain("I3: done without every step ticked in the last accepted plan".into());
    }
}

/// The steps of the last accepted plan and whether each is ticked, from the whole plans and differences that were stored.
fn last_plan(task: &TaskRow) -> BTreeMap<u64, bool> {
    let mut ticks = BTreeMap::new();
    for event in task.events.iter().map(|row| &row.event) {
        let steps = |part: &Value| part["steps"].as_array().cloned().unwrap_or_default();
        let numbers =
            |part: &Value| part.as_array().cloned().unwrap_or_default().into_iter().filter_map(|n| n.as_u64());
        if event["plan"].is_object() {
            ticks.clear();
        }
        ticks.extend(numbers(&event["ticked"]).map(|number| (number, true)));
        for step in steps(&event["plan"]).into_iter().chain(steps(&event["difference"])) {
            ticks.insert(step["number"].as_u64().unwrap_or(0), step["ticked"] == true);
        }
        let removed: Vec<u64> = numbers(&event["difference"]["removed"]).collect();
        ticks.retain(|number, _| !removed.contains(number));
    }
    ticks
}

/// I7: the columns say what the events say, and a snapshot of the last event says it too.
fn row_agrees(task: &TaskRow, complain: &mut dyn FnMut(String)) {
    let last = task.events.last().map_or(0, |row| row.seq);
    if task.version != last {
        complain(format!("I7: version {}, last event {last}", task.version));
    }
    if let Some(snapshot) = &task.snapshot {
        let version = snapshot["version"].as_i64().unwrap_or(0);
        if !(1..=last).contains(&version) {
            complain(format!("I7: snapshot of version {version}, last event {last}"));
        }
        if version == last && snapshot["state"]["state"] != json!(task.state) {
            complain(format!("I7: the row says {}, the snapshot {}", task.state, snapshot["state"]["state"]));
        }
    }
    let blocked = task.events.iter().rfind(|row| row.kind == "blocked").map(|row| &row.event["cause"]);
    let probed = blocked.is_some_and(|cause| cause["disk"].is_object() || cause["memory"].is_object());
    let ownerless = match task.state.as_str() {
        "done" | "cancelled" | "paused" | "needs_help" | "stopped" => true,
        "blocked" => !probed,
        _ => false,
    };
    if ownerless && task.owner.is_some() {
        complain(format!("I2: {} but owned", task.state));
    }
}
