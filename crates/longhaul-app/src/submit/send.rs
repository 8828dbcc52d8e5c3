//! Submitting a request: through a worker, or, below an agent session, straight into the store.
//! Used by everything that submits a task. Once it answers, the task is durable.

use longhaul_core::ids::TaskId;

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::handover::{Answer, Handover, Request, deliver};
use crate::processes::Reply;
use crate::text;

/// A durable task.
#[derive(Debug)]
pub struct Submitted {
    /// The new task.
    pub task: TaskId,
    /// What the person should know.
    pub warnings: Vec<String>,
    /// The same request was carried out before under its key.
    pub repeated: bool,
}

/// Submits a task.
pub async fn send(call: &Call, request: Request) -> Result<Submitted, AppError> {
    let id = request.id;
    let reply = match request.actor.session {
        // No worker is started, because it would die with the session's tree: the owner of the parent takes it.
        Some(_) => Reply::Answer(Ok(request.commit_unclaimed(call).await?).into()),
        None => deliver(call, &Handover::Submit(Box::new(request))).await?,
    };
    match reply {
        Reply::Answer(Answer::Accepted { task, warnings, repeated }) => Ok(Submitted { task, warnings, repeated }),
        Reply::Answer(Answer::Refused { kind, message }) => Err(AppError::new(kind.into(), text::safe(&message))),
        Reply::Silence => match call.store()?.load(id).await? {
            Some(_) => Ok(Submitted { task: id, warnings: Vec::new(), repeated: false }),
            None => {
                Err(AppError::new(ErrorKind::Failure, "the worker exited without an answer; nothing was submitted")
                    .hint("see worker.log in Longhaul's home, then try again"))
            }
        },
    }
}
