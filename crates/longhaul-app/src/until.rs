//! Waiting for a task to reach a state. Used by operations that answer when their effect is true, such as `pause` and `cancel`.
//! It only reads; whoever wants to see what happens meanwhile uses `follow`.

use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::Task;
use longhaul_store::Stored;
use tokio::time::{Instant, timeout};

use crate::app::Call;
use crate::error::AppError;

/// How often the task is loaded although the store's bell did not ring.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Waits until a task is as wanted, at most for this long; none if it is not by then.
pub(crate) async fn until(
    call: &Call,
    task: TaskId,
    patience: Duration,
    wanted: impl Fn(&Task) -> bool + Send,
) -> Result<Option<Stored>, AppError> {
    let deadline = Instant::now() + patience;
    let mut changes = call.store()?.changes()?;
    loop {
        match call.store()?.load(task).await? {
            Some(stored) if wanted(&stored.task) => return Ok(Some(stored)),
            Some(_) | None => {}
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        timeout((deadline - Instant::now()).min(LOOK_AGAIN), changes.rung()).await.ok();
    }
}
