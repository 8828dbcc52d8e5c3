//! A worker's look at the tasks that people hold: one whose person is gone is given back.
//! Called when the worker starts and again and again while it serves.

use std::collections::BTreeSet;

use longhaul_app::{Free, listed_holds, now, release_if_gone};
use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, State};
use longhaul_store::{Filter, Which};

use crate::worker::Context;

/// The held tasks of this home.
pub(crate) async fn listed_in_store(context: &Context) -> BTreeSet<TaskId> {
    let held = Filter { which: Which::Unfinished, state: Some(State::HELD.to_owned()), ..Filter::default() };
    let found = context.store.summaries(held).await.map(|listed| listed.tasks).unwrap_or_default();
    found.iter().map(|outline| outline.task).collect()
}

/// Looks at every hold there is, and at these held tasks: the file of one may be gone, because nobody had it while the session was still
/// being stopped. What cannot be looked at now is looked at again.
pub(crate) async fn look_at(context: &Context, held: &BTreeSet<TaskId>) {
    let mut tasks: BTreeSet<TaskId> = listed_holds(&context.home).into_iter().collect();
    tasks.extend(held);
    for task in tasks {
        let Ok(Some(free)) = Free::check(&context.home, task) else { continue };
        match context.store.load(task).await {
            Ok(Some(stored)) if stored.task.state.is_held() => {
                drop(free);
                let looked = release_if_gone(&*context.store, now, &context.home, stored, &Actor::worker()).await;
                if let Err(error) = looked {
                    context.report(&format!("task {task} is held by an unknown process: {error}"));
                }
            }
            // Whoever had it died between giving the task back and taking the file away, or before the task was held.
            Ok(_) => free.retire(),
            Err(_) => {}
        }
    }
}
