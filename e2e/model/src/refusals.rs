//! How each vendor says no: status, headers and body.
//! Called by the server; the shapes are those that the real programs tell apart.
//! It never decides when to refuse.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::dialects::{self, Written};
use crate::reply::Refusal;
use crate::turn::Dialect;

/// A refusal in a vendor's words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Written,
}

/// Puts a refusal into a vendor's words.
pub(crate) fn put_into_words(dialect: Dialect, refusal: &Refusal, now: SystemTime) -> Refused {
    if let Refusal::Raw { status, headers, body } = refusal {
        return Refused { status: *status, headers: headers.clone(), body: Written::Document(body.clone()) };
    }
    let mut refused = match dialect {
        Dialect::Responses | Dialect::Chat => openai(dialect, refusal, now),
        Dialect::Messages => anthropic(refusal, now),
        Dialect::Gemini => google(refusal),
    };
    if let Refusal::RateLimited { retry_after: Some(delay) } = refusal {
        refused.headers.push(("retry-after".to_owned(), delay.as_secs().to_string()));
    }
    refused
}

fn openai(dialect: Dialect, refusal: &Refusal, now: SystemTime) -> Refused {
    let (status, kind, code, message) = match refusal {
        Refusal::RateLimited { .. } => (429, "requests", "rate_limit_exceeded", "Rate limit reached"),
        Refusal::UsageLimit { resets_in } if dialect == Dialect::Responses => return codex_limit(*resets_in, now),
        Refusal::UsageLimit { .. } | Refusal::QuotaGone => {
            (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota")
        }
        Refusal::Unauthorized => (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided"),
        Refusal::Forbidden => (403, "invalid_request_error", "forbidden", "You are not allowed to do this"),
        Refusal::ModelNotFound => (404, "invalid_request_error", "model_not_found", "The model does not exist"),
        Refusal::ContextTooLong => return openai_context(dialect),
        Refusal::Overloaded => (503, "server_error", "server_is_overloaded", "The server is overloaded"),
        Refusal::ServerError | Refusal::Raw { .. } => (500, "server_error", "server_error", "The server had an error"),
    };
    document(status, json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
}

/// Codex takes the time for a person from the body, and what its rollout file records from the headers.
fn codex_limit(resets_in: Duration, now: SystemTime) -> Refused {
    let resets_at = seconds(now + resets_in);
    let error = json!({"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
        "resets_at": resets_at, "resets_in_seconds": resets_in.as_secs()});
    let mut refused = document(429, json!({"error": error}));
    refused.headers = owned(&[
        ("x-codex-primary-used-percent", "100".to_owned()),
        ("x-codex-primary-window-minutes", "300".to_owned()),
        ("x-codex-primary-reset-after-seconds", resets_in.as_secs().to_string()),
        ("x-codex-primary-reset-at", resets_at.to_string()),
    ]);
    refused
}

/// The Responses interface tells this only after its stream has begun.
fn openai_context(dialect: Dialect) -> Refused {
    let (code, message) = ("context_length_exceeded", "Your input exceeds the context window of this model");
    match dialect {
        Dialect::Responses => Refused { status: 200, headers: vec![], body: dialects::failed_response(code, message) },
        _ => document(400, json!({"error": {"message": message, "type": "invalid_request_error", "code": code}})),
    }
}

fn anthropic(refusal: &Refusal, now: SystemTime) -> Refused {
    let (status, kind, message) = match refusal {
        Refusal::RateLimited { .. } => (429, "rate_limit_error", "Number of requests exceeds your rate limit"),
        Refusal::UsageLimit { .. } => (429, "rate_limit_error", "This request would exceed your account's rate limit"),
        Refusal::QuotaGone => (400, "invalid_request_error", "Your credit balance is too low to access the API"),
        Refusal::Unauthorized => (401, "authentication_error", "invalid x-api-key"),
        Refusal::Forbidden => (403, "permission_error", "Your key may not do this"),
        Refusal::ModelNotFound => (404, "not_found_error", "model: no such model"),
        Refusal::ContextTooLong => (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        Refusal::Overloaded => (529, "overloaded_error", "Overloaded"),
        Refusal::ServerError | Refusal::Raw { .. } => (500, "api_error", "Internal server error"),
    };
    let mut refused = document(status, json!({"type": "error", "error": {"type": kind, "message": message}}));
    if let Refusal::UsageLimit { resets_in } = refusal {
        refused.headers = unified_limit(seconds(now + *resets_in));
    }
    refused
}

/// Claude reads these only with a subscription's token.
fn unified_limit(resets_at: u64) -> Vec<(String, String)> {
    owned(&[
        ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
        ("anthropic-ratelimit-unified-reset", resets_at.to_string()),
        ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
        ("anthropic-ratelimit-unified-5h-status", "rejected".to_owned()),
        ("anthropic-ratelimit-unified-5h-reset", resets_at.to_string()),
        ("anthropic-ratelimit-unified-5h-utilization", "1.0".to_owned()),
        ("anthropic-ratelimit-unified-overage-status", "rejected".to_owned()),
    ])
}

fn google(refusal: &Refusal) -> Refused {
    let (code, status, message) = match refusal {
        Refusal::RateLimited { .. } => (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted"),
        Refusal::UsageLimit { .. } | Refusal::QuotaGone => {
            (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota")
        }
        Refusal::Unauthorized => (401, "UNAUTHENTICATED", "API key not valid"),
        Refusal::Forbidden => (403, "PERMISSION_DENIED", "The caller does not have permission"),
        Refusal::ModelNotFound => (404, "NOT_FOUND", "The model is not found"),
        Refusal::ContextTooLong => {
            (400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed")
        }
        Refusal::Overloaded => (503, "UNAVAILABLE", "The model is overloaded"),
        Refusal::ServerError | Refusal::Raw { .. } => (500, "INTERNAL", "An internal error has occurred"),
    };
    let mut error = json!({"code": code, "status": status, "message": message});
    if matches!(refusal, Refusal::UsageLimit { .. } | Refusal::QuotaGone) {
        let quota = json!({"quotaMetric": "generativelanguage.googleapis.com/generate_requests",
            "quotaId": "GenerateRequestsPerDayPerProjectPerModel"});
        error["details"] = json!([{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [quota]}]);
    }
    document(code, json!({"error": error}))
}

fn document(status: u16, body: Value) -> Refused {
    Refused { status, headers: vec![], body: Written::Document(body) }
}

fn owned(headers: &[(&str, String)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Rounded up: nobody is told a time at which he would still be refused.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() + u64::from(since.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{Refused, Written, put_into_words};
    use crate::reply::Refusal;
    use crate::turn::Dialect;

    fn worded(dialect: Dialect, refusal: &Refusal) -> Refused {
        put_into_words(dialect, refusal, UNIX_EPOCH + Duration::from_secs(1000))
    }

    fn header<'a>(refused: &'a Refused, name: &str) -> Option<&'a str> {
        refused.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn a_usage_limit_tells_its_time_where_the_vendor_can() {
        let limit = Refusal::UsageLimit { resets_in: Duration::from_secs(20) };
        let codex = worded(Dialect::Responses, &limit);
        assert_eq!(header(&codex, "x-codex-primary-reset-at"), Some("1020"));
        let Written::Document(body) = &codex.body else { panic!("a document is expected") };
        assert_eq!(body["error"]["resets_at"], 1020);
        let claude = worded(Dialect::Messages, &limit);
        assert_eq!(header(&claude, "anthropic-ratelimit-unified-reset"), Some("1020"));
        assert!(worded(Dialect::Chat, &limit).headers.is_empty());
        let between = put_into_words(Dialect::Messages, &limit, UNIX_EPOCH + Duration::from_millis(1_000_001));
        assert_eq!(header(&between, "anthropic-ratelimit-unified-reset"), Some("1021"));
    }

    #[test]
    fn a_delay_is_a_header_everywhere_and_absent_without_one() {
        for dialect in [Dialect::Responses, Dialect::Chat, Dialect::Messages, Dialect::Gemini] {
            let told = worded(dialect, &Refusal::RateLimited { retry_after: Some(Duration::from_secs(2)) });
            assert_eq!((told.status, header(&told, "retry-after")), (429, Some("2")));
            assert_eq!(header(&worded(dialect, &Refusal::RateLimited { retry_after: None }), "retry-after"), None);
        }
    }

    #[test]
    fn codex_learns_of_a_full_context_inside_the_stream_and_others_before() {
        assert_eq!(worded(Dialect::Responses, &Refusal::ContextTooLong).status, 200);
        for dialect in [Dialect::Chat, Dialect::Messages, Dialect::Gemini] {
            assert_eq!(worded(dialect, &Refusal::ContextTooLong).status, 400);
        }
    }
}
