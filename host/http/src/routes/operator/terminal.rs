//! Terminals of all plugins, live: what they show, and what a person types.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::Response,
    routing::{delete, get, post},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout};
use wharf_core::{
    TenantId,
    service::operator::{OperatedTerminal, OperatorList, OperatorRequest, OperatorSees, ProcessOutput, TerminalReport},
};

use super::asking::{GraceQuery, Operator, feed, listing};
use crate::{
    failure::HttpFailure,
    request::{
        body::JsonBody,
        parameters::{PathHandle, QueryParameters},
    },
    routes::{
        event_stream::{FrameSource, Frames, event_stream},
        route::{self, AnswerContent, Route, RouteAnswer, done},
    },
    state::ServerState,
};

const EVENTS: &str = "Server-sent events. `screen` ({columns, rows, text}) draws the whole screen on a terminal of that \
                      size that has just been reset: first of all, and again where this reader was too slow for what \
                      came. `text` ({text}) is what came then, with control sequences that only draw; `resize` \
                      ({columns, rows}) another size; after `end` nothing comes. Comments keep the connection alive.";

/// What comes sooner than this after what was shown last waits, and is shown together.
const FRAME: Duration = Duration::from_millis(40);

pub(super) fn routes() -> Vec<Route> {
    let terminal = "/v1/operator/terminals/{terminal}";
    vec![
        Route::new(
            "get",
            "/v1/operator/terminals",
            ("listAllTerminals", "Lists the terminals of all plugins."),
            listing(OperatorList::Terminals),
            vec![route::json::<AllTerminals>(200, "These are there.")],
        ),
        Route::new(
            "get",
            terminal,
            ("attachToTerminal", "Shows a terminal of any plugin live: the whole screen first, then what comes."),
            get(attach),
            vec![RouteAnswer { status: 200, what: "What it shows.", content: AnswerContent::Events(EVENTS) }],
        ),
        Route::new(
            "get",
            "/v1/operator/terminals/{terminal}/recording",
            (
                "readRecording",
                "Reads the recording of a terminal, an asciicast, from a byte on: whole lines of it. An empty text says that \
                 nothing more is written yet.",
            ),
            get(recording),
            vec![route::json::<ProcessOutput>(200, "This is written; it may be nothing.")],
        )
        .query::<RecordingQuery>(),
        Route::new(
            "post",
            "/v1/operator/terminals/{terminal}/input",
            (
                "typeIntoTerminal",
                "Types bytes as they are. While a turn of the terminal runs, that is a `conflict`, unless it is forced: \
                 what is typed is taken for a part of the turn.",
            ),
            post(input),
            vec![done("They were typed.")],
        )
        .body::<InputRequest>(),
        Route::new(
            "post",
            "/v1/operator/terminals/{terminal}/resize",
            ("resizeAnyTerminal", "Changes the size of a terminal, for everybody."),
            post(resize),
            vec![done("It has this size.")],
        )
        .body::<SizeRequest>(),
        Route::new(
            "delete",
            terminal,
            ("closeAnyTerminal", "Ends the program of a terminal and all that it started."),
            delete(close),
            vec![route::json::<TerminalReport>(200, "So it ended.")],
        )
        .query::<GraceQuery>(),
    ]
}

/// The terminals.
#[derive(Serialize, JsonSchema)]
struct AllTerminals {
    /// Ended ones that are kept included.
    terminals: Vec<TerminalReport>,
}

/// What is typed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InputRequest {
    /// The bytes, as Base64.
    content: String,
    /// Whether they are typed while a turn runs, too.
    #[serde(default)]
    force: bool,
}

/// A size.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SizeRequest {
    /// How wide.
    columns: u16,
    /// How high.
    rows: u16,
}

async fn attach(
    State(server): State<Arc<ServerState>>,
    PathHandle(terminal): PathHandle,
) -> Result<Response, HttpFailure> {
    let place = server.reader_permit(&TenantId::local())?;
    let attached = feed(&server)?.service().attach(&terminal).await?;
    Ok(event_stream(server, place, AttachedReader { terminal: attached, shown: None }))
}

/// Bytes of a piece of a recording.
const RECORDING_BYTES: usize = 1 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordingQuery {
    /// The first byte; 0 where absent. A piece has 1 MiB at most.
    #[serde(default)]
    from: u64,
}

async fn recording(
    operator: Operator,
    PathHandle(terminal): PathHandle,
    QueryParameters(RecordingQuery { from }): QueryParameters<RecordingQuery>,
) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::Recording { terminal, from, bytes: RECORDING_BYTES }).await
}

async fn input(
    operator: Operator,
    PathHandle(terminal): PathHandle,
    JsonBody { value: InputRequest { content, force }, .. }: JsonBody<InputRequest>,
) -> Result<StatusCode, HttpFailure> {
    operator.done(OperatorRequest::TypeBytes { terminal, content, force }).await
}

async fn resize(
    operator: Operator,
    PathHandle(terminal): PathHandle,
    JsonBody { value: SizeRequest { columns, rows }, .. }: JsonBody<SizeRequest>,
) -> Result<StatusCode, HttpFailure> {
    operator.done(OperatorRequest::ResizeTerminal { terminal, columns, rows }).await
}

async fn close(
    operator: Operator,
    PathHandle(terminal): PathHandle,
    QueryParameters(query): QueryParameters<GraceQuery>,
) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::CloseTerminal { terminal, grace: query.grace() }).await
}

/// What a watcher is shown. It comes once in [`FRAME`] at most, so that many watchers cost a program
/// little of the processors that it shares with them.
struct AttachedReader {
    terminal: Box<dyn OperatedTerminal>,
    shown: Option<Instant>,
}

impl FrameSource for AttachedReader {
    async fn next(&mut self, heartbeat: Duration) -> Option<Frames> {
        if let Some(shown) = self.shown {
            sleep_until(shown + FRAME).await;
        }
        let Ok(seen) = timeout(heartbeat, self.terminal.next()).await else { return Some(Frames::heartbeat()) };
        self.shown = Some(Instant::now());
        // JSON has no line breaks of its own.
        let event = |event: &str, data: serde_json::Value| format!("event: {event}\ndata: {data}\n\n");
        Some(match seen {
            Some(OperatorSees::Screen { columns, rows, text }) => {
                Frames::new(event("screen", json!({"columns": columns, "rows": rows, "text": text})))
            }
            Some(OperatorSees::Text(text)) => Frames::new(event("text", json!({"text": text}))),
            Some(OperatorSees::Resized { columns, rows }) => {
                Frames::new(event("resize", json!({"columns": columns, "rows": rows})))
            }
            None => Frames::last(event("end", json!({}))),
        })
    }
}
