//! Telling a session's keeper to stop: a signal, after its identity was compared. Idempotent; an adopter sends it again.
//! It never touches the agent itself: how to stop that is its keeper's recipe.

use std::time::Duration;

use longhaul_core::causes::with_causes;
use longhaul_core::ids::SessionId;
use longhaul_core::task::StopMode;
use longhaul_keeper::{SessionDir, Stop, fail_point, signal_keeper};

use super::Job;

/// A keeper that has just been spawned has no identity yet; this is how often it is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// An agent that asked for help reads the answer to its call and may end its turn, so that its conversation is whole.
const LAST_WORDS: Duration = Duration::from_secs(10);

pub(super) async fn stop(job: Job, session: SessionId, mode: StopMode) {
    fail_point::reach("worker.stop_due");
    if mode == StopMode::Graceful && job.task.state.question().is_some() {
        tokio::time::sleep(LAST_WORDS).await;
    }
    let how = match mode {
        StopMode::Graceful => Stop::Graceful,
        StopMode::Immediate => Stop::Immediate,
    };
    tell(&job, session, how).await;
}

/// Signals the session's keeper as soon as there is one.
pub(super) async fn tell(job: &Job, session: SessionId, how: Stop) {
    let path = job.context.home.session(session);
    loop {
        let dir = SessionDir::at(&path).inspect(SessionDir::reclaim);
        match dir.map(|dir| dir.identity()) {
            Ok(Ok(Some(identity))) => {
                if let Err(error) = signal_keeper(&identity, how) {
                    job.report(&format!("session {session}: {error}"));
                }
                fail_point::reach("worker.stop_sent");
                return;
            }
            // Whom to signal cannot be known; a person can, with `pause --force`.
            Ok(Err(error)) => return job.report(&format!("session {session}: {}", with_causes(&error))),
            Ok(Ok(None)) | Err(_) => {}
        }
        // The session may end without ever having had a keeper; then the hub ends this effect.
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
