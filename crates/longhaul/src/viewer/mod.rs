//! Following a task: a viewer only reads the store and sends commands. Its death, a lost terminal or `d` changes nothing.
//! Used by every verb that waits for a task.

mod follow;
mod keys;
mod screen;
mod signals;

use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{State, Task};
use longhaul_store::Stored;

pub(crate) use follow::{Reach, Viewing, Watched, follow, follow_with};
pub(crate) use signals::Signals;

use crate::exit::Code;
use longhaul_app::views::Outcome;
use longhaul_app::{AppError, Call};

/// The exit code that a state gives to those who waited for it.
pub(crate) fn code_of(state: &State) -> Code {
    Outcome::of(state).into()
}

/// Waits until a task is as wanted, at most so long.
pub(crate) async fn until(
    call: &Call,
    task: TaskId,
    patience: Duration,
    wanted: impl Fn(&Task) -> bool,
) -> Result<Option<Stored>, AppError> {
    let deadline = tokio::time::Instant::now() + patience;
    let mut changes = call.store()?.changes()?;
    loop {
        match call.store()?.load(task).await? {
            Some(stored) if wanted(&stored.task) => return Ok(Some(stored)),
            Some(_) | None => {}
        }
        if tokio::time::Instant::now() >= deadline {
            return Ok(None);
        }
        let left = deadline - tokio::time::Instant::now();
        tokio::time::timeout(left.min(Duration::from_secs(1)), changes.rung()).await.ok();
    }
}
