//! Work that a dead disk or a lost network file system may hold up for ever, given a bounded time. Used by the channels for files and commands.
//! What hangs is left on a thread of its own, which nobody waits for: a worker that leaves is not held up by it either.

use std::time::Duration;

use tokio::sync::oneshot;

/// What came of the work, or none when it did not end in time.
pub(super) async fn within<T: Send + 'static>(span: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, answer) = oneshot::channel();
    let started = std::thread::Builder::new().name("notice".to_owned()).spawn(move || sender.send(work()).ok());
    started.ok()?;
    tokio::time::timeout(span, answer).await.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::within;

    #[tokio::test]
    async fn what_hangs_is_given_up_and_what_ends_is_heard() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let begun = Instant::now();
        let blocked = pipe.clone();
        let read = within(Duration::from_millis(50), move || std::fs::read(blocked).is_ok()).await;
        assert_eq!(read, None, "nobody writes into the pipe");
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::fs::write(&pipe, "x").unwrap();
        assert_eq!(within(Duration::from_secs(60), move || pipe.exists()).await, Some(true), "the control");
    }
}
