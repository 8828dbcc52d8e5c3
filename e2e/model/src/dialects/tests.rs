//! The interfaces against requests that the real programs sent (shortened), and answers read back as those would be.
//! The samples lie in `samples/`, named after program and version.

use serde_json::{Value, json};

use super::{Route, Written, read, route, write};
use crate::reply::{Answer, Call, Usage};
use crate::turn::{Delivery, Dialect, Entry, Turn};
use crate::worker::worker;

const DIALECTS: [Dialect; 4] = [Dialect::Responses, Dialect::Chat, Dialect::Messages, Dialect::Gemini];

/// Program, interface, recorded request, its shell, how often it was prompted, and how often it has called a tool.
const SAMPLES: &[(&str, Dialect, &str, &str, usize, usize)] = &[
    ("codex", Dialect::Responses, include_str!("../../samples/codex-0.166.0.json"), "exec_command", 1, 1),
    ("claude", Dialect::Messages, include_str!("../../samples/claude-2.1.325.json"), "Bash", 1, 1),
    ("opencode", Dialect::Chat, include_str!("../../samples/opencode-1.18.33.json"), "bash", 1, 1),
    ("pi", Dialect::Chat, include_str!("../../samples/pi-0.87.1.json"), "bash", 2, 2),
    ("gemini", Dialect::Gemini, include_str!("../../samples/gemini-0.61.0.json"), "run_shell_command", 1, 1),
];

fn sample(dialect: Dialect, text: &str) -> Turn {
    let body = serde_json::from_str(text).expect("a sample is JSON");
    let named = (dialect == Dialect::Gemini).then(|| ("m1".to_owned(), Delivery::Stream));
    read(dialect, named, vec![], body)
}

fn of_dialect(dialect: Dialect) -> Turn {
    let (_, _, text, ..) = SAMPLES.iter().find(|sample| sample.1 == dialect).expect("every interface has a sample");
    sample(dialect, text)
}

#[test]
fn recorded_requests_are_understood() {
    for (program, dialect, text, shell, prompts, calls) in SAMPLES {
        let turn = sample(*dialect, text);
        assert!(turn.last_prompt().starts_with("You are the Executor Agent.\n"), "{program}: {:?}", turn.history);
        assert_eq!((turn.prompts().count(), turn.results().count()), (*prompts, *calls), "{program}");
        assert_eq!(turn.prompts_with("Session: t/1.1"), prompts - 1, "{program}");
        let result = turn.results_since_prompt().next().unwrap_or_else(|| panic!("{program} sent a result"));
        assert!(result.output.contains("made ") && result.id.starts_with("call_"), "{program}: {result:?}");
        assert!(!turn.answers_prompt(), "{program}");
        assert_eq!(turn.calls_before(), if *program == "pi" { 3 } else { 1 }, "{program}: {:?}", turn.history);
        assert_eq!(turn.delivery, Delivery::Stream, "{program}");
        assert!(turn.tools.iter().any(|tool| tool.name == *shell), "{program}: {:?}", turn.tools);
    }
}

#[test]
fn a_request_without_its_result_asks_for_work_and_with_it_for_a_word() {
    for (program, dialect, text, shell, ..) in SAMPLES {
        let mut turn = sample(*dialect, text);
        assert_eq!(worker(&turn), crate::Reply::text("done"), "{program}");
        while !turn.answers_prompt() {
            turn.history.pop();
        }
        let crate::Reply::Answer(answer) = worker(&turn) else { panic!("{program}: an answer is expected") };
        let Ok(Written::Events(events)) = write(&turn, &answer, 1) else { panic!("{program}: events are expected") };
        assert!(events.concat().contains(&format!("\"{shell}\"")), "{program}: {events:?}");
    }
}

/// An answer with everything in it.
fn full() -> Answer {
    Answer {
        text: Some("two words".to_owned()),
        calls: vec![Call::Shell("ls".to_owned()), Call::WriteFile { path: "a".to_owned(), text: "b".to_owned() }],
        usage: Usage { input: 900, cached: 100, output: 50, reasoning: 7 },
        headers: vec![],
    }
}

