//! The list of sessions in `show`: purpose, agent, how each began and ended.
//! Text from outside is made safe before it is printed.

use std::time::Duration;

use longhaul_app::describe::delivered;
use longhaul_app::report::SessionRow;
use longhaul_core::task::Delivered;

use super::Detail;
use crate::out;

/// Prints the list.
pub(super) fn print(rows: &[SessionRow], detail: Detail) {
    if rows.is_empty() {
        return;
    }
    out::data("\nsessions");
    for row in rows {
        out::data(&format!("  {:>3}  {:5}  {}", row.number, row.purpose, out::readable(&facts(row).join(", "))));
        for more in details(row) {
            out::data(&format!("       {}", out::readable(&more)));
        }
        if detail == Detail::Everything {
            out::data(&format!("       {}", out::readable(&row.artifact)));
        }
    }
}

fn facts(row: &SessionRow) -> Vec<String> {
    let mut facts = vec![row.exit.clone().unwrap_or_else(|| "running".to_owned())];
    facts.extend(row.lasted_ms.map(|ms| out::span(Duration::from_millis(ms))));
    facts.extend(row.agent.clone());
    facts.extend(row.resumed.as_ref().map(|id| format!("resumed {id}")));
    facts.extend(row.command.as_ref().map(|command| format!("`{command}`")));
    facts
}

/// Facts that get their own line.
fn details(row: &SessionRow) -> Vec<String> {
    let began = row.opening.as_ref().filter(|_| row.degraded).map(|opening| format!("began: {opening}"));
    let lost = row.delivered.filter(|delivered| matches!(delivered, Delivered::No | Delivered::NoTranscript));
    let lost = lost.map(|lost| format!("its prompt: {}", delivered(lost)));
    let denied = row.denied.iter().map(|what| format!("refused: {what}"));
    began.into_iter().chain(lost).chain(denied).collect()
}
