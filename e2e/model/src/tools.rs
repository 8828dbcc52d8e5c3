//! Puts a neutral call into the words of a tool that the agent offers.
//! Called by the dialects; what is offered decides, so a new version of an agent with known tools needs no change here.
//! It never calls a tool that is not offered, unless a script names it itself.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use crate::reply::Call;
use crate::turn::{Offered, Turn};

/// A call as it goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WireCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// Names of shell tools, most wanted first; which argument takes the command is read from the tool's schema.
const SHELLS: &[&str] = &["exec_command", "shell_command", "shell", "Bash", "bash", "run_shell_command"];
const COMMANDS: &[&str] = &["cmd", "command"];
const WRITERS: &[&str] = &["Write", "write", "write_file"];
const PATHS: &[&str] = &["file_path", "filePath", "path"];
/// The tool with which claude, and the one with which codex, shows more tools to its model.
const CLAUDE_SEARCH: &str = "ToolSearch";
pub(crate) const CODEX_SEARCH: &str = "tool_search";

/// Puts the calls of one answer into words; an error names the call that no offered tool can do.
pub(crate) fn put_into_words(turn: &Turn, calls: &[Call]) -> Result<Vec<WireCall>, String> {
    let calls = calls.iter().map(|call| {
        let (name, arguments) = put_one(turn, call)?;
        Ok(WireCall { id: next_id(turn), name, arguments })
    });
    calls.collect()
}

/// Counts over all conversations, because an agent may drop an interrupted call and so come back with the same history.
fn next_id(turn: &Turn) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("call_{}_{}", turn.calls_before(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn put_one(turn: &Turn, call: &Call) -> Result<(String, Value), String> {
    match call {
        Call::Raw { name, arguments } => Ok((name.clone(), arguments.clone())),
        Call::Mcp { server, tool, arguments } => mcp(turn, server, tool, arguments),
        Call::Shell(command) => shell(turn, command),
        Call::WriteFile { path, text } => match find(turn, WRITERS) {
            Some(tool) => Ok((tool.name.clone(), writer_arguments(tool, path, text))),
            None => shell(turn, &format!("printf %s {} > {}", quoted(text), quoted(path))),
        },
    }
}

fn shell(turn: &Turn, command: &str) -> Result<(String, Value), String> {
    let Some(tool) = find(turn, SHELLS) else {
        let names: Vec<&str> = turn.tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(format!("no shell is among the tools offered: `{}`", names.join("`, `")));
    };
    let argument = COMMANDS.iter().find(|name| has_property(tool, name)).copied().unwrap_or("command");
    let value = match tool.schema["properties"][argument]["type"] == "array" {
        true => json!(["bash", "-lc", command]),
        false => json!(command),
    };
    let mut arguments = Map::from_iter([(argument.to_owned(), value)]);
    if has_property(tool, "description") {
        arguments.insert("description".to_owned(), json!("does what the script says"));
    }
    Ok((tool.name.clone(), Value::Object(arguments)))
}

fn mcp(turn: &Turn, server: &str, tool: &str, arguments: &Value) -> Result<(String, Value), String> {
    let name = format!("mcp__{server}__{tool}");
    if let Some(found) = find(turn, &[&name, &format!("{server}_{tool}"), &format!("mcp_{server}_{tool}")]) {
        return Ok((found.name.clone(), arguments.clone()));
    }
    let search = find(turn, &[CLAUDE_SEARCH, CODEX_SEARCH]).ok_or_else(|| format!("`{name}` is not offered"))?;
    let query = match search.name.as_str() {
        CLAUDE_SEARCH => json!({"query": format!("select:{name}"), "max_results": 5}),
        _ => json!({"query": format!("{server} {tool}"), "limit": 8}),
    };
    match turn.has_called(&search.name, &query) {
        true => Err(format!("a search for `{name}` did not find it")),
        false => Ok((search.name.clone(), query)),
    }
}

fn writer_arguments(tool: &Offered, path: &str, text: &str) -> Value {
    let place = PATHS.iter().find(|name| has_property(tool, name)).copied().unwrap_or("path");
    json!({place: path, "content": text})
}

fn find<'a>(turn: &'a Turn, names: &[&str]) -> Option<&'a Offered> {
    names.iter().find_map(|name| turn.tools.iter().find(|tool| tool.name == *name))
}

