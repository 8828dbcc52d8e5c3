//! The tables `[agents.<name>]` as structs: a field is a key, its doc comment is its line in the reference, and behind `=` is what it
//! takes, in words. Reading, the reference page and the JSON schema all come from here; a key that is not here does not exist.

use longhaul_core::span;
use serde::Deserialize;
use serde_json::{Value, json};

use super::value::{Line, Millis, Program, Stop, Variable, Variables};
use crate::custom::{CLASSES, Picks, Rule, Template};
use crate::launch::Stdin;

/// One key of an agent's table.
#[derive(Debug)]
pub struct DeclaredKey {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it sets, in one line.
    pub doc: &'static str,
}

macro_rules! table {
    ($(#[$of:meta])* struct $table:ident($keys:ident) { $($(#[doc = $doc:literal])+ $name:ident: $type:ty = $takes:ident,)+ }) => {
        $(#[$of])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(crate) struct $table {
            $($(#[doc = $doc])+ pub(crate) $name: $type,)+
        }

        $(#[$of])*
        pub const $keys: &[DeclaredKey] = &[$(DeclaredKey {
            name: stringify!($name),
            takes: Takes::$takes,
            doc: concat!($($doc),+).trim_ascii_start(),
        }),+];
    };
}

table! {
    /// What changes a built-in agent.
    struct Changes(BUILT_IN_KEYS) {
        /// the program to run in place of the agent's own name on PATH
        program: Option<Program> = Program,
        /// further arguments of every session, after Longhaul's own
        arguments: Vec<String> = Words,
        /// how long a session of this agent may print nothing, in place of `limits.session_silence`
        silence: Option<Millis> = Span,
        /// how long a session of this agent may take, if that is less than what `limits.session_wall` leaves
        wall: Option<Millis> = Span,
    }
}

table! {
    /// What makes a whole agent.
    struct Definition(CUSTOM_KEYS) {
        /// what the agent is, for lists and help
        summary: Option<Line> = Text,
        /// how a session in a new conversation is started; it must be there
        argv: Template = Template,
        /// how a session goes on in the conversation `{resume}`; without it every session starts afresh
        resume: Option<Template> = Template,
        /// how the prompt comes to the program: by standard input (the default), or as the file `{prompt_file}`
        prompt: Stdin = Prompt,
        /// variables the program takes its login and configuration from; names, never values
        env: Vec<Variable> = Names,
        /// fixed variables of every session, nothing secret
        set: Variables = Variables,
        /// how a session is stopped, step by step; what is left after the last step is killed; `["TERM 5s"]` by default
        stop: Stop = Stop,
        /// how long a session of this agent may print nothing, in place of `limits.session_silence`
        silence: Option<Millis> = Span,
        /// how long a session of this agent may take, if that is less than what `limits.session_wall` leaves
        wall: Option<Millis> = Span,
        /// where the conversation's id stands in a line of output
        id: Picks = Pick,
        /// where the agent's words stand; without it every line that is no JSON is shown as it is
        text: Picks = Pick,
        /// where the name of a tool stands that the agent uses
        tool: Picks = Pick,
        /// where the tokens sent to the model stand
        input_tokens: Picks = Pick,
        /// where the tokens of the model stand
        output_tokens: Picks = Pick,
        /// where the money stands, in US dollars
        cost: Picks = Pick,
        /// whether tokens and money are running totals of the conversation instead of amounts since the last line
        cumulative: bool = Flag,
        /// where the text of an error stands; `errors` gives it a class, else it is `retryable`
        error: Picks = Pick,
        /// where the end of a usage limit stands: a date (RFC 3339), seconds or milliseconds since 1970, or seconds from now
        limit_until: Picks = Pick,
        /// what says that the turn is over; with it, exit code 0 alone is no success
        done: Picks = Pick,
        /// classes of errors by their words, in any case; the first that fits counts, for `error` and for the last of the
        /// standard error
        errors: Vec<Rule> = Rules,
        /// the arguments with which the program tells its version, for `longhaul agents`
        version: Vec<String> = Words,
    }
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// One line of text.
    Text,
    /// A program.
    Program,
    /// Yes or no.
    Flag,
    /// A length of time.
    Span,
    /// Arguments as they are.
    Words,
    /// Arguments with placeholders.
    Template,
    /// Names of variables.
    Names,
    /// Variables with their values.
    Variables,
    /// How the prompt comes to the program.
    Prompt,
    /// Signals with their patience.
    Stop,
    /// Where something stands in a line.
    Pick,
    /// Which words of an error mean which class.
    Rules,
}

impl Takes {
    /// What may be written, in words.
    pub fn wanted(self) -> String {
        match self {
            Takes::Text => "one line of text, at most 200 characters".to_owned(),
            Takes::Program => "a program's name on PATH, or its absolute path".to_owned(),
            Takes::Flag => "`true` or `false`".to_owned(),
            Takes::Span => format!("{}, more than nothing", span::SPELLING),
            Takes::Words => "a list of arguments".to_owned(),
            Takes::Template => {
                "a list of arguments, of which the first is a program's name on PATH or its absolute path; \
                                an inner list of arguments is left out when a placeholder in it has no value"
                    .to_owned()
            }
            Takes::Names => "a list of variable names".to_owned(),
            Takes::Variables => "a table of variables and their texts, such as `{ NO_COLOR = \"1\" }`".to_owned(),
            Takes::Prompt => "`stdin` or `file`".to_owned(),
            Takes::Stop => "a list of signals with their patience, such as `[\"INT 10s\", \"TERM 5s\"]`".to_owned(),
            Takes::Pick => "a JSON pointer such as `/message/text` (`*` stands for every element), a table \
                            `{ path = \"/message/text\", when = { \"/type\" = \"assistant\" } }`, or a list of them"
                .to_owned(),
            Takes::Rules => {
                let classes = CLASSES.map(|(word, _)| word).join("`, `");
                format!("a list of `{{ contains = \"words\", class = \"...\" }}` with a class of `{classes}`")
            }
        }
    }

    /// Its JSON schema.
    pub fn schema(self) -> Value {
        let text = json!({ "type": "string", "minLength": 1 });
        let pick = json!({ "anyOf": [{ "type": "string", "pattern": "^/" }, {
            "type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
                "path": { "type": "string", "pattern": "^/" },
                "when": {
                    "type": "object", "propertyNames": { "pattern": "^/" },
                    "additionalProperties": { "type": ["string", "boolean", "integer"] },
                },
            },
        }] });
        match self {
            Takes::Text | Takes::Program => text,
            Takes::Flag => json!({ "type": "boolean" }),
            Takes::Span => json!({ "type": "string", "pattern": "^\\s*(\\d+\\s*(w|d|h|m|s|ms)\\s*)+$" }),
            Takes::Words => json!({ "type": "array", "items": { "type": "string" } }),
            Takes::Template => json!({ "type": "array", "minItems": 1, "items": { "anyOf": [
                text, { "type": "array", "minItems": 1, "items": text },
            ] } }),
            Takes::Names => {
                json!({ "type": "array", "items": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" } })
            }
            Takes::Variables => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            Takes::Prompt => json!({ "enum": ["stdin", "file"] }),
            Takes::Stop => json!({ "type": "array", "minItems": 1, "items": {
                "type": "string", "pattern": "^(INT|TERM)\\s+\\d",
            } }),
            Takes::Pick => json!({ "anyOf": [pick, { "type": "array", "minItems": 1, "items": pick }] }),
            Takes::Rules => json!({ "type": "array", "items": {
                "type": "object", "additionalProperties": false, "required": ["contains", "class"],
                "properties": { "contains": text, "class": { "enum": CLASSES.map(|(word, _)| word) } },
            } }),
        }
    }
}
