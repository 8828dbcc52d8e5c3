//! Tokens and cost in a declared agent's output: taken from a line, or, for running totals of the conversation, the increase since
//! the last line.

use longhaul_core::task::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Pick;
use crate::declared::Definition;
use crate::json_line::dollars;
use crate::reading::{Reader, grown};

/// The totals so far, which continue in the next session of the conversation.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Totals {
    conversation: Option<String>,
    #[serde(flatten)]
    usage: Usage,
}

/// Another conversation has its own totals.
pub(super) fn begin(reader: &mut Reader, conversation: &str) {
    let totals: Totals = reader.carried();
    if totals.conversation.as_deref() == Some(conversation) {
        return;
    }
    // What was counted before the id was told is this conversation's too.
    let usage = if totals.conversation.is_none() { totals.usage } else { Usage::default() };
    reader.carry_on(&Totals { conversation: Some(conversation.to_owned()), usage });
}

/// The amounts in the line; a missing amount is unknown.
pub(super) fn told(places: &Definition, event: &Value) -> Usage {
    Usage {
        input: first(&places.input_tokens, event, Value::as_u64),
        output: first(&places.output_tokens, event, Value::as_u64),
        cost_micros: first(&places.cost, event, dollars),
    }
}

/// What is new in these totals. A total that fell began again.
pub(super) fn since(reader: &mut Reader, told: Usage) -> Usage {
    if told == Usage::default() {
        return told;
    }
    let totals: Totals = reader.carried();
    let last = totals.usage;
    let usage = Usage {
        input: told.input.or(last.input),
        output: told.output.or(last.output),
        cost_micros: told.cost_micros.or(last.cost_micros),
    };
    reader.carry_on(&Totals { usage, ..totals });
    Usage {
        input: grown(told.input, last.input),
        output: grown(told.output, last.output),
        cost_micros: grown(told.cost_micros, last.cost_micros),
    }
}

fn first(picks: &[Pick], event: &Value, read: impl Fn(&Value) -> Option<u64>) -> Option<u64> {
    picks.iter().flat_map(|pick| pick.find(event)).find_map(read)
}
