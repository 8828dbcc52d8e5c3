//! Waiting for a keeper to end: as its parent, or as a stranger who adopted its session.
//! Used by the attend effect. It never takes a decision about the session; that is `session_end`.

use std::process::Child;

use longhaul_keeper::{Found, LookError, SessionDir, look};

/// How often a keeper that is just starting is looked for.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(10);

/// Returns when our own child has ended, and reaps it.
pub(super) async fn of_child(mut child: Child) {
    tokio::task::spawn_blocking(move || child.wait()).await.ok();
}

/// Returns when nobody holds the session's lock any more, or its keeper is dead. Never waits for a keeper that never was.
pub(super) async fn of_adopted(dir: SessionDir) {
    loop {
        let seen = dir.clone();
        let found = tokio::task::spawn_blocking(move || look(&seen)).await;
        match found {
            Ok(Ok(Found::Alive(keeper))) => match keeper.pidfd() {
                Ok(Some(fd)) => readable(fd).await,
                Ok(None) | Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
            },
            // A lock that cannot be asked for now proves nothing; one that was removed will never answer.
            Ok(Err(LookError::Io { source, .. })) if source.kind() != std::io::ErrorKind::NotFound => {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            Ok(_) | Err(_) => return,
        }
    }
}

/// One blocked thread per live session: tokio's own registration of foreign descriptors is not safe code.
async fn readable(fd: std::os::fd::OwnedFd) {
    let wait = move || {
        let mut fds = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::IN)];
        while rustix::event::poll(&mut fds, None) == Err(rustix::io::Errno::INTR) {}
    };
    tokio::task::spawn_blocking(wait).await.ok();
}
