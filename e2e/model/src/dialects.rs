//! The vendors' interfaces: which path belongs to which, how a request is read and how an answer is written.
//! Called by the server; each interface has a file of its own, and all of them speak `Turn` and `Answer`.
//! It never decides what is answered.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::{Value, json};

use crate::reply::{Answer, Usage};
use crate::tools::{self, WireCall};
use crate::turn::{Delivery, Dialect, Entry, Offered, ToolResult, Turn};

/// What a request is for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Route {
    /// An answer of the model; Google's interface names model and delivery in the path.
    Model { dialect: Dialect, named: Option<(String, Delivery)> },
    /// How many tokens a conversation has.
    CountTokens(Dialect),
    /// Which models there are.
    Models,
    /// Whether anybody is there.
    Greeting,
    /// Nothing known.
    Unknown,
}

/// An answer in a vendor's words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written {
    /// Server-sent events; the last one ends the answer.
    Events(Vec<String>),
    /// One document.
    Document(Value),
}

/// An answer whose calls are in the words of the tools offered.
struct Worded<'a> {
    id: String,
    model: &'a str,
    text: Option<&'a str>,
    calls: Vec<WireCall>,
    usage: Usage,
}

/// Who said something.
#[derive(Debug, Clone, Copy)]
enum Side {
    User,
    Model,
}

/// Tells what a request is for; the query says nothing that the path does not.
pub(crate) fn route(method: &str, target: &str) -> Route {
    let path = target.split('?').next().unwrap_or_default();
    let model = |dialect| Route::Model { dialect, named: None };
    match (method, path) {
        ("POST", "/v1/responses") => model(Dialect::Responses),
        ("POST", "/v1/chat/completions") => model(Dialect::Chat),
        ("POST", "/v1/messages") => model(Dialect::Messages),
        ("POST", "/v1/messages/count_tokens") => Route::CountTokens(Dialect::Messages),
        ("GET", "/v1/models") => Route::Models,
        ("HEAD" | "GET", "/") => Route::Greeting,
        ("POST", path) => google_route(path),
        _ => Route::Unknown,
    }
}

fn google_route(path: &str) -> Route {
    let named = path.strip_prefix("/v1beta/models/").and_then(|rest| rest.split_once(':'));
    let route =
        |model: &str, delivery| Route::Model { dialect: Dialect::Gemini, named: Some((model.to_owned(), delivery)) };
    match named {
        Some((model, "streamGenerateContent")) => route(model, Delivery::Stream),
        Some((model, "generateContent")) => route(model, Delivery::Whole),
        Some((_, "countTokens")) => Route::CountTokens(Dialect::Gemini),
        _ => Route::Unknown,
    }
}

/// Reads a request for an answer.
pub(crate) fn read(
    dialect: Dialect,
    named: Option<(String, Delivery)>,
    headers: Vec<(String, String)>,
    body: Value,
) -> Turn {
    let (history, tools) = match dialect {
        Dialect::Responses => responses::read(&body),
        Dialect::Chat => chat::read(&body),
        Dialect::Messages => messages::read(&body),
        Dialect::Gemini => gemini::read(&body),
    };
    let delivery = if body["stream"] == true { Delivery::Stream } else { Delivery::Whole };
    let model = body["model"].as_str().unwrap_or_default().to_owned();
    let (model, delivery) = named.unwrap_or((model, delivery));
    Turn { dialect, history, tools, model, delivery, headers, body }
}

/// Writes an answer; an error says which call no offered tool can do.
pub(crate) fn write(turn: &Turn, answer: &Answer, number: usize) -> Result<Written, String> {
    let worded = Worded {
        id: format!("answer_{number}"),
        model: &turn.model,
        text: answer.text.as_deref(),
        calls: tools::put_into_words(turn, &answer.calls)?,
        usage: answer.usage,
    };
    Ok(match (turn.dialect, turn.delivery) {
        (Dialect::Responses, Delivery::Stream) => Written::Events(responses::events(&worded)),
        (Dialect::Responses, Delivery::Whole) => Written::Document(responses::document(&worded)),
        (Dialect::Chat, Delivery::Stream) => Written::Events(chat::events(&worded)),
        (Dialect::Chat, Delivery::Whole) => Written::Document(chat::document(&worded)),
        (Dialect::Messages, Delivery::Stream) => Written::Events(messages::events(&worded)),
        (Dialect::Messages, Delivery::Whole) => Written::Document(messages::document(&worded)),
        (Dialect::Gemini, Delivery::Stream) => Written::Events(gemini::events(&worded)),
        (Dialect::Gemini, Delivery::Whole) => Written::Document(gemini::document(&worded)),
    })
}

/// Writes a count of tokens.
pub(crate) fn token_count(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Gemini => json!({"totalTokens": Usage::default().input}),
        Dialect::Messages | Dialect::Responses | Dialect::Chat => json!({"input_tokens": Usage::default().input}),
    }
}

/// The failure that OpenAI's Responses send inside a stream that began well.
pub(crate) fn failed_response(code: &str, message: &str) -> Written {
    Written::Events(responses::failed(code, message))
}

/// An event of the kind that names its type in the data too.
fn typed_event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

fn untyped_event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// The text of a content that is a string, one block, or a list of blocks with a text each.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().map(text_of).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Object(block) => block.get("text").map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}

impl Side {
    /// The texts of a content; a user's each for itself, because programs put their notes beside the prompt.
    fn entries(self, content: &Value) -> Vec<Entry> {
        let texts = match (self, content) {
            (Self::User, Value::Array(blocks)) => blocks.iter().map(text_of).collect(),
            (_, content) => vec![text_of(content)],
        };
        let entry = |text: String| match self {
            Self::User => Entry::from_user(&text),
            Self::Model => Entry::Said(text),
        };
        texts.into_iter().filter(|text| !text.is_empty()).map(entry).collect()
    }
}

fn returned(id: &Value, output: String) -> Entry {
    Entry::Returned(ToolResult { id: string(id), output })
}

fn offered(name: &Value, schema: &Value) -> Option<Offered> {
    Some(Offered { name: name.as_str()?.to_owned(), schema: schema.clone() })
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests;
