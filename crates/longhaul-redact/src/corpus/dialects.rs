//! The dialects in which agents print text: as it is, in whole records, and in records of pieces.
//! Used by `matrix`; each can write a text and read back what a reader of the records sees.

use serde_json::{Value, json};

/// How one agent prints.
pub(super) struct Dialect {
    pub(super) name: &'static str,
    /// The record with this number for a piece of text.
    pub(super) write: fn(usize, &str) -> String,
    /// The piece in a record.
    pub(super) read: fn(&Value) -> &Value,
    /// Whether a text may come in several records.
    pub(super) in_pieces: bool,
}

fn line(record: &Value) -> String {
    format!("{record}\n")
}

pub(super) const DIALECTS: &[Dialect] = &[
    Dialect { name: "plain text", write: |_, text| text.to_owned(), read: |record| record, in_pieces: false },
    Dialect {
        name: "whole message",
        write: |_, text| line(&json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})),
        read: |record| &record["message"]["content"][0]["text"],
        in_pieces: false,
    },
    Dialect {
        name: "whole command",
        write: |_, text| {
            line(&json!({"type": "item.completed", "item": {"id": "item_1", "type": "command_execution",
                        "command": "cat chunk", "aggregated_output": text, "exit_code": 0}}))
        },
        read: |record| &record["item"]["aggregated_output"],
        in_pieces: false,
    },
    Dialect {
        name: "content block",
        write: |number, text| {
            line(&json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
                        "delta": {"type": "text_delta", "text": text}}, "uuid": format!("id-{number}")}))
        },
        read: |record| &record["event"]["delta"]["text"],
        in_pieces: true,
    },
    Dialect {
        name: "item",
        write: |number, text| {
            line(
                &json!({"method": "item/agentMessage/delta", "params": {"itemId": "msg_1", "delta": text}, "at": number}),
            )
        },
        read: |record| &record["params"]["delta"],
        in_pieces: true,
    },
    Dialect {
        name: "command output",
        write: |_, text| {
            line(&json!({"method": "item/commandExecution/outputDelta", "params": {"itemId": "call_1", "delta": text}}))
        },
        read: |record| &record["params"]["delta"],
        in_pieces: true,
    },
    Dialect {
        name: "part",
        write: |number, text| {
            line(&json!({"id": format!("evt_{number}"), "type": "message.part.delta",
                        "properties": {"partID": "prt_1", "field": "text", "delta": text}}))
        },
        read: |record| &record["properties"]["delta"],
        in_pieces: true,
    },
    Dialect {
        name: "update",
        write: |number, text| {
            line(&json!({"type": "message_update", "usage": {"input": number},
                        "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": text}}))
        },
        read: |record| &record["assistantMessageEvent"]["delta"],
        in_pieces: true,
    },
    Dialect {
        name: "message",
        write: |number, text| {
            line(&json!({"type": "message", "timestamp": format!("t{number}"), "role": "assistant", "content": text,
                        "delta": true}))
        },
        read: |record| &record["content"],
        in_pieces: true,
    },
    Dialect {
        name: "chunk",
        write: |_, text| {
            line(&json!({"method": "session/update", "params": {"update": {"sessionUpdate": "agent_message_chunk",
                        "content": {"type": "text", "text": text}}}}))
        },
        read: |record| &record["params"]["update"]["content"]["text"],
        in_pieces: true,
    },
    Dialect {
        name: "server-sent event",
        write: |number, text| {
            let record = json!({"id": format!("c-{number}"), "object": "chat.completion.chunk",
                                "choices": [{"index": 0, "delta": {"content": text}}]});
            format!("data: {record}\n\n")
        },
        read: |record| &record["choices"][0]["delta"]["content"],
        in_pieces: true,
    },
];

impl Dialect {
    /// All records for the pieces of one text.
    pub(super) fn records(&self, pieces: &[&str]) -> String {
        let lines = pieces.iter().enumerate().map(|(number, piece)| (self.write)(number, piece));
        let end = if self.name == "plain text" { "" } else { "{\"type\":\"end\"}\n" };
        lines.collect::<String>() + end
    }

    /// The text that a reader of the records sees.
    pub(super) fn joined(&self, output: &[u8]) -> String {
        let text = String::from_utf8_lossy(output);
        if self.name == "plain text" {
            return text.into_owned();
        }
        let lines =
            text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line)).filter(|line| !line.is_empty());
        let records =
            lines.map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")));
        records.filter_map(|record| (self.read)(&record).as_str().map(str::to_owned)).collect()
    }
}
