//! The one table of keys that an `[agents.<name>]` table takes: whose, what it takes, what it says.
//! Reading, the reference page and the JSON schema all come from it; a key that is not here does not exist.

use serde_json::{Value, json};

/// One key of an agent's table.
#[derive(Debug)]
pub struct DeclaredKey {
    /// Its name.
    pub name: &'static str,
    /// For which agents it is.
    pub whose: Whose,
    /// What it takes.
    pub takes: Takes,
    /// What it says, in one line.
    pub doc: &'static str,
}

/// For which agents a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those that are built in.
    BuiltIn,
    /// Those that are declared.
    Custom,
    /// All.
    Both,
}

impl Whose {
    /// Whether a key of these is for agents of that kind.
    pub fn covers(self, kind: Whose) -> bool {
        self == Whose::Both || self == kind
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

/// The classes an error can have, as they are written.
pub(crate) const CLASSES: &[&str] = &[
    "retryable",
    "limited",
    "exhausted",
    "auth",
    "configuration",
    "permission",
    "context_full",
    "bad_conversation",
    "crashed",
];

impl Takes {
    /// What may be written, in words.
    pub fn wanted(self) -> String {
        match self {
            Takes::Text => "one line of text, at most 200 characters".to_owned(),
            Takes::Program => "a program's name on PATH, or its absolute path".to_owned(),
            Takes::Flag => "`true` or `false`".to_owned(),
            Takes::Span => format!("{}, more than nothing", longhaul_core::span::SPELLING),
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
                let classes = CLASSES.join("`, `");
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
                "properties": { "contains": text, "class": { "enum": CLASSES } },
            } }),
        }
    }
}

const fn custom(name: &'static str, takes: Takes, doc: &'static str) -> DeclaredKey {
    DeclaredKey { name, whose: Whose::Custom, takes, doc }
}

/// Every key.
pub const DECLARED_KEYS: &[DeclaredKey] = &[
    DeclaredKey {
        name: "program",
        whose: Whose::BuiltIn,
        takes: Takes::Program,
        doc: "the program to run in place of the agent's own name on PATH",
    },
    DeclaredKey {
        name: "arguments",
        whose: Whose::BuiltIn,
        takes: Takes::Words,
        doc: "further arguments of every session, after Longhaul's own",
    },
    custom("summary", Takes::Text, "what the agent is, for lists and help"),
    custom("argv", Takes::Template, "how a session in a new conversation is started; it must be there"),
    custom(
        "resume",
        Takes::Template,
        "how a session goes on in the conversation `{resume}`; without it every session starts afresh",
    ),
    custom(
        "prompt",
        Takes::Prompt,
        "how the prompt comes to the program: by standard input (the default), or as the file `{prompt_file}`",
    ),
    custom("env", Takes::Names, "variables the program takes its login and configuration from; names, never values"),
    custom("set", Takes::Variables, "fixed variables of every session, nothing secret"),
    custom(
        "stop",
        Takes::Stop,
        "how a session is stopped, step by step; what is left after the last step is killed; `[\"TERM 5s\"]` by default",
    ),
    DeclaredKey {
        name: "silence",
        whose: Whose::Both,
        takes: Takes::Span,
        doc: "how long a session of this agent may print nothing, in place of `limits.session_silence`",
    },
    DeclaredKey {
        name: "wall",
        whose: Whose::Both,
        takes: Takes::Span,
        doc: "how long a session of this agent may take, if that is less than what `limits.session_wall` leaves",
    },
    custom("id", Takes::Pick, "where the conversation's id stands in a line of output"),
    custom(
        "text",
        Takes::Pick,
        "where the agent's words stand; without it every line that is no JSON is shown as it is",
    ),
    custom("tool", Takes::Pick, "where the name of a tool stands that the agent uses"),
    custom("input_tokens", Takes::Pick, "where the tokens sent to the model stand"),
    custom("output_tokens", Takes::Pick, "where the tokens of the model stand"),
    custom("cost", Takes::Pick, "where the money stands, in US dollars"),
    custom(
        "cumulative",
        Takes::Flag,
        "whether tokens and money are running totals of the conversation instead of amounts since the last line",
    ),
    custom(
        "error",
        Takes::Pick,
        "where the text of an error stands; `errors` gives it a class, else it is `retryable`",
    ),
    custom(
        "limit_until",
        Takes::Pick,
        "where the end of a usage limit stands: a date (RFC 3339), seconds or milliseconds since 1970, or seconds from now",
    ),
    custom("done", Takes::Pick, "what says that the turn is over; with it, exit code 0 alone is no success"),
    custom(
        "errors",
        Takes::Rules,
        "classes of errors by their words, in any case; the first that fits counts, for `error` and for the last of the standard error",
    ),
    custom("version", Takes::Words, "the arguments with which the program tells its version, for `longhaul agents`"),
];
