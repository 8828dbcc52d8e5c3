//! Housekeeping of a resident worker: `gc` at most once an hour, a few tasks at a time, within the limits of `[retention]`.
//! Runs beside the worker of `worker --stay` and `serve`. It removes what `longhaul gc` would remove and nothing else, so never work that
//! exists nowhere else. What it did is in the worker's log. `retention.automatic = false` turns it off.

use std::convert::Infallible;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, SystemTime};

use longhaul_app::operations::{Batch, Gc, GcInput};
use longhaul_app::views::Sweep;
use longhaul_app::{AppError, Call, ErrorKind};
use longhaul_core::units;
use tokio::runtime::Handle;

use crate::worker_log::report;

/// Between two sweeps of a home, whichever worker does them.
const EVERY: Duration = Duration::from_secs(3600);
/// Between two batches of one sweep.
const PAUSE: Duration = Duration::from_secs(60);
/// The most finished tasks that one batch looks at.
const BATCH: usize = 20;
/// Its time is when a worker of this home last began a sweep.
const STAMP: &str = "gc.stamp";

/// Sweeps until it is dropped.
pub(crate) async fn keep_house(call: &Call) -> Infallible {
    let mut batch = Batch { skip: 0, most: BATCH };
    loop {
        let more = match begin(call, &batch) {
            Ok(()) => sweep(call, batch).await,
            Err(why) => {
                report(&format!("gc: not now, {why}"));
                None
            }
        };
        batch.skip = more.unwrap_or(0);
        tokio::time::sleep(if more.is_some() { PAUSE } else { EVERY }).await;
    }
}

/// Whether it is this worker's turn to sweep; if not, why.
fn begin(call: &Call, batch: &Batch) -> Result<(), String> {
    let settings = call.load_user_config(&Default::default()).map_err(|error| error.sentence())?.settings;
    if !settings.sweeps_automatically() {
        return Err("retention.automatic is false".to_owned());
    }
    let stamp = call.home().root().join(STAMP);
    let age = stamp.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    if batch.skip == 0 && age.is_some_and(|age| age < EVERY) {
        return Err("a worker of this home did it less than an hour ago".to_owned());
    }
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&stamp);
    file.and_then(|file| file.set_modified(SystemTime::now())).map_err(|error| error.to_string())
}

/// One batch. Where the next one begins, if there is one. Blocking work stays off the threads that carry out tasks.
async fn sweep(call: &Call, batch: Batch) -> Option<usize> {
    let (sweeping, handle) = (call.clone(), Handle::current());
    let input = GcInput { batch: Some(batch), ..GcInput::default() };
    let swept = tokio::task::spawn_blocking(move || handle.block_on(sweeping.perform::<Gc>(input))).await;
    match swept {
        Ok(Ok(answer)) => {
            said(&answer.view).iter().for_each(|line| report(line));
            answer.view.next_batch
        }
        // Somebody sweeps by hand.
        Ok(Err(AppError { kind: ErrorKind::Conflict, .. })) => None,
        Ok(Err(error)) => {
            report(&format!("gc: {}", error.sentence()));
            None
        }
        Err(_) => None,
    }
}

/// What a sweep did, for the log; nothing if it did nothing.
fn said(swept: &Sweep) -> Vec<String> {
    let names: Vec<&str> = swept.removed.iter().map(|task| task.name.as_str()).collect();
    let did = (swept.tasks_total + swept.orphans_total > 0).then(|| {
        let freed = units::bytes(swept.freed_bytes);
        let tasks = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        format!("gc: removed {} task(s){tasks} and {} leftover(s), {freed}", swept.tasks_total, swept.orphans_total)
    });
    let failed = (swept.failed > 0).then(|| format!("gc: {} removal(s) failed; `longhaul gc` says why", swept.failed));
    did.into_iter().chain(failed).collect()
}
