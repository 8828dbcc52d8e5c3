//! The sessions of a task as `show` lists them: what each was for, whose it was, how it began and how it ended.
//! Only words; the facts are the events'.

use std::time::Duration;

use longhaul_core::task::{Delivered, SessionRecord};

use crate::out;
use longhaul_app::Call;
use longhaul_app::describe;

/// Prints the list.
pub(super) fn print(call: &Call, records: &[SessionRecord]) {
    if records.is_empty() {
        return;
    }
    out::data("\nsessions");
    for record in records {
        let run = &record.run;
        let facts = facts(record).join(", ");
        out::data(&format!("  {:>3}  {:5}  {}", run.number, run.purpose.to_string(), out::readable(&facts)));
        for more in details(record) {
            out::data(&format!("       {}", out::readable(&more)));
        }
        out::data(&format!("       {}", out::readable(&call.home().session(run.id).display().to_string())));
    }
}

fn facts(record: &SessionRecord) -> Vec<String> {
    let run = &record.run;
    let ended = record.ended.as_ref();
    let mut facts = vec![ended.map_or_else(|| "running".to_owned(), |ended| ended.exit.to_string())];
    facts.extend(ended.map(|ended| out::span(Duration::from_millis(ended.lasted_ms))));
    facts.extend((!run.agent.is_empty()).then(|| run.agent.clone()));
    facts.extend(run.resumes.as_ref().map(|id| format!("resumed {id}")));
    facts.extend(run.command.as_ref().map(|command| format!("`{command}`")));
    facts
}

/// What is worth a line of its own.
fn details(record: &SessionRecord) -> Vec<String> {
    let mut details = Vec::new();
    if describe::is_degraded(&record.run) {
        details.push(format!("began: {}", describe::opening(&record.run)));
    }
    if let Some(ended) = &record.ended {
        if matches!(ended.delivered, Delivered::No | Delivered::NoTranscript) {
            details.push(format!("its prompt: {}", describe::delivered(ended.delivered)));
        }
        details.extend(ended.denied.iter().map(|what| format!("refused: {what}")));
    }
    details
}
