//! What must hold of the demo agent's own ledger: which agents really ran, and never two of one task at once.

use std::collections::BTreeMap;

use super::record::TaskRow;
use crate::env::{TestEnv, processes_with};

pub(super) fn check(env: &TestEnv, tasks: &[TaskRow], found: &mut Vec<String>) {
    let mut starts: BTreeMap<String, u32> = BTreeMap::new();
    for line in env.ledger_lines() {
        let session = line["session"].as_str().unwrap_or("none").to_owned();
        match line["event"].as_str() {
            Some("overlap") => found.push(format!("I2: session {session} ran beside another agent of its task")),
            Some("start") => *starts.entry(session).or_default() += 1,
            _ => {}
        }
    }
    for task in tasks {
        for session in task.sessions() {
            let executed = starts.remove(session.id).unwrap_or(0);
            if executed > 1 {
                found.push(format!("I6: session {} was executed {executed} times", session.id));
            }
            let Some(ended) = session.ended else { continue };
            if executed > 0 && ended["exit"] == "never_started" {
                found.push(format!("I3: session {} was executed and is said never to have started", session.id));
            }
            let marked = processes_with(&format!("LONGHAUL_SESSION={}", session.id));
            if !marked.is_empty() || !env.members(session.id).is_empty() {
                found.push(format!("I5: session {} has ended and has processes", session.id));
            }
        }
    }
    found
        .extend(starts.keys().map(|session| format!("I6: an agent ran for session {session}, which nobody committed")));
}
