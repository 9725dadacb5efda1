//! Errors as answers: `{"error": {code, message, retryable}}` under a fitting
//! status.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use wharf_core::{Code, Error, stream::StreamError};

/// An error on its way to the client.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    error: Error,
}

/// What a client gets instead of an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Problem {
    error: ProblemDetail,
}

/// What went wrong.
#[derive(Debug, Serialize, JsonSchema)]
struct ProblemDetail {
    /// In a word: `denied`, `invalid`, `not-found`, `conflict`, `limit`,
    /// `timeout`, `gone`, `unavailable`, `cancelled`, `internal`; there may be
    /// more.
    code: &'static str,
    /// What happened, and what to do about it.
    message: String,
    /// Whether the same request may succeed later.
    retryable: bool,
}

impl Failure {
    /// An error under a status that its code alone does not say.
    pub(super) fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Self {
        Self { status, error: Error::new(code, message) }
    }

    /// The host has no place, whoever asks.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, error: Error::retryable(Code::Limit, message) }
    }

    /// Whether whoever it is for has shown nothing that opens anything.
    pub(super) fn is_of_a_stranger(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Error::new(Code::Invalid, message).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.code {
            Code::Denied => StatusCode::FORBIDDEN,
            Code::Invalid => StatusCode::BAD_REQUEST,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::Conflict | Code::Cancelled => StatusCode::CONFLICT,
            Code::Limit => StatusCode::TOO_MANY_REQUESTS,
            Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
            Code::Gone => StatusCode::GONE,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            // The list of codes may grow; what is not known here is a defect.
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, error }
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self { status, error } = self;
        let detail = ProblemDetail { code: error.code.as_str(), message: error.message, retryable: error.retryable };
        let mut response = (status, Json(Problem { error: detail })).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"wharf\""));
        }
        if error.retryable {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
