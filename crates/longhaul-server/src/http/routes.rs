//! The routes: one for each operation that has a path, from the table, with one handler for all of them.
//! Beside them only what is no operation: the feed, MCP, and what a monitor asks.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, RawPathParams, RawQuery, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{MethodFilter, any, get, on};
use longhaul_app::operation::{Effect, Entry};
use longhaul_app::operations::OPERATIONS;
use longhaul_app::{AppError, Call, Caller, ErrorKind};
use serde_json::Value;

use super::gate::{HEALTH, gate};
use super::input::input;
use super::limits::Slot;
use super::refusal::{Refused, json};
use super::{Http, events, mcp, metrics, openapi, ready};

/// Where the operations are.
pub(super) const BASE: &str = "/api/v1";

/// An operation that HTTP offers.
pub(super) struct Route {
    pub(super) entry: &'static Entry,
    pub(super) method: Method,
    /// Below `BASE`.
    pub(super) path: &'static str,
}

/// Every operation that has a path.
pub(super) fn routes() -> impl Iterator<Item = Route> {
    OPERATIONS.iter().filter_map(|entry| {
        let method = if entry.about.effect == Effect::Reads { Method::GET } else { Method::POST };
        Some(Route { entry, method, path: entry.about.route? })
    })
}

/// Everything that the server answers.
pub(super) fn router(http: Arc<Http>) -> Router {
    let document: Arc<str> = openapi::document().to_string().into();
    let mut router = Router::new()
        .route(HEALTH, get("ok\n"))
        .route(ready::PATH, get(ready::answer))
        .route(metrics::PATH, get(metrics::answer))
        .route(mcp::PATH, any(mcp::answer))
        .route(&events::path(), get(events::answer))
        .route(&format!("{BASE}/openapi.json"), get(move || async move { json(StatusCode::OK, document.to_string()) }));
    for route in routes() {
        router = offer(router, &route);
    }
    router
        .fallback(no_such_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(&http), gate))
        .with_state(http)
}

async fn no_such_route() -> Refused {
    let what = "there is nothing at this address";
    Refused::new(StatusCode::NOT_FOUND, "no_such_route", what).hint(format!("{BASE}/openapi.json lists all addresses"))
}

async fn method_not_allowed() -> Refused {
    let what = "this address does not take this method";
    let hint = "read with GET, change with POST; the header `Allow` has what it takes";
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", what).hint(hint)
}

/// Adds the route of one operation.
fn offer(router: Router<Arc<Http>>, route: &Route) -> Router<Arc<Http>> {
    let entry = route.entry;
    let schema: Arc<Value> = Arc::new((entry.input_schema)().to_value());
    let filter = if route.method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
    let answer = move |State(http): State<Arc<Http>>,
                       Extension(caller): Extension<Caller>,
                       Extension(slot): Extension<Slot>,
                       path: RawPathParams,
                       RawQuery(query): RawQuery,
                       headers: HeaderMap,
                       body: Body| async move {
        let body = if entry.about.effect == Effect::Reads {
            Default::default()
        } else {
            http.limits.body(&headers, body).await?
        };
        let input = input(&schema, &path, query.as_deref().unwrap_or_default(), &body)?;
        let call = Call::new(Arc::clone(&http.app), caller);
        let document = perform(entry, call, input, slot).await?;
        Ok::<Response, Refused>(json(StatusCode::OK, document))
    };
    router.route(&format!("{BASE}{}", route.path), on(filter, answer))
}

/// Performs an operation to its end: a client that closes its connection loses only the answer.
async fn perform(entry: &'static Entry, call: Call, input: Value, slot: Slot) -> Result<String, AppError> {
    let performed = tokio::spawn(async move {
        let document = (entry.perform)(&call, input).await;
        drop(slot);
        document
    });
    let broken = |error| AppError::new(ErrorKind::Failure, "the operation failed").because(&error);
    performed.await.map_err(broken)?
}
