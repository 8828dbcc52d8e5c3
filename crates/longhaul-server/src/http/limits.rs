//! What one key and one request may use, so that no client keeps the others out.
//! Connections are counted in `connections`; bodies are bounded while they are read.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::{StatusCode, Uri};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use http_body_util::BodyExt;
use longhaul_app::Caller;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::gate::only;
use super::refusal::Refused;

/// What clients may use.
#[derive(Debug, Clone)]
pub struct Caps {
    /// Requests per second of one key; twice as many at once.
    pub rate: NonZeroU32,
    /// Requests and streams of one key that are answered at the same time.
    pub at_once: usize,
    /// Connections of all clients.
    pub connections: usize,
    /// Bytes of a body.
    pub body: usize,
    /// How long a client may take to send its headers, its body, and to read some of an answer.
    pub patience: Duration,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps {
            rate: const { NonZeroU32::new(200).unwrap() },
            at_once: 64,
            connections: 512,
            body: 1 << 20,
            patience: Duration::from_secs(20),
        }
    }
}

/// Headers of a request, and all bytes before its body.
const MOST_HEADERS: usize = 64;
const LONGEST_HEAD: usize = 16 << 10;
/// So much of a body that is too long is still read, so that its client reads the answer.
const DRAINED: usize = 32 << 20;

/// One request's place among those of its key. It is free again when the last copy is gone.
#[derive(Clone)]
pub(super) struct Slot {
    _permit: Arc<OwnedSemaphorePermit>,
}

/// What the keys have used.
pub(super) struct Limits {
    rate: DefaultKeyedRateLimiter<String>,
    at_once: usize,
    slots: Mutex<HashMap<String, Arc<Semaphore>>>,
    body: usize,
    patience: Duration,
}

impl Limits {
    pub(super) fn new(caps: &Caps) -> Limits {
        let burst = caps.rate.saturating_mul(const { NonZeroU32::new(2).unwrap() });
        Limits {
            rate: RateLimiter::keyed(Quota::per_second(caps.rate).allow_burst(burst)),
            at_once: caps.at_once,
            slots: Mutex::default(),
            body: caps.body,
            patience: caps.patience,
        }
    }

    /// Refuses a request whose head is too large.
    pub(super) fn check_head(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let address = uri.path_and_query().map_or(0, |address| address.as_str().len());
        let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if headers.len() <= MOST_HEADERS && address + bytes <= LONGEST_HEAD {
            return Ok(());
        }
        let what = format!("a request may have {MOST_HEADERS} headers, and 16 KiB before its body");
        Err(Refused::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large", what))
    }

    /// A place for a request of this caller.
    pub(super) fn admit(&self, caller: &Caller) -> Result<Slot, Refused> {
        let name = caller.actor.key.as_ref().unwrap_or(&caller.actor.principal);
        let slots = {
            let mut all = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(name.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.at_once))))
        };
        let too_many =
            |code, what| Refused::new(StatusCode::TOO_MANY_REQUESTS, code, what).hint("wait a second and try again");
        self.rate.check_key(name).map_err(|_| too_many("rate_limited", "this key sends too many requests"))?;
        let permit = slots
            .try_acquire_owned()
            .map_err(|_| too_many("too_many_requests", "this key has too many open requests"))?;
        Ok(Slot { _permit: Arc::new(permit) })
    }

    /// The body of a request, if it is JSON by its type, short enough, and comes in time.
    pub(super) async fn body(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Refused> {
        if !is_json(headers) {
            let what = "the body of a request that changes something must be JSON";
            return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", what)
                .hint("send the header `Content-Type: application/json`"));
        }
        let late = |_| Refused::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", "the body did not arrive in time");
        tokio::time::timeout(self.patience, self.read(body)).await.map_err(late)?
    }

    async fn read(&self, mut body: Body) -> Result<Bytes, Refused> {
        let broken = |_| Refused::new(StatusCode::BAD_REQUEST, "invalid_argument", "the body ended too early");
        let (mut whole, mut passed) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
            passed += data.len();
            match passed {
                passed if passed <= self.body => whole.extend_from_slice(&data),
                passed if passed > DRAINED => break,
                _ => whole.clear(),
            }
        }
        if passed > self.body {
            let what = format!("the body is longer than {} bytes", self.body);
            return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", what));
        }
        Ok(whole.into())
    }
}

