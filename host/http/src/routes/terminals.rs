//! What the routes of terminals do: they ask the service, in the caller's
//! context.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_completion::terminals::{
    CancelTurn, OutputView, PressKeys, ReadOutput, ResizeTerminal, StartTerminal, StartedTerminal, TerminalDescription,
    TerminalOutput, TerminalScreen, TerminalTurn, TurnRequest,
};

use super::{
    event_stream::event_stream,
    follow::{self, StreamFollower},
    route::{Route, done, json, located},
};
use crate::{
    failure::HttpFailure,
    request::{
        body::JsonBody,
        context::RequestContext,
        headers::takes_events,
        parameters::{PathHandle, QueryParameters},
    },
    state::ServerState,
};

const STREAM: HeaderName = HeaderName::from_static("wharf-stream");
const TURN: HeaderName = HeaderName::from_static("wharf-turn");

/// What one answer holds at most.
const MOST_OUTPUT_BYTES: usize = 1 << 20;
const USUAL_OUTPUT_BYTES: usize = 64 << 10;
const MOST_HISTORY_LINES: usize = 10_000;

/// How long a program may take to end by itself.
const USUAL_GRACE: Duration = Duration::from_secs(2);
const LONGEST_GRACE: Duration = Duration::from_secs(60);

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = of_all();
    routes.extend(of_one());
    routes
}

