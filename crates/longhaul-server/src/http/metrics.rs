//! `/metrics`: what a Prometheus server collects. Each tenant has its own figures; a key with the right `admin` has those of the whole home.
//!
//! The figures are made from the feed and kept only so that the next look is cheap. After a restart they are made again from the store, so
//! counters continue where they were, less what `gc` removed.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use longhaul_app::meter::{Measure, Meter, unfinished};
use longhaul_app::{AppError, Call, Caller, ErrorKind};
use longhaul_core::task::Right;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::sync::Mutex;

use super::Http;
use super::refusal::Refused;

pub(super) const PATH: &str = "/metrics";
const FORMAT: HeaderValue = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

type Label = [(&'static str, String); 1];
type Histograms = Family<Label, Histogram, fn() -> Histogram>;

/// The figures of each tenant that was asked for; none is the whole home.
pub(super) type Figures = Mutex<HashMap<Option<String>, Arc<Mutex<Scope>>>>;

/// The figures of a tenant, or of the home.
pub(super) struct Scope {
    meter: Meter,
    registry: Registry,
    states: Family<Label, Gauge>,
    events: Family<Label, Counter>,
    sessions: Histograms,
    tasks: Histograms,
    tokens: Counter,
    cost: Counter<f64, std::sync::atomic::AtomicU64>,
}

/// Answers with the figures of the caller.
pub(super) async fn answer(
    State(http): State<Arc<Http>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Refused> {
    let name = (!caller.rights.include(Right::Admin)).then(|| caller.tenant.name().to_owned());
    let scope = Arc::clone(http.figures.lock().await.entry(name).or_default());
    let call = Call::new(Arc::clone(&http.app), caller);
    let text = scope.lock().await.text(&call).await?;
    Ok(([(CONTENT_TYPE, FORMAT)], text).into_response())
}

impl Default for Scope {
    fn default() -> Scope {
        let mut scope = Scope {
            meter: Meter::default(),
            registry: Registry::with_prefix("longhaul"),
            states: Family::default(),
            events: Family::default(),
            sessions: Family::new_with_constructor(durations),
            tasks: Family::new_with_constructor(durations),
            tokens: Counter::default(),
            cost: Counter::default(),
        };
        let registry = &mut scope.registry;
        registry.register("unfinished_tasks", "Unfinished tasks by state", scope.states.clone());
        registry.register(
            "events",
            "Events by kind, such as wait_started, help_needed or plan_accepted",
            scope.events.clone(),
        );
        registry.register("session_seconds", "How long sessions took, by purpose", scope.sessions.clone());
        registry.register(
            "task_seconds",
            "How long tasks took from submission to their end, by end",
            scope.tasks.clone(),
        );
        registry.register("tokens", "Tokens that sessions reported", scope.tokens.clone());
        registry.register("cost_usd", "Cost that sessions reported, in dollars", scope.cost.clone());
        scope
    }
}

/// From ten seconds to a day.
fn durations() -> Histogram {
    Histogram::new([10.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0])
}

impl Scope {
    /// Reads what is new, and writes everything.
    async fn text(&mut self, call: &Call) -> Result<String, AppError> {
        loop {
            // Added at once: whoever gives up in between loses no measure and counts none twice.
            let measures = self.meter.read(call).await?;
            if measures.is_empty() {
                break;
            }
            measures.into_iter().for_each(|measure| self.add(measure));
        }
        let states = unfinished(call).await?;
        self.states.clear();
        for (state, tasks) in states {
            self.states.get_or_create(&[("state", state)]).set(i64::try_from(tasks).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        let broken = |error| AppError::new(ErrorKind::Failure, "cannot write the figures").because(&error);
        encode(&mut text, &self.registry).map_err(broken)?;
        Ok(text)
    }

    fn add(&self, measure: Measure) {
        match measure {
            Measure::Event(kind) => drop(self.events.get_or_create(&[("kind", kind.to_owned())]).inc()),
            Measure::Session(purpose, seconds) => self.sessions.get_or_create(&[("purpose", purpose)]).observe(seconds),
            Measure::Task(end, seconds) => self.tasks.get_or_create(&[("end", end.to_owned())]).observe(seconds),
            Measure::Tokens(tokens) => drop(self.tokens.inc_by(tokens)),
            Measure::Cost(micros) => drop(self.cost.inc_by(micros as f64 / 1_000_000.0)),
        }
    }
}
