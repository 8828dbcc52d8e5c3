//! MCP over HTTP: the same server as on standard input and output, made anew for each request with its caller. It has no sessions, so a
//! client does not notice when the server is restarted.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Full};
use longhaul_app::operation::FrontEnd;
use longhaul_app::{Call, Caller};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::Http;
use super::gate::Presented;
use super::input::read_json;
use super::limits::Slot;
use super::refusal::Refused;
use crate::mcp::Server;

pub(super) const PATH: &str = "/mcp";

/// Answers one message of a client.
pub(super) async fn answer(
    State(http): State<Arc<Http>>,
    Extension(caller): Extension<Caller>,
    Extension(presented): Extension<Presented>,
    Extension(slot): Extension<Slot>,
    request: Request,
) -> Result<Response, Refused> {
    let (head, body) = request.into_parts();
    let body = http.limits.body(&head.headers, body).await?;
    read_json(&body)?;
    let rights = caller.rights;
    let call = Call::new(Arc::clone(&http.app), caller.through(FrontEnd::Mcp, rights));
    let server = move || Ok(Server::with_key(call.clone(), &presented.0));
    let service = StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config());
    let answer = service.handle(Request::from_parts(head, Full::new(body))).await;
    // The place is taken until the last message was sent.
    Ok(answer.map(|body| Body::new(body.map_frame(move |frame| with(&slot, frame)))).into_response())
}

/// Host and origin were checked at the gate.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .disable_allowed_hosts()
        .disable_allowed_origins()
}

fn with<T>(_: &Slot, frame: T) -> T {
    frame
}
