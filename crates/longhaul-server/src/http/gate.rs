//! What every request passes before anything else looks at it, whatever its route: where it comes from, and whose key it has.
//!
//! A page in a browser on this machine can reach a loopback address. Therefore loopback counts as public: the `Host` must be a name of this
//! server (against DNS rebinding), `Origin` and `Sec-Fetch-Site` must not name another site, and nothing is answered without a key.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::uri::{Authority, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use longhaul_app::api_keys::authenticate;
use longhaul_app::{AppError, ErrorKind};
use tokio::time::timeout;

use super::Http;
use super::refusal::Refused;

/// What a monitor asks without a key: whether anybody answers.
pub(super) const HEALTH: &str = "/healthz";
/// The names of this machine, in its own words.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// How often the key of a request that takes long is looked at.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The key that a request presented, for whatever takes longer than a moment.
#[derive(Clone)]
pub(super) struct Presented(pub(super) String);

impl Presented {
    /// Refuses the key once it was revoked or has expired.
    pub(super) async fn check(&self, http: &Http) -> Result<(), AppError> {
        let unusable =
            || AppError::new(ErrorKind::Forbidden, "the key was revoked or has expired").coded("unauthorized");
        authenticate(&http.app, &self.0).await?.map(drop).ok_or_else(unusable)
    }
}

/// Under which names this server may be addressed, and from which pages.
pub(super) struct Doors {
    public: Option<(Authority, String)>,
}

impl Doors {
    /// The loopback names, and the public address of a proxy.
    pub(super) fn new(public: Option<&str>) -> Result<Doors, AppError> {
        let Some(address) = public else { return Ok(Doors { public: None }) };
        let uri = address.parse::<Uri>().ok();
        let authority = uri.as_ref().and_then(Uri::authority).filter(|authority| !authority.as_str().contains('@'));
        match (uri.as_ref().and_then(Uri::scheme_str), authority) {
            (Some("https"), Some(authority)) if uri.as_ref().is_some_and(|uri| uri.path() == "/") => {
                Ok(Doors { public: Some((authority.clone(), format!("https://{authority}").to_lowercase())) })
            }
            _ => Err(AppError::new(ErrorKind::Usage, format!("`{address}` is not the public address of a proxy"))
                .hint("write it as https://longhaul.example")),
        }
    }

    /// Refuses a request that another site may have caused.
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let host = only(headers, &header::HOST).and_then(|host| host.parse::<Authority>().ok());
        // A request line with a whole address counts more than the header (RFC 9112).
        let named = uri.authority().or(host.as_ref()).zip(host.as_ref());
        let Some((named, host)) = named.filter(|(named, host)| self.knows(named) && self.knows(host)) else {
            let hint = "address it as 127.0.0.1 or localhost, or as `serve --behind-proxy` names it";
            let what = "the Host header does not name this server";
            return Err(Refused::new(StatusCode::FORBIDDEN, "host_not_allowed", what).hint(hint));
        };
        if headers.contains_key(header::ORIGIN) && !self.is_own(only(headers, &header::ORIGIN), named, host) {
            let what = "pages of another origin may not use this server";
            return Err(Refused::new(StatusCode::FORBIDDEN, "origin_not_allowed", what));
        }
        match headers.contains_key(SEC_FETCH_SITE).then(|| only(headers, &SEC_FETCH_SITE)) {
            None | Some(Some("same-origin" | "none")) => Ok(()),
            Some(_) => {
                let what = "other sites may not use this server";
                Err(Refused::new(StatusCode::FORBIDDEN, "cross_site", what))
            }
        }
    }

    fn knows(&self, authority: &Authority) -> bool {
        let is_plain = authority.as_str() == authority.host()
            || authority.port_u16().is_some_and(|port| authority.as_str() == format!("{}:{port}", authority.host()));
        let is_loopback = || LOOPBACK.iter().any(|name| authority.host().eq_ignore_ascii_case(name));
        is_plain && (is_loopback() || self.is_public(authority))
    }

    fn is_public(&self, authority: &Authority) -> bool {
        self.public.as_ref().is_some_and(|(public, _)| public.as_str().eq_ignore_ascii_case(authority.as_str()))
    }

    /// Whether this is the origin of pages that this server itself sent. Another port of this machine is another origin.
    fn is_own(&self, origin: Option<&str>, named: &Authority, host: &Authority) -> bool {
        let Some(origin) = origin.filter(|_| named == host) else { return false };
        match &self.public {
            Some((_, public)) if self.is_public(host) => origin.eq_ignore_ascii_case(public),
            _ => origin.eq_ignore_ascii_case(&format!("http://{host}")),
        }
    }
}

/// The value of a header that may come only once.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok()
}

/// Lets a request through to its route, with its caller; answers it otherwise.
pub(super) async fn gate(State(http): State<Arc<Http>>, request: Request, next: Next) -> Response {
    let mut response = match pass(&http, request).await {
        Ok(request) => answered(&http, request, next).await,
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The answer of the route, unless the key ends first.
async fn answered(http: &Http, request: Request, next: Next) -> Response {
    let presented = request.extensions().get::<Presented>().cloned();
    let mut answer = std::pin::pin!(next.run(request));
    while let Some(presented) = &presented {
        match timeout(LOOK_AGAIN, &mut answer).await {
            Ok(response) => return response,
            Err(_) if presented.check(http).await.is_err() => return unauthorized().into_response(),
            Err(_) => {}
        }
    }
    answer.await
}

async fn pass(http: &Http, mut request: Request) -> Result<Request, Refused> {
    http.limits.check_head(request.uri(), request.headers())?;
    http.doors.admit(request.uri(), request.headers())?;
    if request.uri().path() == HEALTH {
        return Ok(request);
    }
    let presented = key(request.headers()).ok_or_else(unauthorized)?.to_owned();
    let caller = authenticate(&http.app, &presented).await?.ok_or_else(unauthorized)?;
    let slot = http.limits.admit(&caller)?;
    request.extensions_mut().insert(slot);
    request.extensions_mut().insert(Presented(presented));
    request.extensions_mut().insert(caller);
    Ok(request)
}

/// The same for no key, a bad one, an unknown one and one that ended.
fn unauthorized() -> Refused {
    Refused::new(StatusCode::UNAUTHORIZED, "unauthorized", "this needs a valid API key")
        .hint("make one with `longhaul keys create`, and send it as `Authorization: Bearer KEY`")
}

fn key(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = only(headers, &header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