/// What an agent's program adds to the conversation when it has got a document.
fn as_next_request(dialect: Dialect, document: &Value) -> Value {
    match dialect {
        Dialect::Responses => json!({"input": document["output"]}),
        Dialect::Chat => json!({"messages": [document["choices"][0]["message"]]}),
        Dialect::Messages => json!({"messages": [{"role": "assistant", "content": document["content"]}]}),
        Dialect::Gemini => json!({"contents": [document["candidates"][0]["content"]]}),
    }
}

fn check_read_back(dialect: Dialect, document: &Value) {
    let history = read(dialect, None, vec![], as_next_request(dialect, document)).history;
    let [Entry::Said(text), Entry::Called { arguments: ls, .. }, Entry::Called { arguments: writing, .. }] =
        history.as_slice()
    else {
        panic!("{dialect:?}: a text and two calls are expected, not {history:?}");
    };
    assert_eq!(text, "two words");
    assert!(ls.contains("ls"), "{dialect:?}: {ls}");
    assert!(writing.contains('a') && writing.contains('b'), "{dialect:?}: {writing}");
}

#[test]
fn a_whole_answer_reads_back_as_it_was_meant() {
    for dialect in DIALECTS {
        let turn = Turn { delivery: Delivery::Whole, ..of_dialect(dialect) };
        let Ok(Written::Document(document)) = write(&turn, &full(), 1) else { panic!("a document is expected") };
        check_read_back(dialect, &document);
    }
}

#[test]
fn the_events_of_a_stream_add_up_to_the_same_answer() {
    for dialect in DIALECTS {
        let Ok(Written::Events(events)) = write(&of_dialect(dialect), &full(), 1) else {
            panic!("events are expected")
        };
        let data = events.iter().flat_map(|event| event.lines()).filter_map(|line| line.strip_prefix("data: "));
        let data: Vec<Value> = data.filter_map(|text| serde_json::from_str(text).ok()).collect();
        check_read_back(dialect, &added_up(dialect, &data));
        assert!(!events[0].contains("two words"), "{dialect:?}: a cut needs something before the text");
    }
}

/// As codex 0.166 sends and takes them.
#[test]
fn codex_searches_for_tools_and_calls_them_in_their_namespace() {
    let call = Call::Mcp { server: "sup".into(), tool: "run".into(), arguments: json!({"n": 1}) };
    let answer = Answer::call(call);
    let search = json!({"type": "tool_search", "execution": "client", "parameters": {}});
    let mut body = json!({"tools": [search], "input": []});
    let item = |body: &Value| {
        let turn = read(Dialect::Responses, None, vec![], body.clone());
        let Ok(Written::Document(document)) = write(&turn, &answer, 1) else { panic!("a document is expected") };
        document["output"][0].clone()
    };
    let searched = item(&body);
    assert_eq!((&searched["type"], &searched["arguments"]["query"]), (&json!("tool_search_call"), &json!("sup run")));
    let space = json!({"type": "namespace", "name": "mcp__sup", "tools": [{"type": "function", "name": "run"}]});
    let found = json!({"type": "tool_search_output", "call_id": searched["call_id"], "tools": [space]});
    body["input"] = json!([searched, found]);
    let called = item(&body);
    assert_eq!((&called["namespace"], &called["name"]), (&json!("mcp__sup"), &json!("run")), "{called}");
    let output = json!({"type": "function_call_output", "call_id": called["call_id"], "output": "{\"ok\": true}"});
    body["input"] = json!([searched, found, called, output]);
    let answer = read(Dialect::Responses, None, vec![], body).answer_of("run");
    assert_eq!(answer, Some(json!({"ok": true})));
}

