//! The tables `[agents.<name>]` as structs: a field is a key, its doc comment is its line on the reference page, and after `=` is
//! what it takes. Reading, the reference page and the JSON schema all come from here. A key without a field does not exist.

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
    /// Keys that change a built-in agent.
    struct Changes(BUILT_IN_KEYS) {
        /// the program to run instead of the agent's default on PATH
        program: Option<Program> = Program,
        /// extra arguments for every session, after Longhaul's own
        arguments: Vec<String> = Words,
        /// how long a session of this agent may print nothing; overrides `limits.session_silence`
        silence: Option<Millis> = Span,
        /// how long a session of this agent may take, if that is less than `limits.session_wall`
        wall: Option<Millis> = Span,
    }
}

table! {
    /// Keys that define a custom agent.
    struct Definition(CUSTOM_KEYS) {
        /// a short description for lists and help
        summary: Option<Line> = Text,
        /// the command that starts a session in a new conversation; required
        argv: Template = Template,
        /// the command that resumes the conversation `{resume}`; without it, every session starts a new conversation
        resume: Option<Template> = Template,
        /// how the program gets the prompt: on stdin (the default), or as the file `{prompt_file}`
        prompt: Stdin = Prompt,
        /// names of the environment variables that hold the program's login and configuration, never their values
        env: Vec<Variable> = Names,
        /// environment variables to set in every session; no secrets
        set: Variables = Variables,
        /// how to stop a session, step by step; processes left after the last step are killed; default `["TERM 5s"]`
        stop: Stop = Stop,
        /// how long a session of this agent may print nothing; overrides `limits.session_silence`
        silence: Option<Millis> = Span,
        /// how long a session of this agent may take, if that is less than `limits.session_wall`
        wall: Option<Millis> = Span,
        /// where a line of output has the conversation's id
        id: Picks = Pick,
        /// where a line has the agent's text; without it, lines that are not JSON are shown as they are
        text: Picks = Pick,
        /// where a line has the name of a tool that the agent uses
        tool: Picks = Pick,
        /// where a line has the number of input tokens
        input_tokens: Picks = Pick,
        /// where a line has the number of output tokens
        output_tokens: Picks = Pick,
        /// where a line has the cost, in US dollars
        cost: Picks = Pick,
        /// whether tokens and cost are running totals of the conversation instead of amounts since the last line
        cumulative: bool = Flag,
        /// where a line has the text of an error; `errors` gives it a class, otherwise it is `retryable`
        error: Picks = Pick,
        /// where a line has the end of a usage limit: a date (RFC 3339), seconds or milliseconds since 1970, or seconds from now
        limit_until: Picks = Pick,
        /// what marks the end of the turn; if set, exit code 0 alone is not a success
        done: Picks = Pick,
        /// classes of errors by the words they contain, ignoring case; the first match wins; applies to `error` and to the end
        /// of stderr
        errors: Vec<Rule> = Rules,
        /// the arguments that make the program print its version, for `longhaul agents`
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
    /// How the program gets the prompt.
    Prompt,
    /// Signals with their grace periods.
    Stop,
    /// Where a line has something.
    Pick,
    /// Which words of an error mean which class.
    Rules,
}

impl Takes {
    /// Which values it takes, in words.
    pub fn wanted(self) -> String {
        match self {
            Takes::Text => "one line of text, at most 200 characters".to_owned(),
            Takes::Program => "a program's name on PATH, or its absolute path".to_owned(),
            Takes::Flag => "`true` or `false`".to_owned(),
            Takes::Span => format!("{}, more than zero", span::SPELLING),
            Takes::Words => "a list of arguments".to_owned(),
            Takes::Template => "a list of arguments; the first is a program's name on PATH or its absolute path; \
                                an inner list of arguments is dropped if a placeholder in it has no value"
                .to_owned(),
            Takes::Names => "a list of variable names".to_owned(),
            Takes::Variables => "a table of variables and their values, such as `{ NO_COLOR = \"1\" }`".to_owned(),
            Takes::Prompt => "`stdin` or `file`".to_owned(),
            Takes::Stop => {
                "a list of signals with their grace periods, such as `[\"INT 10s\", \"TERM 5s\"]`".to_owned()
            }
            Takes::Pick => "a JSON pointer such as `/message/text` (`*` matches every element), a table \
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
