//! What a model is asked, in one form for all vendors: the conversation so far and the tools it may call.
//! Made by the dialects, read by scripts and by tests that look at what arrived.
//! Instructions of the vendor's program are left out; they stay in `body`.

use serde_json::Value;

/// Which vendor's interface a request uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI's `/v1/responses`: codex.
    Responses,
    /// OpenAI's `/v1/chat/completions`: opencode and pi.
    Chat,
    /// Anthropic's `/v1/messages`: claude.
    Messages,
    /// Google's `:generateContent`: gemini.
    Gemini,
}

/// One thing in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// What the user said.
    Prompt(String),
    /// What the agent's program said in the user's name: reminders, the state of its surroundings.
    Note(String),
    /// What the model said.
    Said(String),
    /// A tool the model called.
    Called {
        /// The id its result will carry.
        id: String,
        /// The tool.
        name: String,
        /// The arguments as they went over the wire.
        arguments: String,
    },
    /// What a tool gave back.
    Returned(ToolResult),
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// Its output as text.
    pub output: String,
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// The JSON schema of its arguments; null for a tool that takes plain text.
    pub schema: Value,
}

/// One request for an answer of the model.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The interface used.
    pub dialect: Dialect,
    /// The conversation, oldest first.
    pub history: Vec<Entry>,
    /// The tools offered.
    pub tools: Vec<Offered>,
    /// The model asked for.
    pub model: String,
    /// Whether the answer is wanted as a stream of events.
    pub delivery: Delivery,
    /// The headers, with names in small letters.
    pub headers: Vec<(String, String)>,
    /// The request's body.
    pub body: Value,
}

/// How an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As server-sent events.
    Stream,
    /// As one JSON document.
    Whole,
}