fn added_up(dialect: Dialect, data: &[Value]) -> Value {
    match dialect {
        Dialect::Responses => {
            let done = data.iter().filter(|event| event["type"] == "response.output_item.done");
            json!({"output": done.map(|event| &event["item"]).collect::<Vec<_>>()})
        }
        Dialect::Chat => {
            let deltas = data.iter().map(|chunk| &chunk["choices"][0]["delta"]);
            let text: String = deltas.clone().filter_map(|delta| delta["content"].as_str()).collect();
            let calls: Vec<&Value> = deltas.filter_map(|delta| delta["tool_calls"].get(0)).collect();
            json!({"choices": [{"message": {"role": "assistant", "content": text, "tool_calls": calls}}]})
        }
        Dialect::Messages => json!({"content": added_up_blocks(data)}),
        Dialect::Gemini => {
            let parts = data.iter().flat_map(|chunk| super::list(&chunk["candidates"][0]["content"]["parts"]));
            json!({"candidates": [{"content": {"role": "model", "parts": parts.collect::<Vec<_>>()}}]})
        }
    }
}

fn added_up_blocks(data: &[Value]) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    for event in data {
        let delta = &event["delta"];
        match (event["type"].as_str(), delta["type"].as_str(), blocks.last_mut()) {
            (Some("content_block_start"), ..) => blocks.push(event["content_block"].clone()),
            (_, Some("text_delta"), Some(block)) => block["text"] = delta["text"].clone(),
            (_, Some("input_json_delta"), Some(block)) => {
                let text = delta["partial_json"].as_str().expect("a piece of JSON");
                block["input"] = serde_json::from_str(text).expect("the only piece is whole");
            }
            _ => {}
        }
    }
    blocks
}

#[test]
fn token_counts_arrive_in_each_vendors_words() {
    let document = |dialect| match write(&Turn { delivery: Delivery::Whole, ..of_dialect(dialect) }, &full(), 1) {
        Ok(Written::Document(document)) => document,
        other => panic!("a document is expected, not {other:?}"),
    };
    assert_eq!(document(Dialect::Responses)["usage"]["input_tokens"], 900);
    assert_eq!(document(Dialect::Chat)["usage"]["prompt_tokens_details"]["cached_tokens"], 100);
    assert_eq!(document(Dialect::Messages)["usage"]["input_tokens"], 800);
    assert_eq!(document(Dialect::Gemini)["usageMetadata"]["candidatesTokenCount"], 43);
}

#[test]
fn paths_lead_to_their_interface_and_others_nowhere() {
    let model = |dialect| Route::Model { dialect, named: None };
    assert_eq!(route("POST", "/v1/responses"), model(Dialect::Responses));
    assert_eq!(route("POST", "/v1/messages?beta=true"), model(Dialect::Messages));
    assert_eq!(route("POST", "/v1/messages/count_tokens?beta=true"), Route::CountTokens(Dialect::Messages));
    let named = Some(("m1".to_owned(), Delivery::Stream));
    let google = Route::Model { dialect: Dialect::Gemini, named };
    assert_eq!(route("POST", "/v1beta/models/m1:streamGenerateContent?alt=sse"), google);
    assert_eq!(route("HEAD", "/"), Route::Greeting);
    for (method, target) in [("GET", "/v1/responses"), ("POST", "/v1/chat"), ("POST", "/v1beta/models/m1:embed")] {
        assert_eq!(route(method, target), Route::Unknown, "{method} {target}");
    }
}

#[test]
fn a_body_of_another_interface_holds_no_conversation() {
    for dialect in DIALECTS {
        for (_, other, text, ..) in SAMPLES.iter().filter(|sample| sample.1 != dialect) {
            let shares_form = [dialect, *other].iter().all(|one| matches!(one, Dialect::Chat | Dialect::Messages));
            if !shares_form {
                let body = serde_json::from_str(text).expect("a sample is JSON");
                assert_eq!(read(dialect, None, vec![], body).history, [], "{dialect:?} from {other:?}");
            }
        }
    }
}
