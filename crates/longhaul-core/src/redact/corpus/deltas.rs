//! Tokens cut across records, in the dialects of agents that print text as it is made.
//! A scanner reads the records back as an agent reader would; the control shows that line by line nothing is found.

use std::sync::Arc;

use serde_json::{Value, json};

use super::formats::{FORMATS, sample};
use super::{leaks, redacted};
use crate::redact::tests::Random;
use crate::redact::{Redactor, Secrets};

type Dialect = (&'static str, fn(usize, &str) -> Value, fn(&Value) -> &Value);

const DIALECTS: &[Dialect] = &[
    (
        "content block",
        |number, text| {
            json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
                   "delta": {"type": "text_delta", "text": text}}, "uuid": format!("id-{number}")})
        },
        |record| &record["event"]["delta"]["text"],
    ),
    (
        "item",
        |number, text| json!({"method": "item/agentMessage/delta", "params": {"itemId": "msg_1", "delta": text}, "at": number}),
        |record| &record["params"]["delta"],
    ),
    (
        "part",
        |number, text| {
            json!({"id": format!("evt_{number}"), "type": "message.part.delta",
                   "properties": {"partID": "prt_1", "field": "text", "delta": text}})
        },
        |record| &record["properties"]["delta"],
    ),
    (
        "update",
        |number, text| {
            json!({"type": "message_update", "usage": {"input": number},
                   "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": text}})
        },
        |record| &record["assistantMessageEvent"]["delta"],
    ),
    (
        "message",
        |number, text| json!({"type": "message", "timestamp": format!("t{number}"), "role": "assistant", "content": text, "delta": true}),
        |record| &record["content"],
    ),
    (
        "chunk",
        |_, text| {
            json!({"method": "session/update", "params": {"update": {"sessionUpdate": "agent_message_chunk",
                   "content": {"type": "text", "text": text}}}})
        },
        |record| &record["params"]["update"]["content"]["text"],
    ),
];

fn records(dialect: &Dialect, pieces: &[&str]) -> String {
    let lines = pieces.iter().enumerate().map(|(number, piece)| format!("{}\n", dialect.1(number, piece)));
    lines.collect::<String>() + "{\"type\":\"end\"}\n"
}

/// The text that a reader of the records sees.
fn joined(dialect: &Dialect, output: &[u8]) -> String {
    let lines = std::str::from_utf8(output).unwrap().lines();
    let records =
        lines.map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    records.filter_map(|record| dialect.2(&record).as_str().map(str::to_owned)).collect()
}

fn pieces<'a>(text: &'a str, random: &mut Random, longest: usize) -> Vec<&'a str> {
    let (mut rest, mut pieces) = (text, Vec::new());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + random.below(longest)).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[test]
fn tokens_cut_across_records_do_not_leak() {
    let mut random = Random(31);
    let mut leaked = Vec::new();
    for format in FORMATS {
        for dialect in DIALECTS {
            for longest in [3, 12, 40] {
                let sample = sample(format, &mut random);
                let text = format!("The token is {} and it \"works\".\n", sample.text);
                let input = records(dialect, &pieces(&text, &mut random, longest));
                let output = redacted(&[input.as_bytes()]);
                let seen = joined(dialect, &output);
                if leaks(sample.secret(), seen.as_bytes()) {
                    leaked.push(format!("{format} in {} by {longest}: {seen}", dialect.0));
                }
                assert!(seen.starts_with("The token is ") && seen.ends_with(" and it \"works\".\n"), "{seen}");
            }
        }
    }
    assert!(leaked.is_empty(), "{} leaks:\n{}", leaked.len(), leaked.join("\n"));
}

#[test]
fn known_values_cut_across_records_do_not_leak() {
    let secrets = Arc::new(Secrets::new([5; 32]).with("MY_PASSWORD", "correct horse battery staple"));
    let mut random = Random(32);
    for dialect in DIALECTS {
        let text = "it is correct horse battery staple, he said";
        let input = records(dialect, &pieces(text, &mut random, 9));
        let (mut redactor, mut out) = (Redactor::new(Arc::clone(&secrets)), Vec::new());
        redactor.push(input.as_bytes(), &mut out);
        redactor.finish(&mut out);
        let seen = joined(dialect, &out);
        assert!(!leaks(b"correct horse battery staple", seen.as_bytes()), "{}: {seen}", dialect.0);
        assert!(seen.starts_with("it is [redacted:MY_PASSWORD:") && seen.ends_with("], he said"), "{seen}");
    }
}

#[test]
fn a_record_that_is_no_piece_is_never_late() {
    let dialect = &DIALECTS[0];
    let token = sample("ghp_{a36}", &mut Random(33));
    let (mut redactor, mut out) = (Redactor::new(Arc::new(Secrets::default())), Vec::new());
    let half = token.text.len() / 2;
    redactor.push(format!("{}\n", dialect.1(0, &token.text[..half])).as_bytes(), &mut out);
    redactor.push(b"{\"type\":\"result\"}\n", &mut out);
    assert!(out.ends_with(b"{\"type\":\"result\"}\n"));
    redactor.push(format!("{}\n", dialect.1(1, &token.text[half..])).as_bytes(), &mut out);
    redactor.finish(&mut out);
    assert!(!leaks(token.secret(), joined(dialect, &out).as_bytes()), "{}", String::from_utf8_lossy(&out));
}

#[test]
fn clean_records_stay_byte_identical_in_any_cut() {
    let mut random = Random(34);
    let text =
        "I will read `src/main.rs` and sk- the task-list: commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904, ok?\n";
    for dialect in DIALECTS {
        let input = records(dialect, &pieces(text, &mut random, 6));
        assert_eq!(String::from_utf8(redacted(&[input.as_bytes()])).unwrap(), input);
        let bytes: Vec<&[u8]> = input.as_bytes().chunks(17).collect();
        assert_eq!(String::from_utf8(redacted(&bytes)).unwrap(), input);
    }
}

/// The control: line by line nothing of a cut token can be seen.
#[test]
fn the_test_of_pieces_catches_a_redactor_that_does_not_join() {
    let mut random = Random(35);
    let token = sample("ghp_{a36}", &mut random);
    let dialect = &DIALECTS[0];
    let input = records(dialect, &pieces(&token.text, &mut random, 5));
    let output: Vec<u8> = input.lines().flat_map(|line| redacted(&[format!("{line}\n").as_bytes()])).collect();
    assert!(leaks(token.secret(), joined(dialect, &output).as_bytes()));
}
