//! One line of `claude -p --output-format stream-json`. Counts what it does not know; never fails.
//!
//! Flow: `system/init`, then messages, then `result` as the verdict; where a task was left in the background a second `init` and
//! `result` may follow. A `subtype` of success is no verdict: only `is_error` is.

use longhaul_core::task::{Outcome, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure;
use crate::clock_text::from_epoch;
use crate::json_line::{dollars, number, object, text, tool_detail};
use crate::reading::{Moment, Reader, Reading, Shown, TurnEnd, grown};
use crate::text::{conversation_id, one_line, reason, result as tool_result};

/// A single refusal passes: a token is renewed, a proxy restarts. After so many in a row without an answer the login is wrong, although
/// the program would try ten times.
const REFUSALS: u32 = 3;

/// What the reader remembers between lines.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// The program got as far as its stream, so its command line and configuration were accepted.
    pub(super) started: bool,
    /// The last failed request since one went well.
    pub(super) trouble: Option<Trouble>,
    /// Requests in a row whose login was refused.
    refusals: u32,
    /// When a usage limit that was met is over, in seconds since the epoch.
    pub(super) resets_at: Option<u64>,
    /// Refusals were reported one by one.
    pub(super) told_refusals: bool,
}

/// A request that failed.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Trouble {
    /// Its HTTP status; none when there was no answer.
    pub(super) status: Option<u64>,
    /// The program's word for it.
    pub(super) word: String,
    /// A narrower word, where it has one.
    pub(super) narrower: String,
    /// In words, for people.
    pub(super) said: String,
    /// The program retries it automatically.
    pub(super) retried: bool,
}

/// The conversation's costs, which continue over all its sessions.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Totals {
    session: Option<String>,
    cost_micros: Option<u64>,
}

