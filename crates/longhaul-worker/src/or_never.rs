//! A branch of `select!` that may not exist: what is not there never comes.
//! Used by whoever waits for several things of which some are optional.

/// What the future gives, or nothing ever.
pub(crate) async fn or_never<T>(future: Option<impl Future<Output = T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}
