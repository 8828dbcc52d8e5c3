//! `run` for clients of the MCP extension `io.modelcontextprotocol/tasks`: they get a handle at once and poll it until the end.
//!
//! A handle is the id of our task and every answer comes from the store, so any later server knows it. Only a task's own end is an end here:
//! one that needs a person is still being worked on, and its message names the command. A client's program never answers for that person.

use std::time::Duration;

use longhaul_app::operation::Answer;
use longhaul_app::operations::{Cancel, CancelInput, TaskInput, Why, WhyView};
use longhaul_app::ownership::ensure_worker;
use longhaul_app::views::{Outcome, TaskView};
use longhaul_app::{AppError, Call, ErrorKind, text};
use longhaul_core::ids::TaskId;
use longhaul_core::task::Right;
use rmcp::model::{CallToolResult, CreateTaskResult, DetailedTask, ProtocolVersion, Task, TaskPayload, TaskStatus};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::tool::{self, object};

/// The tool that answers with a handle.
pub(crate) const TOOL: &str = "run";
/// A new task is polled so often, an old one seldom.
const FASTEST: Duration = Duration::from_secs(2);
const SLOWEST: Duration = Duration::from_secs(15);

/// Whether a request is of the protocol without a handshake.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether this very request declares the extension, which only that protocol has: some clients declare it only when they connect.
pub(crate) fn is_declared(context: &RequestContext<RoleServer>) -> bool {
    is_modern(context) && context.meta.client_capabilities().is_some_and(|declared| declared.supports_tasks())
}

/// The input of `run` with which it starts the task and does not wait for it.
pub(crate) fn without_waiting(mut input: Value) -> Value {
    input["timeout_ms"] = 0.into();
    input
}

/// The handle of the task that `run` has started; none if it failed.
pub(crate) fn handle(result: &CallToolResult) -> Option<CreateTaskResult> {
    let document = result.structured_content.as_ref()?;
    let data = |field: &str| document["data"][field].as_str();
    let warnings = document["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let message: Vec<&str> = data("status").into_iter().chain(warnings).collect();
    let task = Task::new(data("id")?, TaskStatus::Working, data("created")?, data("updated")?)
        .with_status_message(message.join("; "))
        .with_poll_interval_ms(millis(FASTEST));
    Some(CreateTaskResult::new(task))
}

/// The task behind a handle as it is now.
pub(crate) async fn get(call: &Call, handle: &str) -> Result<DetailedTask, ErrorData> {
    let id = parse(handle)?;
    let age = id.minted().map_or(Duration::MAX, |minted| call.now().since(minted));
    let poll = millis((age / 10).clamp(FASTEST, SLOWEST));
    let (task, payload) = match followed(call, id).await {
        Ok(why) => {
            let task = Task::new(handle, TaskStatus::Working, &why.task.created, &why.task.updated);
            (task.with_status_message(message(&why)), payload(why.task).map_err(|error| refused(&error))?)
        }
        // It can never be answered, so the client must not poll for ever.
        Err(error) if error.kind == ErrorKind::Damaged => {
            let at = id.minted().unwrap_or_else(|| call.now()).rfc3339();
            let error = object(serde_json::to_value(refused(&error)).unwrap_or_default());
            (Task::new(handle, TaskStatus::Failed, &at, &at), TaskPayload::Failed { error })
        }
        Err(error) => return Err(refused(&error)),
    };
    Ok(DetailedTask::new(task.with_poll_interval_ms(poll), payload))
}

/// Whoever polls waits for the end, so the task must have a worker, as with `wait`.
async fn followed(call: &Call, id: TaskId) -> Result<WhyView, AppError> {
    if call.caller.rights.include(Right::Run)
        && let Ok(Some(stored)) = call.load(id).await
    {
        ensure_worker(call, &stored).await?;
    }
    // What cannot be loaded is explained or refused here.
    why(call, id).await
}

/// What a client sends to a task that asked it something. Ours ask people instead, so it changes nothing.
pub(crate) async fn update(call: &Call, handle: &str) -> Result<(), ErrorData> {
    let found = why(call, parse(handle)?).await;
    found.map(drop).map_err(|error| refused(&error))
}

/// Cancels the task, however often it is asked to. A task that waits for a person is left to that person: some clients cancel by themselves
/// what they cannot show.
pub(crate) async fn cancel(call: &Call, handle: &str) -> Result<(), ErrorData> {
    let id = parse(handle)?;
    let is_over = |why: WhyView| why.task.is_finished || why.task.needs_person;
    if why(call, id).await.map(is_over).map_err(|error| refused(&error))? {
        return Ok(());
    }
    let reason = Some("the MCP client cancelled the call".to_owned());
    let input = CancelInput { task: Some(id.to_string()), reason, key: None };
    match call.perform::<Cancel>(input).await {
        Err(error) if !why(call, id).await.is_ok_and(is_over) => Err(refused(&error)),
        // It ended meanwhile.
        Ok(_) | Err(_) => Ok(()),
    }
}

async fn why(call: &Call, id: TaskId) -> Result<WhyView, AppError> {
    Ok(call.perform::<Why>(TaskInput { task: Some(id.to_string()) }).await?.view)
}

/// The sentence of `why`, and what a person has to do.
fn message(why: &WhyView) -> String {
    let sentence = match why.task.needs_person {
        true => format!("{}. A person must act: {}", why.why, why.next_step),
        false => why.why.clone(),
    };
    text::safe(&sentence)
}

/// What has come of the task so far; its result is the one of a call that waited.
fn payload(task: TaskView) -> Result<TaskPayload, AppError> {
    let is_error = match task.outcome {
        Outcome::Done | Outcome::NotVerified => false,
        Outcome::Failed => true,
        Outcome::Cancelled => return Ok(TaskPayload::Cancelled),
        Outcome::VerificationFailed | Outcome::Stopped | Outcome::NeedsPerson | Outcome::Waiting | Outcome::Running => {
            return Ok(TaskPayload::Working);
        }
    };
    let mut result = tool::answer(Answer::new(task).document()?);
    result.is_error = Some(is_error);
    Ok(TaskPayload::Completed { result: object(serde_json::to_value(&result).unwrap_or_default()) })
}

fn parse(handle: &str) -> Result<TaskId, ErrorData> {
    handle.parse().map_err(|_| unknown())
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no task with this taskId", None)
}

/// A foreign task is answered exactly like one that does not exist.
fn refused(error: &AppError) -> ErrorData {
    match error.kind {
        ErrorKind::NotFound => unknown(),
        ErrorKind::Usage | ErrorKind::Forbidden => ErrorData::invalid_params(text::safe(&error.sentence()), None),
        _ => ErrorData::internal_error(text::safe(&error.sentence()), Some(json!({ "code": error.code() }))),
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
