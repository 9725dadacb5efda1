//! Errors as answers: `{"error": {code, message, retryable}}` under a fitting
//! status.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use wharf_completion::stream::StreamError;
use wharf_core::{Code, Error, audit::RefusedFor};

/// An error on its way to the client.
#[derive(Debug)]
pub struct HttpFailure {
    status: StatusCode,
    error: Error,
    /// How to get what it takes, where that is not the host's own token.
    challenge: Option<HeaderValue>,
    /// When to try again, where that is known.
    after: Option<Duration>,
}

/// What a client gets instead of an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Problem {
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

impl HttpFailure {
    /// An error under a status that its code alone does not say.
    pub(crate) fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Self {
        Self { status, error: Error::new(code, message), challenge: None, after: None }
    }

    /// The same with how to get what it takes.
    pub(crate) fn challenged(self, challenge: Option<HeaderValue>) -> Self {
        Self { challenge, ..self }
    }

    /// The same with how long it takes until it may succeed.
    pub(crate) fn after(self, time: Duration) -> Self {
        Self { after: Some(time), ..self }
    }

    /// Seconds after which the same request may succeed; none where it never will.
    pub(crate) fn retry_seconds(&self) -> Option<u64> {
        let seconds = |after: Duration| after.as_secs() + u64::from(after.subsec_nanos() > 0);
        self.error.retryable.then(|| self.after.map_or(1, seconds))
    }

    /// The host has no place for any client.
    #[must_use]
    pub fn busy(message: impl Into<String>) -> Self {
        let error = Error::retryable(Code::Limit, message);
        Self { status: StatusCode::SERVICE_UNAVAILABLE, error, challenge: None, after: None }
    }

    /// What was wrong with the token that was shown, or that was not, where it was that.
    pub(crate) fn refused_for(&self, has_token: bool) -> Option<RefusedFor> {
        match self.status {
            StatusCode::UNAUTHORIZED if has_token => Some(RefusedFor::WrongToken),
            StatusCode::UNAUTHORIZED => Some(RefusedFor::NoToken),
            StatusCode::FORBIDDEN => Some(RefusedFor::MissingScope),
            _ => None,
        }
    }

    /// Whether its client has shown no token that opens anything.
    pub(crate) fn is_unauthenticated(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Error::new(Code::Invalid, message).into()
    }
}

impl From<Error> for HttpFailure {
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
        Self { status, error, challenge: None, after: None }
    }
}

impl From<StreamError> for HttpFailure {
    fn from(error: StreamError) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for HttpFailure {
    fn into_response(self) -> Response {
        let after = self.retry_seconds();
        let Self { status, error, challenge, .. } = self;
        // It quotes names that others chose.
        let message = wharf_core::text::visible(error.message);
        let detail = ProblemDetail { code: error.code.as_str(), message, retryable: error.retryable };
        let mut response = (status, Json(Problem { error: detail })).into_response();
        let headers = response.headers_mut();
        let plain = || (status == StatusCode::UNAUTHORIZED).then(|| HeaderValue::from_static("Bearer realm=\"wharf\""));
        if let Some(challenge) = challenge.or_else(plain) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