pub(super) fn read(reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Reading {
    let Some(event) = object(line) else { return reader.unknown_line() };
    match (text(&event, "/type"), text(&event, "/subtype")) {
        (Some("system"), Some("init")) => init(reader, &event),
        (Some("system"), Some("api_retry")) => api_retry(reader, &event),
        (Some("system"), Some("permission_denied")) => permission_denied(reader, &event),
        (Some("system"), _) => Reading::default(),
        (Some("user"), _) => Reading { shown: results(&event), ..Reading::default() },
        (Some("rate_limit_event"), _) => rate_limit(reader, &event),
        (Some("assistant"), _) => assistant(reader, &event),
        (Some("result"), _) => result(reader, moment, &event),
        _ => reader.unknown_line(),
    }
}

fn init(reader: &mut Reader, event: &Value) -> Reading {
    reader.over = None;
    reader.verdict = None;
    reader.remember(&Memory { started: true, ..Memory::default() });
    Reading { conversation: text(event, "/session_id").and_then(conversation_id), ..Reading::default() }
}

fn api_retry(reader: &mut Reader, event: &Value) -> Reading {
    let trouble = Trouble {
        status: number(event, "/error_status"),
        word: one_line(text(event, "/error").unwrap_or("unknown"), 80),
        said: retry_in_words(event),
        retried: true,
        ..Trouble::default()
    };
    let refusals = reader.recall::<Memory>().refusals + u32::from(matches!(trouble.status, Some(401 | 403)));
    if refusals >= REFUSALS {
        reader.verdict = Some(Outcome::Failed(failure::of_trouble(&trouble, None)));
        reader.over = Some(TurnEnd::Unrecoverable);
    }
    let notice = Shown::Notice(trouble.said.clone());
    reader.change(|memory: &mut Memory| {
        memory.trouble = Some(trouble);
        memory.refusals = refusals;
    });
    Reading::showing(notice)
}

fn retry_in_words(event: &Value) -> String {
    let status = number(event, "/error_status").map_or("no answer".to_owned(), |status| format!("status {status}"));
    let (attempt, most) = (number(event, "/attempt").unwrap_or(0), number(event, "/max_retries").unwrap_or(0));
    let word = one_line(text(event, "/error").unwrap_or("unknown"), 80);
    format!("request failed ({word}, {status}), retry {attempt} of {most}")
}

fn permission_denied(reader: &mut Reader, event: &Value) -> Reading {
    let tool = text(event, "/tool_name").unwrap_or("a tool");
    let denied = format!("{tool}: {}", text(event, "/message").unwrap_or("refused"));
    reader.note_refusal(&denied);
    reader.change(|memory: &mut Memory| memory.told_refusals = true);
    Reading::showing(Shown::Notice(one_line(&format!("refused {denied}"), 200)))
}

fn rate_limit(reader: &mut Reader, event: &Value) -> Reading {
    let until = number(event, "/rate_limit_info/resetsAt");
    let resets = until.and_then(from_epoch).map(|time| format!(", resets {}", time.rfc3339())).unwrap_or_default();
    let which = one_line(text(event, "/rate_limit_info/rateLimitType").unwrap_or("usage"), 40);
    match text(event, "/rate_limit_info/status") {
        Some("rejected") => {
            reader.change(|memory: &mut Memory| memory.resets_at = until);
            Reading::showing(Shown::Notice(format!("limit reached: {which}{resets}")))
        }
        Some("allowed_warning") => Reading::showing(Shown::Notice(format!("near the limit: {which}{resets}"))),
        _ => Reading::default(),
    }
}

fn assistant(reader: &mut Reader, event: &Value) -> Reading {
    let content = event.pointer("/message/content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if let Some(word) = text(event, "/error") {
        let said = content.iter().find_map(|part| text(part, "/text")).unwrap_or(word);
        let trouble = Trouble {
            status: number(event, "/api_error_status"),
            word: one_line(word, 80),
            narrower: one_line(text(event, "/api_error").unwrap_or_default(), 80),
            said: reason(said),
            retried: false,
        };
        // The event before it named the limit and its end.
        let shown = reader.recall::<Memory>().resets_at.is_none().then(|| Shown::Notice(reason(said)));
        reader.change(|memory: &mut Memory| memory.trouble = Some(trouble));
        return Reading { shown: shown.into_iter().collect(), ..Reading::default() };
    }
    went_well(reader);
    Reading { shown: content.iter().filter_map(shown).collect(), ..Reading::default() }
}

/// What came of the tools that the model used.
fn results(event: &Value) -> Vec<Shown> {
    let content = event.pointer("/message/content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_result = |part: &&Value| text(part, "/type") == Some("tool_result");
    let one = |part: &Value| {
        let failure = (part["is_error"] == Value::Bool(true)).then_some("failed");
        let said = text(part, "/content").or_else(|| text(part, "/content/0/text")).unwrap_or_default();
        tool_result(said, failure)
    };
    content.iter().filter(is_result).filter_map(one).collect()
}

/// The model answered, so what was hopeless a moment ago is not.
fn went_well(reader: &mut Reader) {
    if reader.over == Some(TurnEnd::Unrecoverable) {
        reader.over = None;
        reader.verdict = None;
    }
    if reader.recall::<Memory>().trouble.is_some() {
        reader.change(|memory: &mut Memory| {
            memory.trouble = None;
            memory.refusals = 0;
        });
    }
}

fn shown(part: &Value) -> Option<Shown> {
    match text(part, "/type")? {
        "text" => Some(Shown::Text(text(part, "/text")?.to_owned())),
        "tool_use" => Some(Shown::Tool {
            name: one_line(text(part, "/name").unwrap_or("?"), 80),
            detail: tool_detail(&part["input"]),
        }),
        _ => None,
    }
}

fn result(reader: &mut Reader, moment: &Moment<'_>, event: &Value) -> Reading {
    let usage = usage(reader, event);
    refusals(reader, event);
    reader.over = Some(TurnEnd::Done);
    if event["is_error"] == Value::Bool(false) {
        reader.verdict = Some(Outcome::Completed);
        return Reading { usage, ..Reading::default() };
    }
    let memory: Memory = reader.recall();
    reader.verdict = Some(Outcome::Failed(failure::of_result(event, &memory, moment)));
    let said = reason(failure::said_in(event, &memory));
    // The message before it said the same.
    let is_new = memory.trouble.is_none_or(|trouble| trouble.said != said);
    Reading { usage, shown: is_new.then_some(Shown::Notice(said)).into_iter().collect(), ..Reading::default() }
}

/// For a program that did not report its refusals one by one.
fn refusals(reader: &mut Reader, event: &Value) {
    if reader.recall::<Memory>().told_refusals {
        return;
    }
    for denial in event.get("permission_denials").and_then(Value::as_array).into_iter().flatten() {
        reader.note_refusal(&format!(
            "{}: {}",
            text(denial, "/tool_name").unwrap_or("a tool"),
            tool_detail(&denial["tool_input"])
        ));
    }
}

/// Tokens are those of this turn; the costs are those of the whole conversation, so the last total is taken off.
fn usage(reader: &mut Reader, event: &Value) -> Usage {
    let cached = ["/usage/cache_creation_input_tokens", "/usage/cache_read_input_tokens"];
    let cached: u64 = cached.iter().filter_map(|pointer| number(event, pointer)).fold(0, u64::saturating_add);
    let input = number(event, "/usage/input_tokens").map(|fresh| fresh.saturating_add(cached));
    let session = text(event, "/session_id").and_then(conversation_id);
    let before: Totals = reader.carried();
    let before = before.cost_micros.filter(|_| before.session == session);
    let now = event.get("total_cost_usd").and_then(dollars);
    let cost_micros = grown(now, before);
    reader.carry_on(&Totals { session, cost_micros: now.or(before) });
    Usage { input, output: number(event, "/usage/output_tokens"), cost_micros }
}