fn of_all() -> Vec<Route> {
    let terminal = "/v1/terminals/{terminal}";
    vec![
        Route::new(
            "post",
            "/v1/terminals",
            ("startTerminal", "Starts a program in a terminal of its own."),
            post(start),
            vec![json::<StartedTerminal>(201, "It was started.")],
        )
        .body::<StartTerminal>(),
        Route::new(
            "get",
            "/v1/terminals",
            ("listTerminals", "Lists the caller's terminals."),
            get(list),
            vec![json::<TerminalList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            terminal,
            ("getTerminal", "Tells how a terminal is."),
            get(info),
            vec![json::<TerminalDescription>(200, "So it is.")],
        ),
        Route::new(
            "delete",
            terminal,
            ("closeTerminal", "Ends the program and all that it started, and the terminal's stream."),
            delete(close),
            vec![json::<TerminalDescription>(200, "So it ended.")],
        )
        .query::<CloseQuery>(),
    ]
}

fn of_one() -> Vec<Route> {
    vec![
        Route::new(
            "post",
            "/v1/terminals/{terminal}/turns",
            (
                "beginTurn",
                "Types input, which begins a turn, and follows what comes up to its `complete`, where the client \
                 accepts `text/event-stream`. Else, or after a dropped connection, the turn is followed on the \
                 terminal's stream; it goes on in any case.",
            ),
            post(turn),
            vec![follow::events("The events of this turn."), json::<TerminalTurn>(202, "It has begun.")],
        )
        .body::<TurnRequest>(),
        Route::new(
            "post",
            "/v1/terminals/{terminal}/keys",
            ("pressKeys", "Presses keys, in a running turn or without one."),
            post(keys),
            vec![done("They were pressed.")],
        )
        .body::<PressKeys>(),
        Route::new(
            "post",
            "/v1/terminals/{terminal}/cancel",
            ("cancelTurn", "Takes the running turn back: it is over, and the program is sent nothing."),
            post(cancel),
            vec![done("It is over.")],
        )
        .body::<CancelTurn>(),
        Route::new(
            "post",
            "/v1/terminals/{terminal}/resize",
            ("resizeTerminal", "Changes the size of a terminal."),
            post(resize),
            vec![done("It has this size.")],
        )
        .body::<ResizeTerminal>(),
        Route::new(
            "get",
            "/v1/terminals/{terminal}/screen",
            ("readScreen", "Shows what a person would see."),
            get(screen),
            vec![json::<TerminalScreen>(200, "This is shown.")],
        )
        .query::<ScreenQuery>(),
        Route::new(
            "get",
            "/v1/terminals/{terminal}/output",
            ("readOutput", "Reads what was printed, from a cursor on."),
            get(output),
            vec![json::<TerminalOutput>(200, "This was printed; it may be nothing.")],
        )
        .query::<OutputQuery>(),
    ]
}

/// The terminals of the caller.
#[derive(Serialize, JsonSchema)]
struct TerminalList {
    /// Ended ones that are kept included.
    terminals: Vec<TerminalDescription>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CloseQuery {
    /// How long the program may take to end by itself, in milliseconds; 2 s
    /// where absent, 60 s at most.
    grace_ms: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScreenQuery {
    /// How many lines that went off the top to show, too; 10,000 at most.
    #[serde(default)]
    history_lines: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutputQuery {
    /// Text, or the very bytes; each counts its own cursors.
    #[serde(default)]
    view: OutputView,
    /// The cursor of the first byte.
    #[serde(default)]
    from: u64,
    /// How much to return at most; 64 KiB where absent, 1 MiB at most.
    max_bytes: Option<usize>,
    /// How long to wait for something behind `from`, in milliseconds; not at
    /// all where absent.
    #[serde(default)]
    wait_ms: u64,
}

async fn start(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    JsonBody { value: request, .. }: JsonBody<StartTerminal>,
) -> Result<Response, HttpFailure> {
    let started = server.services.terminals.start(&context, request).await?;
    let place = format!("/v1/terminals/{}", started.terminal.terminal);
    Ok(located(StatusCode::CREATED, place, started))
}

async fn list(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
) -> Result<Json<TerminalList>, HttpFailure> {
    Ok(Json(TerminalList { terminals: server.services.terminals.list(&context).await? }))
}

async fn info(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
) -> Result<Json<TerminalDescription>, HttpFailure> {
    Ok(Json(server.services.terminals.info(&context, &terminal).await?))
}

async fn close(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
    QueryParameters(close): QueryParameters<CloseQuery>,
) -> Result<Json<TerminalDescription>, HttpFailure> {
    let grace = close.grace_ms.map_or(USUAL_GRACE, Duration::from_millis).min(LONGEST_GRACE);
    Ok(Json(server.services.terminals.close(&context, &terminal, grace).await?))
}

/// Begins a turn, and follows it where the client takes events. The turn goes
/// on whether or not somebody does.
async fn turn(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
    headers: HeaderMap,
    JsonBody { value: request, .. }: JsonBody<TurnRequest>,
) -> Result<Response, HttpFailure> {
    // Before the turn: one that is refused here must not have begun.
    let place = takes_events(&headers).then(|| server.reader_permit(&context.tenant)).transpose()?;
    let turn = server.services.terminals.turn(&context, &terminal, request).await?;
    let mut response = match place {
        Some(place) => {
            let reader = server.services.streams.reader(&context, turn.stream)?;
            event_stream(server, place, StreamFollower::new(reader, turn.first).turn(turn.turn))
        }
        None => (StatusCode::ACCEPTED, Json(turn)).into_response(),
    };
    let named = [(STREAM, HeaderValue::try_from(turn.stream.to_string()).ok()), (TURN, Some(turn.turn.into()))];
    for (name, value) in named {
        response.headers_mut().extend(value.map(|value| (name, value)));
    }
    Ok(response)
}

async fn keys(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
    JsonBody { value: request, .. }: JsonBody<PressKeys>,
) -> Result<StatusCode, HttpFailure> {
    server.services.terminals.keys(&context, &terminal, request).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn cancel(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
    JsonBody { value: request, .. }: JsonBody<CancelTurn>,
) -> Result<StatusCode, HttpFailure> {
    server.services.terminals.cancel(&context, &terminal, request).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn resize(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
    JsonBody { value: request, .. }: JsonBody<ResizeTerminal>,
) -> Result<StatusCode, HttpFailure> {
    server.services.terminals.resize(&context, &terminal, request).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn screen(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
    QueryParameters(screen): QueryParameters<ScreenQuery>,
) -> Result<Json<TerminalScreen>, HttpFailure> {
    let lines = screen.history_lines.min(MOST_HISTORY_LINES);
    Ok(Json(server.services.terminals.screen(&context, &terminal, lines).await?))
}

async fn output(
    State(server): State<Arc<ServerState>>,
    RequestContext(context): RequestContext,
    PathHandle(terminal): PathHandle,
    QueryParameters(output): QueryParameters<OutputQuery>,
) -> Result<Json<TerminalOutput>, HttpFailure> {
    let request = |patience| ReadOutput {
        view: output.view,
        from: output.from,
        maximum_bytes: output.max_bytes.unwrap_or(USUAL_OUTPUT_BYTES).min(MOST_OUTPUT_BYTES),
        patience,
    };
    let read = |patience| server.services.terminals.output(&context, &terminal, request(patience));
    Ok(Json(server.wait(&context.tenant, output.wait_ms, read).await?))
}
