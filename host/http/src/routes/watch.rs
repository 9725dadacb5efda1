//! Looking on at a terminal as server-sent events: the whole screen first, then
//! the very bytes.
//!
//! Each event has the cursor behind it as `id`, so that a client that comes back
//! goes on where it was as long as the bytes are kept and the size is the same,
//! and gets the screen anew where not. Nothing is typed here: what the client's own terminal
//! answers to the program stays with the client.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State, http::HeaderMap, response::Response, routing::get};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tokio::time::timeout;
use wharf_completion::terminals::{TerminalSeen, TerminalWatch, WatchableTerminal};

use super::{
    event_stream::{FrameSource, Frames, event_stream},
    route::{AnswerContent, Route, RouteAnswer, json},
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

const EVENTS: &str = "Server-sent events. `screen` ({columns, rows, text, next}) draws the whole screen on a terminal of \
                      that size that has just been reset: first of all, and again where bytes were evicted before \
                      they were read, or the size has changed since. `bytes` ({from, next, content}) is what was \
                      printed, as Base64; `resize` ({columns, rows}) another size for what comes behind it; `end` ({because}) why nothing will come any more. `id` is the \
                      cursor behind an event; a client that comes back sends the last one as `Last-Event-ID`. \
                      Comments keep the connection alive.";

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            "/v1/watch",
            (
                "listWatchableTerminals",
                "Lists the terminals of the caller's session that can be watched, whichever plugin opened them.",
            ),
            get(list),
            vec![json::<Watchable>(200, "These are there.")],
        ),
        Route::new(
            "get",
            "/v1/watch/{terminal}",
            (
                "watchTerminal",
                "Shows a terminal of the caller's session live: the whole screen first, then the bytes as they come.",
            ),
            get(watch),
            vec![RouteAnswer { status: 200, what: "What it shows.", content: AnswerContent::Events(EVENTS) }],
        )
        .query::<ResumeQuery>()
        .resumes(),
    ]
}

/// The terminals that may be watched.
#[derive(Serialize, JsonSchema)]
struct Watchable {
    /// Of the caller's session, whichever plugin opened them.
    terminals: Vec<WatchableTerminal>,
}

async fn list(State(server): State<Arc<ServerState>>, RequestContext(context): RequestContext) -> Json<Watchable> {
    Json(Watchable { terminals: server.services.terminals.watchable(&context).await })
}

async fn watch(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
    QueryParameters(resume): QueryParameters<ResumeQuery>,
    headers: HeaderMap,
) -> Result<Response, HttpFailure> {
    let from = resume.given(&headers)?;
    let place = server.reader_permit(&context.tenant)?;
    let watch = server.services.terminals.watch(&context, &terminal, from).await?;
    Ok(event_stream(server, place, TerminalWatcher(watch)))
}

struct TerminalWatcher(Box<dyn TerminalWatch>);

impl FrameSource for TerminalWatcher {
    async fn next(&mut self, heartbeat: Duration) -> Option<Frames> {
        match timeout(heartbeat, self.0.next()).await {
            Ok(seen) => seen.map(frame),
            Err(_) => Some(Frames::heartbeat()),
        }
    }
}

fn frame(seen: TerminalSeen) -> Frames {
    // JSON has no line breaks of its own.
    let event = |id: Option<u64>, event: &str, data: serde_json::Value| {
        let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        format!("{id}event: {event}\ndata: {data}\n\n")
    };
    match seen {
        TerminalSeen::Screen { columns, rows, text, next } => {
            let data = json!({"columns": columns, "rows": rows, "text": text, "next": next});
            Frames::new(event(Some(next), "screen", data))
        }
        TerminalSeen::Bytes { from, next, bytes } => {
            let data = json!({"from": from, "next": next, "content": STANDARD.encode(bytes)});
            Frames::new(event(Some(next), "bytes", data))
        }
        TerminalSeen::Resized { columns, rows } => {
            Frames::new(event(None, "resize", json!({"columns": columns, "rows": rows})))
        }
        TerminalSeen::Over { because } => Frames::last(event(None, "end", json!({"because": because}))),
    }
}