impl Turn {
    /// All prompts so far, oldest first.
    pub fn prompts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.history.iter().filter_map(|entry| match entry {
            Entry::Prompt(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The latest prompt; empty when there is none.
    #[must_use]
    pub fn last_prompt(&self) -> &str {
        self.prompts().next_back().unwrap_or_default()
    }

    /// All tool results so far, oldest first.
    pub fn results(&self) -> impl DoubleEndedIterator<Item = &ToolResult> {
        results_in(&self.history)
    }

    /// The tool results that came after the latest prompt.
    pub fn results_since_prompt(&self) -> impl DoubleEndedIterator<Item = &ToolResult> {
        let latest = self.history.iter().rposition(|entry| matches!(entry, Entry::Prompt(_)));
        results_in(&self.history[latest.unwrap_or(0)..])
    }

    /// The newest answer of a tool since the latest prompt, by the end of the tool's name: its JSON, or a string if it is none. Agents put
    /// words of their own before the JSON.
    #[must_use]
    pub fn answer_of(&self, tool: &str) -> Option<Value> {
        let is_call = |id: &str| self.history.iter().any(|entry| entry.is_call(id, tool));
        let output = &self.results_since_prompt().rfind(|result| is_call(&result.id))?.output;
        let json =
            output.find('{').and_then(|start| serde_json::Deserializer::from_str(&output[start..]).into_iter().next());
        Some(json.and_then(Result::ok).unwrap_or_else(|| Value::String(output.clone())))
    }

    /// Whether the model called this tool with these arguments in this conversation.
    pub(crate) fn has_called(&self, tool: &str, wanted: &Value) -> bool {
        self.history.iter().any(|entry| match entry {
            Entry::Called { name, arguments, .. } => {
                name == tool && serde_json::from_str::<Value>(arguments).is_ok_and(|have| have == *wanted)
            }
            _ => false,
        })
    }

    /// How often the model has answered in this conversation before.
    #[must_use]
    pub fn calls_before(&self) -> usize {
        let is_models = |entry: &Entry| matches!(entry, Entry::Said(_) | Entry::Called { .. });
        let starts = |index: &usize| *index == 0 || !is_models(&self.history[*index - 1]);
        (0..self.history.len()).filter(|index| is_models(&self.history[*index])).filter(starts).count()
    }

    /// Whether the model is to answer a prompt now, not a tool's result.
    #[must_use]
    pub fn answers_prompt(&self) -> bool {
        let latest = self.history.iter().rfind(|entry| !matches!(entry, Entry::Note(_)));
        matches!(latest, Some(Entry::Prompt(_)))
    }

    /// How many prompts of this conversation contain `text`.
    #[must_use]
    pub fn prompts_with(&self, text: &str) -> usize {
        self.prompts().filter(|prompt| prompt.contains(text)).count()
    }

    /// The value of a header, by its name in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What agents' programs say in the user's name begins with one of these.
const NOTES: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<system-reminder>",
    "<session_context>",
    "<local-command",
    "<task-notification>",
    "Tool loaded.",
    "# AGENTS.md instructions",
    "This is the Gemini CLI.",
];

impl Entry {
    fn is_call(&self, wanted: &str, tool: &str) -> bool {
        matches!(self, Entry::Called { id, name, .. } if id == wanted && name.ends_with(tool))
    }

    /// Takes a text that came in the user's name.
    pub(crate) fn from_user(text: &str) -> Self {
        match NOTES.iter().any(|start| text.trim_start().starts_with(start)) {
            true => Self::Note(text.to_owned()),
            false => Self::Prompt(text.to_owned()),
        }
    }
}

fn results_in(entries: &[Entry]) -> impl DoubleEndedIterator<Item = &ToolResult> {
    entries.iter().filter_map(|entry| match entry {
        Entry::Returned(result) => Some(result),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Delivery, Dialect, Entry, ToolResult, Turn};

    fn turn(history: Vec<Entry>) -> Turn {
        let (dialect, delivery) = (Dialect::Chat, Delivery::Stream);
        Turn { dialect, history, tools: vec![], model: String::new(), delivery, headers: vec![], body: Value::Null }
    }

    fn returned(output: &str) -> Entry {
        Entry::Returned(ToolResult { id: "1".into(), output: output.into() })
    }

    fn called() -> Entry {
        Entry::Called { id: "1".into(), name: "bash".into(), arguments: "{}".into() }
    }

    #[test]
    fn the_latest_prompt_counts_and_notes_do_not() {
        let history = vec![
            Entry::from_user("<environment_context>x"),
            Entry::from_user("one"),
            called(),
            returned("old"),
            Entry::from_user("two"),
            Entry::from_user("<system-reminder>be good</system-reminder>"),
        ];
        let turn = turn(history);
        assert_eq!(turn.last_prompt(), "two");
        assert!(turn.answers_prompt());
        assert_eq!(turn.results().count(), 1);
        assert_eq!(turn.results_since_prompt().count(), 0);
    }

    #[test]
    fn the_newest_answer_of_a_tool_is_found_and_read() {
        let call = |id: &str, name: &str| Entry::Called { id: id.into(), name: name.into(), arguments: "{}".into() };
        let answer = |id: &str, output: &str| Entry::Returned(ToolResult { id: id.into(), output: output.into() });
        let turn = turn(vec![
            Entry::from_user("one"),
            call("1", "mcp__sup__wait"),
            answer("1", r#"Output: {"n": 1}"#),
            call("2", "mcp__sup__wait"),
            answer("2", r#"{"n": 2} and more"#),
            call("3", "mcp__sup__run"),
            answer("3", "no"),
        ]);
        assert_eq!(turn.answer_of("wait"), Some(json!({"n": 2})));
        assert_eq!((turn.answer_of("run"), turn.answer_of("list")), (Some(json!("no")), None));
    }

    #[test]
    fn several_parts_of_one_answer_are_one_call() {
        let history = vec![
            Entry::from_user("one"),
            Entry::Said("I will".into()),
            called(),
            returned("a"),
            Entry::Said("done".into()),
            Entry::from_user("two"),
        ];
        assert_eq!(turn(history.clone()).calls_before(), 2);
        assert_eq!(turn(vec![Entry::from_user("one")]).calls_before(), 0);
        assert!(!turn(history[..4].to_vec()).answers_prompt());
    }
}
