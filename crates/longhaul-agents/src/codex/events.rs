//! One line of `codex exec --json`. Counts what it does not know; never fails.
//!
//! Flow: `thread.started` (the id), then per turn `turn.started`, items, and `turn.completed` or `turn.failed` as the verdict.

use longhaul_core::task::{Outcome, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure;
use crate::json_line::{number, object, text};
use crate::reading::{Moment, Reader, Reading, Shown, TurnEnd, grown};
use crate::text::{conversation_id, one_line, reason, result, without_shell};

/// What the reader remembers between lines.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// The program got as far as its stream, so its command line and configuration were accepted.
    pub(super) started: bool,
    /// The last error since anything went well: what a program that was killed was waiting for.
    pub(super) trouble: Option<String>,
    /// When the exhausted windows of the plan are full again, from the transcript.
    pub(super) resets_at: Option<u64>,
}

/// The thread's counters, which continue over all its sessions.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Totals {
    thread: Option<String>,
    input: Option<u64>,
    output: Option<u64>,
}

pub(super) fn read(reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Reading {
    let Some(event) = object(line) else { return reader.unknown_line() };
    match text(&event, "/type") {
        Some("thread.started") => thread_started(reader, &event),
        Some("turn.started") => turn_started(reader),
        Some("item.started" | "item.updated") => {
            reader.change(|memory: &mut Memory| memory.trouble = None);
            item_started(&event)
        }
        Some("item.completed") => item_completed(reader, &event),
        Some("turn.completed") => turn_completed(reader, &event),
        Some("turn.failed") => turn_failed(reader, moment, &event),
        Some("error") => error(reader, &event),
        _ => Reading { conversation: untold(reader, &event), ..reader.unknown_line() },
    }
}

/// Versions that do not say `thread.started` name the conversation in whatever they begin with.
fn untold(reader: &Reader, event: &Value) -> Option<String> {
    if reader.recall::<Memory>().started {
        return None;
    }
    text(event, "/thread_id").or_else(|| text(event, "/session_id")).and_then(conversation_id)
}

fn thread_started(reader: &mut Reader, event: &Value) -> Reading {
    reader.change(|memory: &mut Memory| memory.started = true);
    let conversation = text(event, "/thread_id").and_then(conversation_id);
    let totals: Totals = reader.carried();
    // Another thread than the one of the last session has counters of its own.
    if totals.thread != conversation {
        reader.carry_on(&Totals { thread: conversation.clone(), ..Totals::default() });
    }
    Reading { conversation, ..Reading::default() }
}

fn turn_started(reader: &mut Reader) -> Reading {
    reader.over = None;
    reader.verdict = None;
    reader.remember(&Memory { started: true, ..Memory::default() });
    Reading::default()
}

fn turn_completed(reader: &mut Reader, event: &Value) -> Reading {
    reader.verdict = Some(Outcome::Completed);
    reader.over = Some(TurnEnd::Done);
    let before: Totals = reader.carried();
    let now = Totals {
        input: number(event, "/usage/input_tokens").or(before.input),
        output: number(event, "/usage/output_tokens").or(before.output),
        thread: before.thread,
    };
    let usage =
        Usage { input: grown(now.input, before.input), output: grown(now.output, before.output), cost_micros: None };
    reader.carry_on(&now);
    Reading { usage, ..Reading::default() }
}

/// What the thread's own record counts beyond what the stream reported: a turn that does not complete reports nothing. Older records
/// of the same thread count less and add nothing.
pub(super) fn count_recorded(reader: &mut Reader, recorded: &Value) -> Usage {
    let before: Totals = reader.carried();
    let unreported = |pointer, before: Option<u64>| {
        number(recorded, pointer)?.checked_sub(before.unwrap_or(0)).filter(|tokens| *tokens > 0)
    };
    let usage = Usage {
        input: unreported("/input_tokens", before.input),
        output: unreported("/output_tokens", before.output),
        cost_micros: None,
    };
    let total = Usage { input: before.input, output: before.output, cost_micros: None }.plus(usage);
    reader.carry_on(&Totals { input: total.input, output: total.output, thread: before.thread });
    usage
}

fn turn_failed(reader: &mut Reader, moment: &Moment<'_>, event: &Value) -> Reading {
    let message = text(event, "/error/message").unwrap_or("the turn failed without a reason");
    reader.verdict = Some(Outcome::Failed(failure::of_message(message, moment)));
    reader.over = Some(TurnEnd::Done);
    Reading::showing(Shown::Notice(reason(message)))
}

/// Only news while it reconnects, and repeated by `turn.failed` when it gives up.
fn error(reader: &mut Reader, event: &Value) -> Reading {
    let message = text(event, "/message").unwrap_or("error without a reason");
    reader.change(|memory: &mut Memory| memory.trouble = Some(reason(message)));
    if failure::is_retried(message) { Reading::showing(Shown::Notice(reason(message))) } else { Reading::default() }
}

fn item_started(event: &Value) -> Reading {
    match (text(event, "/item/type"), text(event, "/item/command")) {
        (Some("command_execution"), Some(command)) => tool("shell", &without_shell(command)),
        _ => Reading::default(),
    }
}

fn item_completed(reader: &mut Reader, event: &Value) -> Reading {
    let Some(item) = event.get("item") else { return reader.unknown_line() };
    let kind = text(item, "/type").unwrap_or_default();
    // Warnings say nothing about the connection.
    if kind != "error" {
        reader.change(|memory: &mut Memory| memory.trouble = None);
    }
    match kind {
        "agent_message" => Reading::showing(Shown::Text(text(item, "/text").unwrap_or_default().to_owned())),
        "command_execution" => Reading { shown: executed(item).into_iter().collect(), ..Reading::default() },
        "file_change" => Reading { shown: changes(item), ..Reading::default() },
        "mcp_tool_call" => mcp_call(reader, item),
        "web_search" => tool("web_search", text(item, "/query").unwrap_or_default()),
        "error" => Reading::showing(Shown::Notice(reason(text(item, "/message").unwrap_or("warning without a text")))),
        _ => Reading::default(),
    }
}

/// How a command ended, and the last line that it printed.
fn executed(item: &Value) -> Option<Shown> {
    let code = item.get("exit_code").and_then(Value::as_i64).filter(|code| *code != 0);
    let failure = code.map(|code| format!("exit {code}"));
    result(text(item, "/aggregated_output").unwrap_or_default(), failure.as_deref())
}

fn changes(item: &Value) -> Vec<Shown> {
    let changes = item.get("changes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let one = |change: &Value| {
        let detail = format!("{} {}", text(change, "/kind").unwrap_or("change"), text(change, "/path").unwrap_or("?"));
        Shown::Tool { name: "patch".to_owned(), detail: one_line(&detail, 200) }
    };
    changes.iter().map(one).collect()
}

fn mcp_call(reader: &mut Reader, item: &Value) -> Reading {
    let name = format!("{}.{}", text(item, "/server").unwrap_or("?"), text(item, "/tool").unwrap_or("?"));
    let error = text(item, "/error/message").unwrap_or_default();
    if error.contains("requires approval") {
        reader.note_refusal(&format!("{name}: {error}"));
    }
    tool(&name, error)
}

fn tool(name: &str, detail: &str) -> Reading {
    Reading::showing(Shown::Tool { name: one_line(name, 80), detail: one_line(detail, 200) })
}
