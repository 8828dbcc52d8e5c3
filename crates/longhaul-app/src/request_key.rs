//! Idempotency keys of requests: a caller who gets no answer repeats the request under the same key, and it is carried out once.
//! Looked up by `Call::perform` before an operation runs.
//!
//! A request without a key is recognised by its client's own id for it. A model that repeats itself has neither: an assistant's equal submission
//! within a minute is taken for a repeat while its task is at work.

use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::Action;
use longhaul_store::{Earlier, Key};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{Answer, FrontEnd, Operation};
use crate::views::TaskView;

/// The longest key.
const LONGEST: usize = 200;
/// How long an equal submission is taken for a repeat.
const GUESSED_FOR: Duration = Duration::from_secs(60);
/// Names that no caller chose begin with a character that a caller's key cannot have.
const ID_OF_CLIENT: &str = "\u{1f}id/";
const GUESS: &str = "\u{1f}same/";

/// The key of a request, bound to its operation and to a digest of its input and, where that counts, of the directory it comes from.
pub(crate) fn key_of<O: Operation>(call: &Call, input: &O::Input) -> Result<Option<Key>, AppError> {
    let operation = O::ABOUT.name;
    if let Some(chosen) = O::key(input) {
        check(chosen)?;
        let text = text_of::<O>(call, input).map_err(|error| {
            AppError::new(ErrorKind::Usage, "this request cannot have a key: its paths are not UTF-8").because(&error)
        })?;
        return Ok(Some(Key::new(in_own_task(call, chosen), operation, &text)));
    }
    if matches!(O::ABOUT.action, Action::Read | Action::ReadAll(_)) {
        return Ok(None);
    }
    // Paths that are not UTF-8 only cost the protection that nobody asked for.
    let Ok(text) = text_of::<O>(call, input) else { return Ok(None) };
    if let Some(id) = &call.request_id {
        return Ok(Some(Key::new(in_own_task(call, &format!("{ID_OF_CLIENT}{id}")), operation, &text)));
    }
    let guesses = call.caller.channel == FrontEnd::Mcp && matches!(O::ABOUT.action, Action::Submit(_));
    let after = call.now().before(GUESSED_FOR);
    Ok(guesses.then(|| Key::guessed(&in_own_task(call, GUESS), operation, &text, after)))
}

fn check(chosen: &str) -> Result<(), AppError> {
    let what = if chosen.is_empty() || chosen.len() > LONGEST {
        format!("an idempotency key must have 1 to {LONGEST} bytes")
    } else if chosen.contains(char::is_control) {
        "an idempotency key must not contain control characters".to_owned()
    } else {
        return Ok(());
    };
    Err(AppError::new(ErrorKind::Usage, what))
}

fn text_of<O: Operation>(call: &Call, input: &O::Input) -> serde_json::Result<String> {
    // Names of tasks and relative paths depend on the directory. A report does not, and its program may be restarted elsewhere.
    let counts = !matches!(O::ABOUT.action, Action::Report(_));
    serde_json::to_string(&(call.caller.directory().ok().filter(|_| counts), input))
}

/// Agents of all tasks are one principal, so each task has its own keys; its next session may repeat a request.
fn in_own_task(call: &Call, name: &str) -> String {
    call.own_task().map_or_else(|| name.to_owned(), |task| format!("{task}/{name}"))
}

/// The request that was carried out before under this key.
pub(crate) async fn earlier(call: &Call, key: Option<&Key>) -> Result<Option<Earlier>, AppError> {
    let Some(key) = key else { return Ok(None) };
    let store = match call.store() {
        // Without a home nothing was carried out.
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        store => store?,
    };
    Ok(store.repeat_of(key, &call.caller.actor).await?)
}

/// The task after a request, and whether the request was a repeat.
pub(crate) async fn answer(call: &Call, task: TaskId, repeated: bool) -> Result<Answer<TaskView>, AppError> {
    Ok(Answer { repeated, ..Answer::new(TaskView::of(call, task).await?) })
}