fn has_property(tool: &Offered, name: &str) -> bool {
    tool.schema["properties"].get(name).is_some()
}

/// Quotes a word for a POSIX shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::put_into_words;
    use crate::reply::Call;
    use crate::turn::{Delivery, Dialect, Entry, Offered, Turn};

    fn turn(tools: &[(&str, Value)]) -> Turn {
        let offered = |(name, properties): &(&str, Value)| Offered {
            name: (*name).to_owned(),
            schema: json!({"type": "object", "properties": properties}),
        };
        let (dialect, delivery) = (Dialect::Chat, Delivery::Stream);
        let tools = tools.iter().map(offered).collect();
        Turn { dialect, history: vec![], tools, model: String::new(), delivery, headers: vec![], body: Value::Null }
    }

    fn worded(tools: &[(&str, Value)], call: Call) -> Result<(String, Value), String> {
        let calls = put_into_words(&turn(tools), &[call])?;
        Ok((calls[0].name.clone(), calls[0].arguments.clone()))
    }

    #[test]
    fn a_command_takes_the_form_the_tool_asks_for() {
        let shell = || Call::Shell("ls".into());
        for (name, properties, arguments) in [
            ("exec_command", json!({"cmd": {"type": "string"}}), json!({"cmd": "ls"})),
            ("shell", json!({"command": {"type": "array"}}), json!({"command": ["bash", "-lc", "ls"]})),
            ("run_shell_command", json!({"command": {"type": "string"}}), json!({"command": "ls"})),
        ] {
            assert_eq!(worded(&[("read", json!({})), (name, properties)], shell()), Ok((name.into(), arguments)));
        }
    }

    #[test]
    fn a_file_is_written_by_the_tool_for_it_or_else_by_the_shell() {
        let write = || Call::WriteFile { path: "a b".into(), text: "it's".into() };
        let (name, arguments) = worded(&[("write", json!({"filePath": {}}))], write()).expect("a writer is offered");
        assert_eq!((name.as_str(), arguments), ("write", json!({"filePath": "a b", "content": "it's"})));
        let (_, arguments) = worded(&[("bash", json!({"command": {}}))], write()).expect("a shell is offered");
        assert_eq!(arguments, json!({"command": r"printf %s 'it'\''s' > 'a b'"}));
    }

    #[test]
    fn a_tool_of_a_server_is_called_by_the_agents_name_for_it_or_searched_for_once() {
        let call = || Call::Mcp { server: "sup".into(), tool: "run".into(), arguments: json!({"n": 1}) };
        for name in ["mcp__sup__run", "sup_run", "mcp_sup_run"] {
            assert_eq!(
                worded(&[("ToolSearch", json!({})), (name, json!({}))], call()),
                Ok((name.into(), json!({"n": 1})))
            );
        }
        let (name, query) = worded(&[("ToolSearch", json!({}))], call()).expect("a search");
        assert_eq!((name.as_str(), &query["query"]), ("ToolSearch", &json!("select:mcp__sup__run")));
        let mut turn = turn(&[("ToolSearch", json!({}))]);
        turn.history = vec![Entry::Called { id: "1".into(), name, arguments: query.to_string() }];
        let error = put_into_words(&turn, &[call()]).expect_err("it was searched for");
        assert!(error.contains("did not find"), "{error}");
        assert!(worded(&[("bash", json!({}))], call()).is_err());
    }

    #[test]
    fn without_a_fitting_tool_the_names_offered_are_told() {
        let error = worded(&[("read", json!({}))], Call::Shell("ls".into())).expect_err("there is no shell");
        assert!(error.contains("`read`"), "{error}");
    }
}
