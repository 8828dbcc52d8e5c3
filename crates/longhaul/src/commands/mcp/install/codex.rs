//! codex: the server's table in `config.toml`, edited in place. `codex mcp add` drops the comments of every server, and knows neither approvals
//! nor variables to pass on (0.166.0). codex starts a server with almost no variables, so it gets the names of those that agents need; their
//! values stay where they are.

use std::path::PathBuf;

use longhaul_app::{AppError, ErrorKind, locations};
use longhaul_keeper::Environment;
use longhaul_keeper::files::if_exists;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, TomlError, value};

use super::server::{HOME, NAME, Server, foreign, is_ours};
use crate::commands::step::Step;

const SERVERS: &str = "mcp_servers";
const VARIABLES: &str = "env_vars";
const APPROVAL: &str = "default_tools_approval_mode";

pub(super) fn steps(environment: &Environment, server: &Server, auto_approve: bool) -> Result<Vec<Step>, AppError> {
    let path = file(environment)?;
    let mut alone = DocumentMut::new();
    edit(&mut alone, server, auto_approve)?;
    let unusable = |error: &dyn std::error::Error| {
        AppError::new(ErrorKind::Failure, format!("cannot read `{}`; nothing was changed", path.display()))
            .because(error)
            .hint(format!("fix the file and run this again, or add this to it yourself:\n{alone}"))
    };
    let before = if_exists(std::fs::read_to_string(&path)).map_err(|error| unusable(&error))?.unwrap_or_default();
    let mut document: DocumentMut = before.parse().map_err(|error: TomlError| unusable(&error))?;
    edit(&mut document, server, auto_approve)?;
    let text = document.to_string();
    if text == before {
        return Ok(Vec::new());
    }
    Ok(vec![Step::Edit { path, part: part(&document), text }])
}

/// Whether codex lets its model call our tools without asking.
pub(super) fn approves(environment: &Environment) -> Result<bool, AppError> {
    let text = std::fs::read_to_string(file(environment)?).unwrap_or_default();
    let document: DocumentMut = text.parse().unwrap_or_default();
    let ours = document.get(SERVERS).and_then(|servers| servers.get(NAME));
    Ok(ours.and_then(|ours| ours.get(APPROVAL)).and_then(Item::as_str) == Some("approve"))
}

/// The file itself, where `config.toml` is a link into somebody's dotfiles.
fn file(environment: &Environment) -> Result<PathBuf, AppError> {
    let directory = match locations::named_directory(environment, "CODEX_HOME") {
        Some(named) => named,
        None => locations::user_directory(environment)?.join(".codex"),
    };
    let path = directory.join("config.toml");
    Ok(path.canonicalize().unwrap_or(path))
}

/// Adds or updates our table; a person's other settings in it stay.
fn edit(document: &mut DocumentMut, server: &Server, auto_approve: bool) -> Result<(), AppError> {
    let foreign = || foreign("codex", "remove it with `codex mcp remove longhaul`");
    let servers = table(document.as_table_mut(), SERVERS).ok_or_else(foreign)?;
    let is_new = !servers.contains_key(NAME);
    let ours = table(servers, NAME).ok_or_else(foreign)?;
    if !is_new && !is_ours(&command(ours), ours.get("url").and_then(Item::as_str)) {
        return Err(foreign());
    }
    match server {
        Server::Stdio { command, home, variables } => {
            remove(ours, &["url", "bearer_token_env_var"]);
            set(ours, "command", &command[0]);
            set_strings(ours, "args", &command[1..]);
            set(table(ours, "env").ok_or_else(foreign)?, HOME, home);
            // What a person has added stays.
            let mut names = strings(ours, VARIABLES);
            names.extend(variables.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>());
            set_strings(ours, VARIABLES, &names);
        }
        Server::Http { url, key_variable } => {
            remove(ours, &["command", "args", "env", VARIABLES]);
            set(ours, "url", url);
            set(ours, "bearer_token_env_var", key_variable);
        }
    }
    if auto_approve {
        set(ours, APPROVAL, "approve");
    }
    Ok(())
}

/// The table under this key, created if it is missing; none if something else is there.
fn table<'a>(parent: &'a mut dyn TableLike, key: &str) -> Option<&'a mut dyn TableLike> {
    let mut created = Table::new();
    created.set_implicit(true);
    parent.entry(key).or_insert(Item::Table(created)).as_table_like_mut()
}

/// What is as it should be keeps its spelling and its comment.
fn set(table: &mut dyn TableLike, key: &str, text: &str) {
    if table.get(key).and_then(Item::as_str) != Some(text) {
        table.insert(key, value(text));
    }
}

fn set_strings(table: &mut dyn TableLike, key: &str, texts: &[String]) {
    if strings(table, key) != texts {
        table.insert(key, value(texts.iter().collect::<Array>()));
    }
}

fn strings(table: &dyn TableLike, key: &str) -> Vec<String> {
    let items = table.get(key).and_then(Item::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str()).map(str::to_owned).collect()
}

fn remove(table: &mut dyn TableLike, keys: &[&str]) {
    keys.iter().for_each(|key| drop(table.remove(key)));
}

fn command(ours: &dyn TableLike) -> Vec<&str> {
    let program = ours.get("command").and_then(Item::as_str);
    let arguments = ours.get("args").and_then(Item::as_array).into_iter().flatten();
    program.into_iter().chain(arguments.filter_map(|argument| argument.as_str())).collect()
}

/// Our table alone, as a person is shown it.
fn part(document: &DocumentMut) -> String {
    let mut only = DocumentMut::new();
    if let (Some(ours), Some(servers)) = (document[SERVERS].get(NAME), table(only.as_table_mut(), SERVERS)) {
        servers.insert(NAME, ours.clone());
    }
    only.to_string()
}
