//! OpenCode: `opencode mcp add` edits the person's own configuration and keeps its comments (1.18.33). It replaces a server of the same name
//! without asking, so what is there already is read first, with `opencode debug config`.

use longhaul_app::{AppError, ErrorKind};
use longhaul_keeper::Environment;
use serde_json::{Value, json};

use super::server::{HOME, NAME, Server, foreign, is_ours};
use crate::commands::step::Step;
use crate::out;
use crate::start::run_program;

pub(super) fn steps(environment: &Environment, server: &Server) -> Result<Vec<Step>, AppError> {
    match &read(environment, server)?["mcp"][NAME] {
        found if is_current(found, server) => Ok(Vec::new()),
        found if found.is_null() || is_ours(&command(found), found["url"].as_str()) => Ok(vec![add(server)]),
        _ => Err(foreign("opencode", "remove it from `mcp` in opencode.json")),
    }
}

fn add(server: &Server) -> Step {
    let options = match server {
        Server::Stdio { command, home, .. } => {
            [vec!["--env".to_owned(), format!("{HOME}={home}"), "--".to_owned()], command.clone()].concat()
        }
        Server::Http { url, key_variable } => {
            let header = format!("Authorization={}", bearer(key_variable));
            vec!["--url".to_owned(), url.clone(), "--header".to_owned(), header]
        }
    };
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    Step::command(&[&["opencode", "mcp", "add", NAME], &options[..]].concat())
}

/// The key as opencode's configuration refers to it.
fn bearer(key_variable: &str) -> String {
    format!("Bearer {{env:{key_variable}}}")
}

/// Whether opencode has exactly this server. It hides headers in what it prints, so an address is compared without them.
fn is_current(found: &Value, server: &Server) -> bool {
    match server {
        Server::Stdio { .. } => *found == entry(server),
        Server::Http { url, .. } => found["url"] == url.as_str(),
    }
}

fn entry(server: &Server) -> Value {
    match server {
        Server::Stdio { command, home, .. } => {
            json!({ "type": "local", "command": command, "environment": { HOME: home } })
        }
        Server::Http { url, key_variable } => {
            json!({ "type": "remote", "url": url, "headers": { "Authorization": bearer(key_variable) } })
        }
    }
}

fn command(found: &Value) -> Vec<&str> {
    found["command"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The configuration as opencode reads it.
fn read(environment: &Environment, server: &Server) -> Result<Value, AppError> {
    let failed = |why: &str| {
        let what = format!("opencode cannot read its configuration, so nothing was changed: {}", out::readable(why));
        let lines = json!({ "mcp": { NAME: entry(server) } });
        AppError::new(ErrorKind::Failure, what)
            .hint(format!("fix it and run this again, or add this to opencode.json yourself: {lines}"))
    };
    let output = run_program(environment, "opencode", &["debug", "config"], b"");
    let output = output.ok_or_else(|| failed("`opencode debug config` cannot be run, or did not end in time"))?;
    if !output.succeeded {
        return Err(failed(&output.errors()));
    }
    serde_json::from_slice(&output.out).map_err(|error| failed(&error.to_string()))
}
