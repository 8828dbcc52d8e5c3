//! Claude Code: `claude mcp add-json` writes the server into the person's own configuration, so that every project has it. What is there
//! already is read from the file, because `claude mcp get` starts the server to test it (2.1.325).

use std::path::{Path, PathBuf};

use longhaul_app::{AppError, ErrorKind, locations};
use longhaul_keeper::Environment;
use longhaul_keeper::files::if_exists;
use serde_json::{Value, json};

use super::server::{HOME, NAME, Server, foreign, is_ours};
use crate::commands::step::Step;

pub(super) fn steps(environment: &Environment, server: &Server) -> Result<Vec<Step>, AppError> {
    let wanted = entry(server);
    let remove = ["claude", "mcp", "remove", "--scope", "user", NAME];
    let add = Step::command(&["claude", "mcp", "add-json", "--scope", "user", NAME, &wanted.to_string()]);
    match &read(&file(environment)?)?["mcpServers"][NAME] {
        Value::Null => Ok(vec![add]),
        found if *found == wanted => Ok(Vec::new()),
        found if is_ours(&command(found), found["url"].as_str()) => Ok(vec![Step::command(&remove), add]),
        _ => Err(foreign("claude", &format!("remove it with `{}`", remove.join(" ")))),
    }
}

fn entry(server: &Server) -> Value {
    match server {
        Server::Stdio { command, home, .. } => {
            json!({ "type": "stdio", "command": command[0], "args": command[1..], "env": { HOME: home } })
        }
        Server::Http { url, key_variable } => {
            json!({ "type": "http", "url": url, "headers": { "Authorization": format!("Bearer ${{{key_variable}}}") } })
        }
    }
}

fn command(found: &Value) -> Vec<&str> {
    let arguments = found["args"].as_array().into_iter().flatten();
    std::iter::once(&found["command"]).chain(arguments).filter_map(Value::as_str).collect()
}

fn file(environment: &Environment) -> Result<PathBuf, AppError> {
    let directory = locations::named_directory(environment, "CLAUDE_CONFIG_DIR");
    Ok(directory.map_or_else(|| locations::user_directory(environment), Ok)?.join(".claude.json"))
}

/// The configuration; null if there is none yet.
fn read(path: &Path) -> Result<Value, AppError> {
    let failed = |error: &dyn std::error::Error| {
        AppError::new(ErrorKind::Failure, format!("cannot read `{}`; nothing was changed", path.display()))
            .because(error)
            .hint("fix the file and run this again")
    };
    let text = if_exists(std::fs::read_to_string(path)).map_err(|error| failed(&error))?;
    text.map_or(Ok(Value::Null), |text| serde_json::from_str(&text).map_err(|error| failed(&error)))
}
