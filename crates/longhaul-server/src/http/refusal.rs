//! Errors as HTTP responses: the kind of an error decides the status.
//! The body is the document that the command line prints with `--json`.

use axum::http::StatusCode;
use axum::http::header::{self, HeaderValue};
use axum::response::{IntoResponse, Response};
use longhaul_app::{AppError, ErrorKind};

/// Why a request is not answered with a view.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    error: Box<AppError>,
}

impl Refused {
    /// A refusal by the server itself, before any operation.
    pub(super) fn new(status: StatusCode, code: &'static str, what: impl Into<String>) -> Refused {
        let kind = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ErrorKind::Forbidden,
            StatusCode::NOT_FOUND => ErrorKind::NotFound,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => ErrorKind::Waiting,
            _ => ErrorKind::Usage,
        };
        Refused { status, error: Box::new(AppError::new(kind, what).coded(code)) }
    }

    /// The same with what the client can do.
    pub(super) fn hint(self, hint: impl Into<String>) -> Refused {
        Refused { error: Box::new(self.error.hint(hint)), ..self }
    }
}

impl From<AppError> for Refused {
    fn from(error: AppError) -> Refused {
        Refused { status: status(error.kind), error: Box::new(error) }
    }
}

/// What HTTP calls each kind of error.
pub(super) fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Usage => StatusCode::BAD_REQUEST,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Conflict | ErrorKind::NeedsPerson | ErrorKind::Waiting => StatusCode::CONFLICT,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::Interrupted => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Damaged | ErrorKind::Failure => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = json(self.status, self.error.document());
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// A JSON document on one line, as the command line prints it.
pub(super) fn json(status: StatusCode, document: String) -> Response {
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (status, kind, document + "\n").into_response()
}
