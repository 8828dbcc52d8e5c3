//! `/readyz`: what a monitor asks with a key: can a task be carried out now?
//! Whether the server answers at all needs no key (`/healthz`).

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use longhaul_app::feed::FeedReader;
use longhaul_app::{Call, Caller, is_attended};

use super::Http;
use super::refusal::Refused;

pub(super) const PATH: &str = "/readyz";

/// Ready means that the store answers and that a worker of this home lives.
pub(super) async fn answer(
    State(http): State<Arc<Http>>,
    Extension(caller): Extension<Caller>,
) -> Result<&'static str, Refused> {
    FeedReader::open(&Call::new(Arc::clone(&http.app), caller), None).await?;
    let app = Arc::clone(&http.app);
    let attended = tokio::task::spawn_blocking(move || is_attended(&app.home)).await;
    if attended.unwrap_or(false) {
        return Ok("ready\n");
    }
    Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, "no_worker", "no worker of this home answers")
        .hint("start one with `longhaul worker -d`, or serve without `--no-worker`"))
}
