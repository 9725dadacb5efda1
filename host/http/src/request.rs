//! Parameters and bodies, measured before they are read.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::{
    runtime::{self, RuntimeFlavor},
    task::block_in_place,
    time::timeout,
};
use wharf_core::{Code, Error, HttpLimits, RequestShare, TenantId, json::members, text::line};

use super::{Failure, Shared, client::Client};

/// What a worker reads itself: a fraction of a millisecond.
const READ_AT_ONCE_BYTES: usize = 64 << 10;
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

/// The handle in the path, and the number below it.
pub(super) struct Numbered(pub(super) String, pub(super) u64);

impl FromRequestParts<Arc<Shared>> for Numbered {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let found = Path::<(String, String)>::from_request_parts(parts, shared).await;
        let Path((handle, number)) = found.map_err(|_| Failure::invalid("the path is not legal UTF-8"))?;
        let number = number.parse().map_err(|_| Error::new(Code::NotFound, "there is no such call"))?;
        Ok(Self(handle, number))
    }
}

/// The handle in the path, and the name below it.
pub(super) struct Handles(pub(super) String, pub(super) String);

impl FromRequestParts<Arc<Shared>> for Handles {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let found = Path::<(String, String)>::from_request_parts(parts, shared).await;
        let Path((handle, name)) = found.map_err(|_| Failure::invalid("the path is not legal UTF-8"))?;
        Ok(Self(handle, name))
    }
}

/// A body of JSON; none at all is the same as `{}`.
pub(super) struct Body<T> {
    pub(super) value: T,
    /// What it takes, for as long as it is kept.
    _share: Option<RequestShare>,
}

impl<T: DeserializeOwned> FromRequest<Arc<Shared>> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let is_json = is_json(request.headers());
        let limits = &shared.settings.limits;
        let tenant = request.extensions().get::<Arc<Client>>().map(|client| client.rules.tenant.clone());
        let mut share = shared.memory.begin(&tenant.unwrap_or_else(TenantId::local));
        let body = arrived(request.into_body(), ("body_bytes", limits.body_bytes), limits, &mut share).await?;
        if body.is_empty() {
            return parsed(b"{}", None);
        }
        if !is_json {
            return Err(not_json());
        }
        beside_workers(body.len(), || {
            estimated(&mut share, &body)?;
            parsed(&body, Some(share))
        })
    }
}

/// A whole body, which may be no longer than the named limit says, and takes of the
/// share what has arrived of it.
pub(super) async fn arrived(
    body: axum::body::Body,
    (name, limit): (&str, u64),
    limits: &HttpLimits,
    share: &mut RequestShare,
) -> Result<Bytes, Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut body = Limited::new(body, limit);
    let arriving = async {
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            if let Err(full) = share.arrived(data.len() as u64) {
                return Ok(Err(full));
            }
            whole.extend_from_slice(&data);
        }
        Ok(Ok(whole))
    };
    match timeout(Duration::from_millis(limits.arrival_milliseconds), arriving).await {
        Ok(Ok(Ok(body))) => Ok(body.into()),
        Ok(Ok(Err(full))) => Err(full.into()),
        Ok(Err::<_, axum::BoxError>(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body is longer than {limit} bytes (limit `{name}`)");
            Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, Code::Limit, message))
        }
        Ok(Err(_)) => Err(Failure::invalid("the body could not be read")),
        Err(_) => {
            let message = "the body did not arrive in time (limit `arrival_milliseconds`)";
            Err(Failure::new(StatusCode::REQUEST_TIMEOUT, Code::Timeout, message))
        }
    }
}

/// Reads what a client sent. Where that is much, the runtime's worker hands on what else it
/// has to do meanwhile, so that nobody else waits for it.
pub(super) fn beside_workers<R>(bytes: usize, work: impl FnOnce() -> R) -> R {
    // A runtime of one thread has nobody to hand it on to.
    let has_others =
        || runtime::Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > READ_AT_ONCE_BYTES && has_others() { block_in_place(work) } else { work() }
}

/// Takes what this body takes once it is read: what that is.
pub(super) fn estimated(share: &mut RequestShare, body: &[u8]) -> Result<u64, Failure> {
    let read = share.read(body).map(|estimate| estimate.bytes());
    read.map_err(|error| match error.retryable {
        true => error.into(),
        false => Failure::new(StatusCode::PAYLOAD_TOO_LARGE, error.code, error.message),
    })
}

pub(super) fn not_json() -> Failure {
    let message = "send the body as `Content-Type: application/json`";
    Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Invalid, message)
}

fn parsed<T: DeserializeOwned>(body: &[u8], share: Option<RequestShare>) -> Result<Body<T>, Failure> {
    let parsed = members(body).map(|value| Body { value, _share: share });
    parsed.map_err(|error| Failure::invalid(line(&format!("the body is not legal: {error}"), SHOWN_BYTES)))
}

pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether the client takes server-sent events.
pub(super) fn takes_events(headers: &HeaderMap) -> bool {
    takes(headers, "text/event-stream")
}

/// Whether the client takes this kind, in so many words.
pub(super) fn takes(headers: &HeaderMap, kind: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case(kind))
}
