//! Bodies: their arrival, and the memory that they take, measured before they are read.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::StatusCode,
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::{
    runtime::{self, RuntimeFlavor},
    task::block_in_place,
    time::timeout,
};
use wharf_core::{Code, HttpLimits, RequestShare, TenantId, json::members, text::line};

use super::headers::is_json;
use crate::{access::client::ClientAccount, failure::HttpFailure, state::ServerState};

/// What a worker reads itself: a fraction of a millisecond.
const READ_AT_ONCE_BYTES: usize = 64 << 10;
/// What is shown of what was wrong.
const SHOWN_BYTES: usize = 512;

/// A body of JSON; none at all is the same as `{}`.
pub(crate) struct JsonBody<T> {
    pub(crate) value: T,
    /// What it takes, for as long as it is kept.
    _share: Option<RequestShare>,
}

impl<T: DeserializeOwned> FromRequest<Arc<ServerState>> for JsonBody<T> {
    type Rejection = HttpFailure;

    async fn from_request(request: Request, server: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        let is_json = is_json(request.headers());
        let limits = &server.settings.limits;
        let tenant = request.extensions().get::<Arc<ClientAccount>>().map(|client| client.rules.tenant.clone());
        let mut share = server.memory.begin(&tenant.unwrap_or_else(TenantId::local));
        let body = receive(request.into_body(), ("body_bytes", limits.body_bytes), limits, &mut share).await?;
        if body.is_empty() {
            return parsed(b"{}", None);
        }
        if !is_json {
            return Err(not_json());
        }
        beside_workers(body.len(), || {
            measure(&mut share, &body)?;
            parsed(&body, Some(share))
        })
    }
}

/// A whole body, which may be no longer than the named limit says, and takes of the
/// share what has arrived of it.
pub(crate) async fn receive(
    body: axum::body::Body,
    (name, limit): (&str, u64),
    limits: &HttpLimits,
    share: &mut RequestShare,
) -> Result<Bytes, HttpFailure> {
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
            Err(HttpFailure::new(StatusCode::PAYLOAD_TOO_LARGE, Code::Limit, message))
        }
        Ok(Err(_)) => Err(HttpFailure::invalid("the body could not be read")),
        Err(_) => {
            let message = "the body did not arrive in time (limit `arrival_milliseconds`)";
            Err(HttpFailure::new(StatusCode::REQUEST_TIMEOUT, Code::Timeout, message))
        }
    }
}

/// Reads what a client sent. Where that is much, the runtime's worker hands its other work
/// on first, so that no other request waits for it.
pub(crate) fn beside_workers<R>(bytes: usize, work: impl FnOnce() -> R) -> R {
    // A runtime of one thread has nobody to hand it on to.
    let has_others =
        || runtime::Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > READ_AT_ONCE_BYTES && has_others() { block_in_place(work) } else { work() }
}

/// Takes as much memory as this body does once it is read, and returns how much that is.
pub(crate) fn measure(share: &mut RequestShare, body: &[u8]) -> Result<u64, HttpFailure> {
    let read = share.read(body).map(|estimate| estimate.bytes());
    read.map_err(|error| match error.retryable {
        true => error.into(),
        false => HttpFailure::new(StatusCode::PAYLOAD_TOO_LARGE, error.code, error.message),
    })
}

pub(crate) fn not_json() -> HttpFailure {
    let message = "send the body as `Content-Type: application/json`";
    HttpFailure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Invalid, message)
}

fn parsed<T: DeserializeOwned>(body: &[u8], share: Option<RequestShare>) -> Result<JsonBody<T>, HttpFailure> {
    let parsed = members(body).map(|value| JsonBody { value, _share: share });
    parsed.map_err(|error| HttpFailure::invalid(line(&format!("the body is not legal: {error}"), SHOWN_BYTES)))
}
