//! Parameters and bodies, measured before they are read.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use wharf_core::{Code, text::line};

use super::{Failure, Shared};

/// What is shown of what was wrong.
const SHOWN_BYTES: usize = 512;

/// The parameters of the query.
pub(super) struct Parameters<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Shared>> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Shared>) -> Result<Self, Failure> {
        let Query(parameters) = Query::try_from_uri(&parts.uri).map_err(|error| {
            Failure::invalid(line(&format!("the query is not legal: {}", error.body_text()), SHOWN_BYTES))
        })?;
        Ok(Self(parameters))
    }
}

/// The handle in the path.
pub(super) struct Handle(pub(super) String);

impl FromRequestParts<Arc<Shared>> for Handle {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let found = Path::<String>::from_request_parts(parts, shared).await;
        found.map(|Path(handle)| Self(handle)).map_err(|_| Failure::invalid("the path is not legal UTF-8"))
    }
}

/// A body of JSON; none at all is the same as `{}`.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<Shared>> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let limits = &shared.settings.limits;
        let is_json = is_json(request.headers());
        let limit = usize::try_from(limits.body_bytes).unwrap_or(usize::MAX);
        let arriving = Limited::new(request.into_body(), limit).collect();
        let arrived = timeout(Duration::from_millis(limits.arrival_milliseconds), arriving).await;
        let body = match arrived {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let message = format!("the body is longer than {limit} bytes (limit `body_bytes`)");
                return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, Code::Limit, message));
            }
            Ok(Err(_)) => return Err(Failure::invalid("the body could not be read")),
            Err(_) => {
                let message = "the body did not arrive in time (limit `arrival_milliseconds`)";
                return Err(Failure::new(StatusCode::REQUEST_TIMEOUT, Code::Timeout, message));
            }
        };
        if body.is_empty() {
            return parsed(b"{}");
        }
        if !is_json {
            let message = "send the body as `Content-Type: application/json`";
            return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Invalid, message));
        }
        parsed(&body)
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<Body<T>, Failure> {
    let parsed = serde_json::from_slice(body).map(Body);
    parsed.map_err(|error| Failure::invalid(line(&format!("the body is not legal: {error}"), SHOWN_BYTES)))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether the client takes server-sent events.
pub(super) fn takes_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case("text/event-stream"))
}
