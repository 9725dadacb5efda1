//! What the routes of streams do.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{delete, get},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_completion::{
    Streams,
    stream::{Ended, Lost, StreamEvent, StreamId, StreamInfo, StreamReader},
};

use super::{
    event_stream::event_stream,
    follow::{self, StreamFollower},
    route::{Route, done, json},
};
use crate::{
    failure::HttpFailure,
    request::{
        context::RequestContext,
        parameters::{PathHandle, QueryParameters},
        resume::ResumeQuery,
    },
    state::ServerState,
};

/// What one answer holds at most.
const MOST_EVENTS: usize = 1_024;
const MOST_BYTES: usize = 1 << 20;

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    let stream = "/v1/streams/{stream}";
    vec![
        Route::new(
            "get",
            "/v1/streams",
            ("listStreams", "Lists the streams that the caller may read."),
            get(list),
            vec![json::<StreamList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            stream,
            ("readStream", "Reads events of a stream, for clients that do not take server-sent events."),
            get(read),
            vec![json::<StreamPage>(200, "These events came; it may be none.")],
        )
        .query::<StreamPageQuery>(),
        Route::new(
            "delete",
            stream,
            ("deleteStream", "Ends a stream and forgets it. That of a terminal ends with the terminal."),
            delete(delete_stream),
            vec![json::<StreamInfo>(200, "So it ended.")],
        ),
        Route::new(
            "get",
            "/v1/streams/{stream}/events",
            ("followStream", "Follows a stream from its oldest event on, or from behind the last one that was read."),
            get(follow_stream),
            vec![follow::events("Its events."), done("It has ended, and all of it was read.")],
        )
        .query::<ResumeQuery>()
        .resumes(),
    ]
}

/// The streams of the caller.
#[derive(Serialize, JsonSchema)]
struct StreamList {
    /// Oldest first.
    streams: Vec<StreamInfo>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StreamPageQuery {
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
struct StreamPage {
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

async fn list(State(server): State<Arc<ServerState>>, RequestContext(context): RequestContext) -> Json<StreamList> {
    Json(StreamList { streams: server.services.streams.list(&context) })
}

async fn read(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(stream): PathHandle,
    QueryParameters(page): QueryParameters<StreamPageQuery>,
) -> Result<Json<StreamPage>, HttpFailure> {
    let reader = found(&server.services.streams, &context, &stream)?;
    let most = page.max_events.unwrap_or(MOST_EVENTS).min(MOST_EVENTS);
    let read = |patience| reader.read(page.from, most, MOST_BYTES, patience);
    let batch = server.wait(&context.tenant, page.wait_ms, read).await?;
    Ok(Json(StreamPage {
        info: reader.info(),
        events: batch.events,
        next: batch.next,
        reset: batch.lost,
        end: batch.ended,
    }))
}

async fn follow_stream(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(stream): PathHandle,
    QueryParameters(resume): QueryParameters<ResumeQuery>,
    headers: HeaderMap,
) -> Result<Response, HttpFailure> {
    let reader = found(&server.services.streams, &context, &stream)?;
    let last = resume.last(&headers)?;
    let from = last.checked_add(1).ok_or_else(|| HttpFailure::invalid("there is no such event"))?;
    let place = server.reader_permit(&context.tenant)?;
    // An answer, and no stream that fails at once.
    let batch = reader.read(from, 1, 1, Duration::ZERO).await?;
    if batch.ended.is_some() && batch.events.is_empty() && batch.lost.is_none() && last > 0 {
        // A browser that comes back would do so for ever; this ends it.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(event_stream(server, place, StreamFollower::new(reader, from)))
}

async fn delete_stream(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(stream): PathHandle,
) -> Result<Json<StreamInfo>, HttpFailure> {
    Ok(Json(server.services.streams.delete(&context, stream.parse()?)?))
}

fn found(streams: &Streams, context: &wharf_core::Context, handle: &str) -> Result<StreamReader, HttpFailure> {
    let id: StreamId = handle.parse()?;
    Ok(streams.reader(context, id)?)
}
