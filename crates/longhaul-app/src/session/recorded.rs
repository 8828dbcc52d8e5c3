//! The sessions that a task's events name.
//! Used by `gc` and `store check`, which compare them with the directories on disk.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{SessionRecord, sessions};

use crate::app::Call;
use crate::error::AppError;

/// The sessions of a task, in order.
pub(crate) async fn recorded(call: &Call, task: TaskId) -> Result<Vec<SessionRecord>, AppError> {
    let events = call.store()?.events(task, 0, u32::MAX).await?;
    Ok(sessions(events.iter().map(|event| (event.at, &event.event))))
}
