//! Shows a task in a separate tmux session, for people who work in tmux. Opened by `run --tmux` and `attach --tmux`.
//! The session runs `attach --read-only`. The task never depends on it, so it can be killed at any time.

use std::path::Path;
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::Task;
use longhaul_keeper::find_program;

use crate::exit::Code;
use crate::out;
use crate::start::ask;
use longhaul_app::Call;
use longhaul_app::{AppError, Asked, ErrorKind};

/// How long tmux may take to start its server and a session.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many session names are tried.
const NAMES: u32 = 100;

/// Opens the view and prints how to attach to it. Errors do not affect the task.
pub(crate) async fn open(call: &Call, task: TaskId) -> Result<Code, AppError> {
    let stored = call
        .store()?
        .load(task)
        .await?
        .ok_or_else(|| AppError::new(ErrorKind::NotFound, "the task no longer exists"))?;
    let task = &stored.task;
    let name = &task.submission.name;
    let hint = format!("the task is not affected; follow it with `longhaul attach {name}`");
    let tmux = find_program("tmux")
        .ok_or_else(|| AppError::new(ErrorKind::Failure, "tmux is not on PATH").hint(hint.as_str()))?;
    let session = start(&tmux, call, task).map_err(|error| error.hint(hint))?;
    // Inside tmux, attaching is refused: the client switches to the session.
    let is_inside = call.app.system.environment.get("TMUX").is_some_and(|tmux| !tmux.is_empty());
    out::data(&format!("tmux {} -t {session}", if is_inside { "switch-client" } else { "attach" }));
    out::note(&format!("tmux session {session} shows task {name}, read-only; closing it does not affect the task"));
    Ok(Code::Done)
}

/// Where a session keeps the id of the task that it shows.
const SHOWN: &str = "@longhaul_task";

/// The session that shows the task: the one that is open, or a new one under the first name that is free.
fn start(tmux: &Path, call: &Call, task: &Task) -> Result<String, AppError> {
    let (viewer, id) = (viewer(call, task)?, task.id.to_string());
    let wanted = session_name(&task.submission.agent, task.submission.name.as_ref());
    for number in 1..=NAMES {
        let name = if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") };
        if is_taken(tmux, &name) {
            match shown(tmux, &name).is_some_and(|shown| shown == id) {
                true => return Ok(name),
                false => continue,
            }
        }
        let mut arguments = vec!["new-session", "-d", "-s", &name, "-c", task.cwd()];
        arguments.extend(viewer.iter().map(String::as_str));
        let target = target(&name);
        arguments.extend([";", "set-option", "-t", &target, SHOWN, &id]);
        match ask(tmux, &arguments, PATIENCE) {
            Asked::Said(_) => return Ok(name),
            // Another process may have taken the name.
            Asked::Failed if is_taken(tmux, &name) => {}
            Asked::Failed => return Err(failed("tmux did not create the session")),
            Asked::Late => return Err(failed("tmux does not answer")),
            Asked::Unknown => return Err(failed("tmux cannot be started")),
        }
    }
    Err(failed("all names for the tmux session are taken"))
}

fn failed(what: &str) -> AppError {
    AppError::new(ErrorKind::Failure, what).hint("run `tmux new-session -d` to see why")
}

fn is_taken(tmux: &Path, name: &str) -> bool {
    // Without `=` tmux would also match a prefix of another name.
    matches!(ask(tmux, &["has-session", "-t", &format!("={name}")], PATIENCE), Asked::Said(_))
}

/// The task that a session shows, if it is one of ours.
fn shown(tmux: &Path, name: &str) -> Option<String> {
    match ask(tmux, &["show-options", "-qv", "-t", &target(name), SHOWN], PATIENCE) {
        Asked::Said(id) => Some(id.trim().to_owned()),
        Asked::Failed | Asked::Late | Asked::Unknown => None,
    }
}

/// The session of exactly this name.
fn target(name: &str) -> String {
    format!("={name}:")
}

/// The command that tmux runs. It gets the environment of the tmux server, so the home is passed explicitly.
fn viewer(call: &Call, task: &Task) -> Result<Vec<String>, AppError> {
    let own = std::env::current_exe()
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot find our own executable").because(&error))?;
    let home = format!("LONGHAUL_HOME={}", call.home().root().display());
    let attach = ["attach", &task.id.to_string(), "--read-only", "--keep-open"].map(str::to_owned);
    let arguments = [home, own.display().to_string()].into_iter().chain(attach);
    Ok(std::iter::once("env".to_owned()).chain(arguments.map(literal)).collect())
}

/// tmux reads a semicolon at the end of an argument as the end of the command.
fn literal(argument: String) -> String {
    match argument.strip_suffix(';') {
        Some(rest) => format!("{rest}\\;"),
        None => argument,
    }
}

/// tmux gives dots and colons in a name a special meaning.
fn session_name(agent: &str, task: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    format!("{agent}-{task}").chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::{literal, session_name};

    #[test]
    fn names_hold_nothing_that_tmux_reads_as_its_own() {
        assert_eq!(session_name("codex", "port-the-parser"), "codex-port-the-parser");
        assert_eq!(session_name("my.agent", "v1.2_x"), "my-agent-v1-2_x");
        assert_eq!(session_name("a:b", "="), "a-b--");
    }

    #[test]
    fn a_path_never_ends_a_command() {
        assert_eq!(literal("/a;b".to_owned()), "/a;b");
        assert_eq!(literal("/a;".to_owned()), "/a\\;");
    }
}
