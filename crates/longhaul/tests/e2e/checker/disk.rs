//! What must hold of the files in a home: logs complete or said to be incomplete, ends as recorded, and nothing left behind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::record::{SessionRow, TaskRow};
use crate::env::TestEnv;
use crate::processes::is_free;

const HOME: [&str; 17] = [
    "empty",
    "longhaul.db",
    "longhaul.db-wal",
    "longhaul.db-shm",
    "doorbell",
    "session-cap",
    "git",
    "holds",
    "redact.key",
    "sessions",
    "workers",
    "worktrees",
    "checkouts",
    "worker.log",
    "worker.log.1",
    "gc.stamp",
    // The demo agent's own memory; what is in it is the agent's affair.
    "demo-agent",
];
const SESSION: [&str; 12] = [
    "session.lock",
    "spec",
    "prompt",
    "identity",
    "out.log",
    "err.log",
    "index",
    "exit",
    "end",
    "revoked",
    "ballast",
    "stalled",
];
const INDEX_RECORD: usize = 24;

pub(super) fn check(env: &TestEnv, tasks: &[TaskRow], found: &mut Vec<String>) {
    let home = env.home();
    let mut known = BTreeSet::new();
    for session in tasks.iter().flat_map(TaskRow::sessions) {
        known.insert(session.id.to_owned());
        let directory = home.join("sessions").join(session.id);
        let mut complain = |what: String| found.push(format!("{what} (session {})", session.id));
        ends_as_recorded(&session, &directory, &mut complain);
        logs_are_whole(&directory, &mut complain);
        read_exactly_once(&session, &directory, &mut complain);
        if session.ended.is_some() && directory.join("prompt").exists() {
            complain("I8: the prompt outlived its session".to_owned());
        }
    }
    strays(&home, &known, found);
    private(&home, found);
}

/// I3 and I4: the event says what the keeper's files say, and a keeper that died is a gap of unknown size.
fn ends_as_recorded(session: &SessionRow<'_>, directory: &Path, complain: &mut dyn FnMut(String)) {
    let Some(ended) = session.ended else { return };
    let [identity, exit, end] = ["identity", "exit", "end"].map(|name| record(&directory.join(name)));
    let told = match &exit {
        Some(exit) => match (&exit["status"]["code"], &exit["status"]["signal"]["number"]) {
            (Value::Null, Value::Null) => return,
            (Value::Null, signal) => json!({ "signal": signal }),
            (code, _) => json!({ "code": code }),
        },
        None if identity.is_some() => json!("unknown"),
        None => json!("never_started"),
    };
    if ended["exit"] != told {
        complain(format!("I3: ended with {}, the files say {told}", ended["exit"]));
    }
    let gap = match end.map(|end| end["gap_bytes"].as_u64().unwrap_or(0)) {
        Some(0) => json!("none"),
        Some(bytes) => json!({ "bytes": bytes }),
        None if told == "never_started" => json!("none"),
        None => json!("unknown_size"),
    };
    if ended["gap"] != gap {
        complain(format!("I4: gap {}, the files say {gap}", ended["gap"]));
    }
}

/// I4: the index covers each log without a hole, and an ended keeper's lengths are the files' lengths.
fn logs_are_whole(directory: &Path, complain: &mut dyn FnMut(String)) {
    let index = std::fs::read(directory.join("index")).unwrap_or_default();
    let end = record(&directory.join("end"));
    for (stream, log, field) in [(0u8, "out.log", "out_len"), (1, "err.log", "err_len")] {
        let length = std::fs::metadata(directory.join(log)).map_or(0, |meta| meta.len());
        let mut covered = 0;
        for piece in index.chunks_exact(INDEX_RECORD).filter(|piece| piece[20] == stream) {
            let offset = u64::from_le_bytes(piece[8..16].try_into().unwrap());
            if offset != covered {
                complain(format!("I4: the index of {log} jumps from {covered} to {offset}"));
            }
            covered = offset + u64::from(u32::from_le_bytes(piece[16..20].try_into().unwrap()));
        }
        if covered > length || (end.is_some() && covered != length) {
            complain(format!("I4: the index covers {covered} bytes of {log}, which has {length}"));
        }
        if let Some(end) = end.as_ref().filter(|end| end[field] != json!(length)) {
            complain(format!("I4: {log} has {length} bytes, its keeper wrote {}", end[field]));
        }
    }
}

/// I6: what was committed as read is what the log holds, once: no piece twice after a crash, and none left out.
fn read_exactly_once(session: &SessionRow<'_>, directory: &Path, complain: &mut dyn FnMut(String)) {
    let offsets: Vec<u64> =
        session.readings.iter().filter_map(|event| event["read"]["offset"]["byte"].as_u64()).collect();
    if !offsets.is_sorted_by(|one, next| one < next) {
        complain(format!("I6: output was read at {offsets:?}, which is not forward"));
    }
    if session.ended.is_none() {
        return;
    }
    let log = std::fs::read(directory.join("out.log")).unwrap_or_default();
    let lines = log.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let used: Vec<Value> = lines.filter(|line| line["type"] == "usage").collect();
    for field in ["input", "output"] {
        let printed: u64 = used.iter().filter_map(|line| line[field].as_u64()).sum();
        let counted: u64 = session.readings.iter().filter_map(|event| event["said"]["usage"][field].as_u64()).sum();
        if printed != counted {
            complain(format!("I6: the agent told of {printed} {field} tokens, {counted} were counted"));
        }
    }
}

/// I8: nothing with an unknown name, no half-written file, no directory of a session nobody committed, no lock of a dead worker.
fn strays(home: &Path, sessions: &BTreeSet<String>, found: &mut Vec<String>) {
    let mut stray = |path: PathBuf| found.push(format!("I8: left behind: {}", path.display()));
    for (_, path) in entries(home).into_iter().filter(|(name, _)| !HOME.contains(&name.as_str())) {
        stray(path);
    }
    for (_, path) in entries(&home.join("workers")) {
        let is_of_a_worker = path.extension().is_some_and(|end| end == "lock" || end == "sock");
        if !is_of_a_worker || is_free(&path.with_extension("lock")) {
            stray(path);
        }
    }
    for (id, directory) in entries(&home.join("sessions")) {
        if !sessions.contains(&id) {
            stray(directory);
            continue;
        }
        for (_, path) in entries(&directory).into_iter().filter(|(name, _)| !SESSION.contains(&name.as_str())) {
            stray(path);
        }
    }
}

/// I8: what is kept is for its owner only. Worktrees are the project's, with the rights that its files have there.
fn private(home: &Path, found: &mut Vec<String>) {
    use std::os::unix::fs::PermissionsExt;
    for (name, path) in
        entries(home).into_iter().filter(|(name, _)| !["worktrees", "checkouts", "git"].contains(&name.as_str()))
    {
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.permissions().mode() & 0o077 != 0 {
            found.push(format!("I8: others may read {name} of {}", home.display()));
        }
        if meta.is_dir() {
            private(&path, found);
        }
    }
}

fn entries(directory: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    entries.flatten().map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect()
}

fn record(path: &Path) -> Option<Value> {
    // A record that can not be parsed is there all the same: as null it fits nothing.
    Some(serde_json::from_slice(&std::fs::read(path).ok()?).unwrap_or_default())
}
