//! An agent that a person declared in the configuration: argv templates and JSON pointers in place of Rust code.
//!
//! Made by `declared/read.rs` from a table that was checked there; used like every other agent. A line of output is untrusted:
//! no line can cause a panic, and only a plain name becomes an argument of the next session.

mod counters;
mod outcome;
mod pick;
mod template;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use longhaul_core::task::{Exit, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use outcome::{CLASSES, Rule};
pub(crate) use pick::{Pick, Picks};
pub use template::PLACEHOLDERS;
pub(crate) use template::Template;

use crate::about::{About, Cost, Ids, Login, Mode, Modes, Version, Words, words};
use crate::agent::Agent;
use crate::clock_text::from_value;
use crate::declared::Definition;
use crate::json_line::object;
use crate::launch::{Launch, LaunchSpec};
use crate::reading::{Moment, Reader, Reading, Shown, TurnEnd};
use crate::text::{conversation_id, one_line, reason};

/// A declared agent.
#[derive(Debug)]
pub(crate) struct Custom {
    about: About,
    definition: Definition,
}

/// What the reader remembers between lines.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// The agent said and did nothing since the last error, so a turn that ends now ended with it.
    troubled: bool,
    /// The last line that was no JSON: what a program that gave up may have said last.
    last_words: Option<String>,
}

impl Custom {
    pub(crate) fn new(name: &str, definition: Definition) -> Custom {
        Custom { about: about(name, &definition), definition }
    }

    pub(crate) fn takes_model(&self) -> bool {
        self.definition.argv.uses("model")
    }
}

impl Agent for Custom {
    fn about(&self) -> &About {
        &self.about
    }

    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch {
        let definition = &self.definition;
        let template = match (&definition.resume, spec.resumes) {
            (Some(resume), Some(_)) => resume,
            (Some(_) | None, _) => &definition.argv,
        };
        let mut launch = Launch::new(template.fill(spec), &definition.stop.0);
        launch.env_set.clone_from(&definition.set.0);
        launch.stdin = definition.prompt;
        launch
    }

    fn read_line(&self, reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Reading {
        match object(line) {
            Some(event) => self.read_event(reader, moment, &event),
            None => self.read_words(reader, line),
        }
    }

    fn outcome(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
        outcome::outcome(&self.definition, reader, exit, stderr_tail)
    }
}

impl Custom {
    fn read_event(&self, reader: &mut Reader, moment: &Moment<'_>, event: &Value) -> Reading {
        let places = &self.definition;
        let conversation = first(&places.id, event).and_then(Value::as_str).and_then(conversation_id);
        if let Some(id) = &conversation {
            counters::begin(reader, id);
        }
        let shown = shown(places, event);
        if !shown.is_empty() {
            // It goes on: an error before this was overcome, and a turn that was over is followed by another.
            reader.change(|memory: &mut Memory| memory.troubled = false);
            reader.over = None;
        }
        let told = counters::told(places, event);
        let usage = if self.definition.cumulative { counters::since(reader, told) } else { told };
        let mut reading = Reading { conversation, usage, shown };
        let judged = self.judge(reader, moment, event, &mut reading);
        if !judged && reading == Reading::default() {
            reader.unknown_lines += 1;
        }
        reading
    }

    /// What the line says about how the session ends; returns whether it says anything.
    fn judge(&self, reader: &mut Reader, moment: &Moment<'_>, event: &Value, reading: &mut Reading) -> bool {
        let places = &self.definition;
        let message = first(&places.error, event).map(message).filter(|text| !text.trim().is_empty());
        let until = first(&places.limit_until, event).and_then(|value| from_value(value, moment));
        let failure = match (&message, until) {
            (_, Some(until)) => Some(longhaul_core::task::Failure::Limited(Some(until))),
            (Some(message), None) => Some(outcome::class_of(&self.definition.errors, message)),
            (None, None) => None,
        };
        let failed = failure.is_some();
        if let Some(failure) = failure {
            let notice = message.map_or_else(|| "usage limit reached".to_owned(), |message| reason(&message));
            reading.shown.push(Shown::Notice(notice));
            reader.verdict = Some(Outcome::Failed(failure));
            reader.change(|memory: &mut Memory| memory.troubled = true);
        }
        let done = places.done.iter().any(|pick| pick.says_yes(event));
        if done {
            reader.over = Some(TurnEnd::Done);
            if !reader.recall::<Memory>().troubled {
                reader.verdict = Some(Outcome::Completed);
            }
        }
        failed || done
    }

    /// A line that is not JSON: shown to people if `text` is not declared, and maybe a last message.
    fn read_words(&self, reader: &mut Reader, line: &[u8]) -> Reading {
        let text = one_line(&String::from_utf8_lossy(&line[..line.len().min(LONGEST_WORDS)]), LONGEST_WORDS);
        if text.is_empty() {
            return Reading::default();
        }
        reader.change(|memory: &mut Memory| memory.last_words = Some(reason(&text)));
        if self.definition.text.is_empty() {
            return Reading::showing(Shown::Text(text));
        }
        reader.unknown_line()
    }
}

/// So much of a line of plain words is shown.
const LONGEST_WORDS: usize = 4000;

fn shown(places: &Definition, event: &Value) -> Vec<Shown> {
    let strings = |picks: &[Pick]| -> Vec<String> {
        let found = picks.iter().flat_map(|pick| pick.find(event));
        found.filter_map(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned).collect()
    };
    let tools =
        strings(&places.tool).into_iter().map(|name| Shown::Tool { name: one_line(&name, 200), detail: String::new() });
    strings(&places.text).into_iter().map(Shown::Text).chain(tools).collect()
}

fn first<'a>(picks: &[Pick], event: &'a Value) -> Option<&'a Value> {
    picks.iter().flat_map(|pick| pick.find(event)).next()
}

/// An error may be something other than text; it is then shown as JSON.
fn message(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(false) => String::new(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn about(name: &str, definition: &Definition) -> About {
    let owned = |text: &String| -> Words { Cow::Owned(text.clone()) };
    let summary = definition.summary.as_ref().map_or(words("declared in the configuration"), |line| owned(&line.0));
    let unconfined = format!("Longhaul cannot restrict `{name}`; only its own arguments can");
    let mode =
        || Mode { means: words("depends on its declared arguments"), warning: Some(Cow::Owned(unconfined.clone())) };
    About {
        name: Cow::Owned(name.to_owned()),
        summary,
        program: Some(Cow::Owned(definition.argv.program().to_owned())),
        env: definition.env.iter().map(|name| owned(&name.0)).collect(),
        ids: match definition.resume {
            None => Ids::None,
            Some(_) if definition.argv.uses("session") => Ids::Preset,
            Some(_) => Ids::Captured,
        },
        homes: &[],
        cost: if definition.cost.is_empty() { Cost::Unknown } else { Cost::Told },
        modes: Modes {
            read_only: mode(),
            workspace: mode(),
            full: Mode { warning: None, ..mode() },
            network: words("depends on its declared arguments"),
        },
        version: Version { arguments: definition.version.iter().map(owned).collect(), known: &[] },
        login: Login::Unknown,
        install_help: None,
        login_help: None,
    }
}
