//! Waiting for the end of a keeper that is no child of this worker, because it adopted the session.
//! Used by the attend effect. It never takes a decision about the session; that is `session_end`.

use longhaul_keeper::{InspectError, SessionDir, SessionStatus, inspect_session};

use crate::exit_watch::exited;

/// How often a keeper that is just starting is looked for.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(10);

/// Returns when nobody holds the session's lock any more, or its keeper is dead. Never waits for a keeper that never was.
pub(super) async fn of_adopted(dir: SessionDir) {
    loop {
        let seen = dir.clone();
        let found = tokio::task::spawn_blocking(move || inspect_session(&seen)).await;
        match found {
            Ok(Ok(SessionStatus::Alive(keeper))) => {
                let has_ended = match keeper.pidfd() {
                    Ok(Some(descriptor)) => exited(descriptor).await.is_ok(),
                    Ok(None) | Err(_) => false,
                };
                if !has_ended {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            }
            // A lock that cannot be asked for now proves nothing; one that was removed will never answer.
            Ok(Err(InspectError::Io { source, .. })) if source.kind() != std::io::ErrorKind::NotFound => {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            Ok(_) | Err(_) => return,
        }
    }
}
