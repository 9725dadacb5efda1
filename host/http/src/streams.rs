//! What the routes of streams do.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_completion::{
    Streams,
    stream::{Ended, Lost, StreamEvent, StreamId, StreamInfo, StreamReader},
};

use super::{
    Failure, Shared,
    caller::Caller,
    follow::Following,
    guard,
    request::{Handle, Parameters},
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What one answer holds at most.
const MOST_EVENTS: usize = 1_024;
const MOST_BYTES: usize = 1 << 20;

/// The streams of the caller.
#[derive(Serialize, JsonSchema)]
pub(super) struct StreamList {
    /// Oldest first.
    streams: Vec<StreamInfo>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Resume {
    /// The `id` of the last event that was read, for clients that cannot send
    /// the header `Last-Event-ID`, which comes first.
    last_event_id: Option<u64>,
}

impl Resume {
    /// The number of the last event that was read.
    pub(super) fn last(&self, headers: &HeaderMap) -> Result<u64, Failure> {
        Ok(self.given(headers)?.unwrap_or(0))
    }

    /// The same; nothing where the client reads for the first time.
    pub(super) fn given(&self, headers: &HeaderMap) -> Result<Option<u64>, Failure> {
        Ok(last_event(headers)?.or(self.last_event_id))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// The number of the first event to read; 1 where absent.
    #[serde(default)]
    from: u64,
    /// How long to wait for it, in milliseconds; not at all where absent.
    #[serde(default)]
    wait_ms: u64,
    /// How many events to return at most.
    max_events: Option<usize>,
}

/// A part of a stream.
#[derive(Serialize, JsonSchema)]
pub(super) struct StreamPage {
    /// The stream as it is now.
    info: StreamInfo,
    /// In order.
    events: Vec<Arc<StreamEvent>>,
    /// The number to ask for next.
    next: u64,
    /// What was asked for and is not kept any more.
    reset: Option<Lost>,
    /// Why nothing will come behind these events; absent while something may.
    end: Option<Ended>,
}

pub(super) async fn list(State(shared): State<Arc<Shared>>, Caller(context): Caller) -> Json<StreamList> {
    Json(StreamList { streams: shared.services.streams.list(&context) })
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    Caller(context): Caller,
    Handle(stream): Handle,
    Parameters(page): Parameters<Page>,
) -> Result<Json<StreamPage>, Failure> {
    let reader = found(&shared.services.streams, &context, &stream)?;
    let patience = patience(&shared, page.wait_ms);
    let _place = (!patience.is_zero()).then(|| shared.reader(&context.tenant)).transpose()?;
    let most = page.max_events.unwrap_or(MOST_EVENTS).min(MOST_EVENTS);
    let batch = tokio::select! {
        biased;
        batch = reader.read(page.from, most, MOST_BYTES, patience) => batch?,
        () = shared.stopping.cancelled() => reader.read(page.from, most, MOST_BYTES, Duration::ZERO).await?,
    };
    Ok(Json(StreamPage {
        info: reader.info(),
        events: batch.events,
        next: batch.next,
        reset: batch.lost,
        end: batch.ended,
    }))
}

pub(super) async fn follow(
    State(shared): State<Arc<Shared>>,
    Caller(context): Caller,
    Handle(stream): Handle,
    Parameters(resume): Parameters<Resume>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let reader = found(&shared.services.streams, &context, &stream)?;
    let last = resume.last(&headers)?;
    let from = last.checked_add(1).ok_or_else(|| Failure::invalid("there is no such event"))?;
    let place = shared.reader(&context.tenant)?;
    // An answer, and no stream that fails at once.
    let batch = reader.read(from, 1, 1, Duration::ZERO).await?;
    if batch.ended.is_some() && batch.events.is_empty() && batch.lost.is_none() && last > 0 {
        // A browser that comes back would do so for ever; this ends it.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Following::new(&shared, reader, from, place).into_response())
}

pub(super) async fn delete(
    State(shared): State<Arc<Shared>>,
    Caller(context): Caller,
    Handle(stream): Handle,
) -> Result<Json<StreamInfo>, Failure> {
    Ok(Json(shared.services.streams.delete(&context, stream.parse()?)?))
}

fn found(streams: &Streams, context: &wharf_core::Context, handle: &str) -> Result<StreamReader, Failure> {
    let id: StreamId = handle.parse()?;
    Ok(streams.reader(context, id)?)
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    match guard::single(headers, &LAST_EVENT_ID)? {
        None => Ok(None),
        Some(value) if value.is_empty() => Ok(None),
        Some(value) => {
            let number = value.to_str().ok().and_then(|text| text.parse().ok());
            number.map(Some).ok_or_else(|| Failure::invalid("`Last-Event-ID` must be the `id` of an event"))
        }
    }
}

/// How long a request may wait.
pub(super) fn patience(shared: &Shared, wait_ms: u64) -> Duration {
    Duration::from_millis(wait_ms.min(shared.settings.limits.wait_milliseconds))
}
