//! Idempotency keys of requests: a caller who gets no answer repeats the request under the same key, and it is carried out once.
//! Looked up by `Call::perform` before an operation runs.

use longhaul_core::ids::TaskId;
use longhaul_store::{Earlier, Key};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{Answer, Operation};
use crate::views::TaskView;

/// The longest key.
const LONGEST: usize = 200;

/// The key of a request, bound to its operation and to a digest of its input and of the directory it comes from.
pub(crate) fn key_of<O: Operation>(call: &Call, input: &O::Input) -> Result<Option<Key>, AppError> {
    let Some(key) = O::key(input) else { return Ok(None) };
    if key.is_empty() || key.len() > LONGEST {
        let what = format!("an idempotency key must have 1 to {LONGEST} bytes");
        return Err(AppError::new(ErrorKind::Usage, what));
    }
    let text = serde_json::to_string(&(call.caller.directory().ok(), input)).map_err(|error| {
        AppError::new(ErrorKind::Usage, "this request cannot have a key: its paths are not UTF-8").because(&error)
    })?;
    // Agents of all tasks are one principal, so each task has its own keys; its next session may repeat a request.
    let name = call.own_task().map_or_else(|| key.to_owned(), |task| format!("{task}/{key}"));
    Ok(Some(Key::new(name, O::ABOUT.name, &text)))
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