/// A form or a picture on another site cannot send this type.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, &CONTENT_TYPE).and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use futures_util::stream;
    use longhaul_core::task::Actor;

    use super::*;

    fn limits(rate: u32, at_once: usize) -> Limits {
        let rate = NonZeroU32::new(rate).unwrap();
        Limits::new(&Caps { rate, at_once, body: 10, patience: Duration::from_millis(50), ..Caps::default() })
    }

    fn caller(name: &str) -> Caller {
        Caller::new(Actor::person(name), Err("nowhere".to_owned()))
    }

    fn json() -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, "application/json".parse().unwrap())])
    }

    fn status(refused: Refused) -> u16 {
        refused.into_response().status().as_u16()
    }

    #[test]
    fn a_key_that_asks_too_often_does_not_keep_others_out() {
        let limits = limits(1, 100);
        assert!(limits.admit(&caller("ann")).is_ok() && limits.admit(&caller("ann")).is_ok());
        assert_eq!(limits.admit(&caller("ann")).err().map(status), Some(429));
        assert!(limits.admit(&caller("ben")).is_ok());
    }

    #[test]
    fn a_key_has_so_many_open_requests() {
        let limits = limits(1_000, 2);
        let (first, _second) = (limits.admit(&caller("ann")).unwrap(), limits.admit(&caller("ann")).unwrap());
        let copy = first.clone();
        drop(first);
        assert_eq!(limits.admit(&caller("ann")).err().map(status), Some(429));
        assert!(limits.admit(&caller("ben")).is_ok());
        drop(copy);
        assert!(limits.admit(&caller("ann")).is_ok());
    }

    #[test]
    fn a_head_is_bounded() {
        let limits = limits(1, 1);
        let uri: Uri = "/".parse().unwrap();
        let headers = |count: usize, bytes: usize| -> HeaderMap {
            let name = |number: usize| format!("x-{number}").parse::<axum::http::HeaderName>().unwrap();
            (0..count).map(|number| (name(number), "v".repeat(bytes).parse().unwrap())).collect()
        };
        assert!(limits.check_head(&uri, &headers(64, 10)).is_ok());
        assert_eq!(limits.check_head(&uri, &headers(65, 1)).err().map(status), Some(431));
        assert_eq!(limits.check_head(&uri, &headers(1, 17 << 10)).err().map(status), Some(431));
        let long: Uri = format!("/{}", "a".repeat(17 << 10)).parse().unwrap();
        assert_eq!(limits.check_head(&long, &HeaderMap::new()).err().map(status), Some(431));
    }

    #[tokio::test]
    async fn a_body_is_bounded_in_bytes_and_time() {
        let (limits, json) = (limits(1, 1), json());
        assert_eq!(limits.body(&json, Body::from("0123456789")).await.unwrap(), "0123456789");
        assert_eq!(limits.body(&json, Body::from("0123456789a")).await.err().map(status), Some(413));
        let endless = stream::repeat_with(|| Ok::<_, std::convert::Infallible>(Bytes::from(vec![0; 1 << 20])));
        assert_eq!(limits.body(&json, Body::from_stream(endless)).await.err().map(status), Some(413));
        let silent = stream::pending::<Result<Bytes, std::convert::Infallible>>();
        assert_eq!(limits.body(&json, Body::from_stream(silent)).await.err().map(status), Some(408));
    }

    #[test]
    fn only_json_has_a_content_type_that_other_sites_cannot_send() {
        let json = |kind: &str| is_json(&HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]));
        assert!(json("application/json") && json("Application/JSON; charset=utf-8"));
        for bad in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "application/jsonx",
            "text/plain; application/json",
        ] {
            assert!(!json(bad), "{bad}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
