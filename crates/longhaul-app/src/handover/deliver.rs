//! Delivering a hand-over: to a live worker of this home, or else to one that is started for it.
//! Used by everything that submits or resumes. The caller's environment goes along in memory and never touches the disk.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Handover, offer, sockets};
use crate::app::Call;
use crate::blocking;
use crate::error::AppError;
use crate::home::Home;
use crate::processes::Reply;

/// How long to wait for another caller who is starting a worker.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Hands one input to a live worker of this home, or else to one that it starts, and waits for the answer.
///
/// A worker that does not answer is passed over, unless it committed this very input all the same. If it commits it later, the next
/// worker answers that it is a repeat: a hand-over counts once.
pub(crate) async fn deliver(call: &Call, handover: &Handover) -> Result<Reply, AppError> {
    let environment = call.app.system.environment.clone().with("LONGHAUL_HOME", call.home().root());
    let mut asked = HashSet::new();
    let mut turn = None;
    loop {
        let (app, offered, environment) = (Arc::clone(&call.app), handover.clone(), environment.clone());
        let Some(socket) = sockets(call.home()).into_iter().find(|socket| asked.insert(socket.clone())) else {
            // Of callers who come at once, one starts a worker; the others find it then.
            let Some(turn) = turn.take() else {
                turn = Some(blocking(move || take_turn(&app.home)).await);
                continue;
            };
            let start = move || {
                let _until_it_is_found = turn;
                app.system.processes.start_worker_for(&app, &offered)
            };
            return blocking(start).await;
        };
        if let Some(answer) = blocking(move || offer(&app.home, &socket, &offered, &environment)).await {
            return Ok(Reply::Answer(answer));
        }
        if handover.is_committed(call.store()?).await? {
            return Ok(Reply::Silence);
        }
    }
}

/// Waits until nobody else is starting a worker of this home, but not for long: the lock ends with what is returned.
fn take_turn(home: &Home) -> Option<File> {
    let directory = File::open(home.workers()).ok()?;
    let deadline = Instant::now() + PATIENCE;
    while directory.try_lock().is_err() {
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Some(directory)
}
