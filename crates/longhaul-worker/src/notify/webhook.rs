//! The channel of a server: the message as JSON in a POST, signed when a key is named. Any 2xx is an answer that counts.
//! Redirects are not followed, so that a message goes nowhere but where the person said; address and key are never in an error.

use std::ffi::OsStr;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use longhaul_core::fingerprint::hex;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use sha2::Sha256;

use super::message::Message;
use longhaul_keeper::Environment;

const SIGNATURE: &str = "X-Longhaul-Signature";

/// Why the server did not take a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebhookError {
    /// A variable that is named is not set where the worker runs.
    #[error("variable `{name}` is not set")]
    Unset { name: String },
    /// No client could be made.
    #[error("failed to create an HTTP client")]
    Client(#[source] reqwest::Error),
    /// The server was not reached, or did not answer in time.
    #[error("no answer from the server")]
    Request(#[source] reqwest::Error),
    /// It said no.
    #[error("the server answered {status}")]
    Answered { status: StatusCode },
}

pub(super) async fn send(
    url: &str,
    secret_env: Option<&str>,
    message: &Message,
    within: Duration,
) -> Result<(), WebhookError> {
    let url = match url.strip_prefix('$') {
        Some(name) => variable(&message.environment, name)?,
        None => url.to_owned(),
    };
    let body = message.json();
    let mut request =
        client(&url)?.post(url).timeout(within).header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(name) = secret_env {
        request = request.header(SIGNATURE, signature(variable(&message.environment, name)?.as_bytes(), &body));
    }
    let answer = request.body(body).send().await.map_err(|error| WebhookError::Request(error.without_url()))?;
    let status = answer.status();
    if status.is_success() { Ok(()) } else { Err(WebhookError::Answered { status }) }
}

fn variable(environment: &Environment, name: &str) -> Result<String, WebhookError> {
    let value = environment.get(name).and_then(OsStr::to_str).filter(|value| !value.is_empty());
    value.map(str::to_owned).ok_or_else(|| WebhookError::Unset { name: name.to_owned() })
}

fn client(url: &str) -> Result<Client, WebhookError> {
    // The one TLS provider of this program; whoever came first has installed the same.
    rustls::crypto::ring::default_provider().install_default().ok();
    let agent = concat!("longhaul/", env!("CARGO_PKG_VERSION"));
    let mut builder = Client::builder().redirect(Policy::none()).user_agent(agent);
    if url.starts_with("http:") {
        // A machine without certificates can still speak to a server that has none.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(WebhookError::Client)
}

/// `sha256=` and the hex HMAC-SHA-256 of the body.
fn signature(key: &[u8], body: &[u8]) -> String {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    hmac.update(body);
    let digest = hmac.finalize().into_bytes();
    format!("sha256={}", hex(&digest))
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let expected = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature(b"Jefe", b"what do ya want for nothing?"), expected);
    }
}
