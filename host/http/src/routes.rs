//! The table of routes. The router and the description for programs are both
//! made from it, so neither can know a route that the other does not.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderValue, Method, StatusCode, header},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::{MethodRouter, delete, get, post},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use wharf_completion::{
    stream::StreamInfo,
    terminals::{
        CancelTurn, PressKeys, ResizeTerminal, StartTerminal, StartedTerminal, TerminalDescription, TerminalOutput,
        TerminalScreen, TerminalTurn, TurnRequest,
    },
};
use wharf_core::{Code, Error};

use super::{
    Failure, Shared, front_ends, guard,
    issued::{self, METADATA, METADATA_OF_MCP},
    metrics, openapi, pages, protocol, streams, terminals, traced, watch,
};

/// One route.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// The name of the operation in clients that are made from the description.
    pub(super) operation: &'static str,
    pub(super) summary: &'static str,
    pub(super) query: Option<Described>,
    pub(super) body: Option<Described>,
    pub(super) answers: Vec<Answer>,
    pub(super) resumes: bool,
    handler: MethodRouter<Arc<Shared>>,
}

/// The schema of a type.
pub(super) type Described = fn(&mut SchemaGenerator) -> Schema;

/// One way in which a route answers where nothing fails.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) what: &'static str,
    pub(super) content: Content,
}

pub(super) enum Content {
    None,
    Json(Described),
    /// Server-sent events, and which there are.
    Events(&'static str),
    /// A message of the protocol, or a stream of such.
    Messages,
    /// A text of this media type.
    Text(&'static str),
}

/// Where clients of the protocol send what they say.
pub(super) const MCP: &str = "/mcp";
/// Where front ends connect.
pub(super) const FRONT_ENDS: &str = "/v1/front-ends";
const HEALTH: &str = "/v1/health";
const DESCRIPTION: &str = "/v1/openapi.json";

/// What can be asked without a token: it says nothing that a program on this
/// machine could not know, and a client has to read how to show one.
pub(super) fn is_open(method: &Method, path: &str) -> bool {
    *method == Method::GET && matches!(path, HEALTH | DESCRIPTION | METADATA | METADATA_OF_MCP)
}

/// How the host is.
#[derive(Serialize, JsonSchema)]
struct Health {
    /// `ok`.
    status: &'static str,
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

pub(super) fn json<T: JsonSchema>(status: u16, what: &'static str) -> Answer {
    Answer { status, what, content: Content::Json(of::<T>) }
}

pub(super) fn done(what: &'static str) -> Answer {
    Answer { status: 204, what, content: Content::None }
}

fn events(what: &'static str) -> Answer {
    Answer { status: 200, what, content: Content::Events(openapi::EVENTS) }
}

impl Route {
    pub(super) fn new(
        method: &'static str,
        path: &'static str,
        (operation, summary): (&'static str, &'static str),
        handler: MethodRouter<Arc<Shared>>,
        answers: Vec<Answer>,
    ) -> Self {
        Self { method, path, operation, summary, query: None, body: None, answers, resumes: false, handler }
    }

    pub(super) fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(of::<T>), ..self }
    }

    pub(super) fn body<T: JsonSchema>(self) -> Self {
        Self { body: Some(of::<T>), ..self }
    }

    pub(super) fn resumes(self) -> Self {
        Self { resumes: true, ..self }
    }

    pub(super) fn is_open(&self) -> bool {
        self.method == "get" && is_open(&Method::GET, self.path)
    }
}

/// Every route.
pub(super) fn table() -> Vec<Route> {
    let terminal = "/v1/terminals/{terminal}";
    let mut table = vec![
        Route::new(
            "get",
            HEALTH,
            ("health", "Says that the host serves."),
            get(health),
            vec![json::<Health>(200, "It does.")],
        ),
        Route::new(
            "get",
            DESCRIPTION,
            ("describe", "This description."),
            get(describe),
            vec![json::<serde_json::Value>(200, "OpenAPI 3.1.")],
        ),
        Route::new(
            "get",
            METADATA,
            ("describeAuthorization", "Says who issues tokens for this host (RFC 9728)."),
            get(issued::metadata),
            vec![json::<issued::Metadata>(200, "An authorization server does.")],
        ),
        Route::new(
            "get",
            METADATA_OF_MCP,
            ("describeAuthorizationOfMcp", "The same, where clients of the protocol look for it."),
            get(issued::metadata),
            vec![json::<issued::Metadata>(200, "An authorization server does.")],
        ),
        Route::new(
            "post",
            "/v1/terminals",
            ("startTerminal", "Starts a program in a terminal of its own."),
            post(terminals::start),
            vec![json::<StartedTerminal>(201, "It was started.")],
        )
        .body::<StartTerminal>(),
        Route::new(
            "get",
            "/v1/terminals",
            ("listTerminals", "Lists the caller's terminals."),
            get(terminals::list),
            vec![json::<terminals::TerminalList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            terminal,
            ("getTerminal", "Tells how a terminal is."),
            get(terminals::info),
            vec![json::<TerminalDescription>(200, "So it is.")],
        ),
        Route::new(
            "delete",
            terminal,
            ("closeTerminal", "Ends the program and all that it started, and the terminal's stream."),
            delete(terminals::close),
            vec![json::<TerminalDescription>(200, "So it ended.")],
        )
        .query::<terminals::Close>(),
    ];
    table.extend(of_one_terminal());
    table.extend(of_watching());
    table.extend(of_streams());
    table.extend(of_mcp());
    table.extend(pages::routes());
    table.extend(front_ends::routes());
    table.push(metrics::route());
    table
}

fn of_mcp() -> Vec<Route> {
    let accepted = Answer { status: 202, what: "It was taken up, and nothing answers it.", content: Content::None };
    vec![
        Route::new(
            "post",
            MCP,
            (
                "sendMessage",
                "Sends one JSON-RPC message of the Model Context Protocol, of either era: with the handshake of \
                 2025-11-25, in a session, or with the `_meta` of 2026-07-28, without one.",
            ),
            post(protocol::post),
            vec![Answer { status: 200, what: "Its answer.", content: Content::Messages }, accepted],
        )
        .body::<protocol::Message>(),
        Route::new(
            "get",
            MCP,
            (
                "followSession",
                "Follows what the server says unasked in a session of 2025-11-25, or goes on with an answer whose \
                 connection dropped.",
            ),
            get(protocol::without_body),
            vec![Answer { status: 200, what: "What it says.", content: Content::Events(openapi::EVENTS) }],
        )
        .resumes(),
        Route::new(
            "delete",
            MCP,
            ("endSession", "Ends a session of 2025-11-25, and the calls that run in it."),
            delete(protocol::without_body),
            vec![Answer { status: 202, what: "It has ended.", content: Content::None }],
        ),
    ]
}

fn of_one_terminal() -> Vec<Route> {
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
            post(terminals::turn),
            vec![events("The events of this turn."), json::<TerminalTurn>(202, "It has begun.")],
        )
        .body::<TurnRequest>(),
        Route::new(
            "post",
            "/v1/terminals/{terminal}/keys",
            ("pressKeys", "Presses keys, in a running turn or without one."),
            post(terminals::keys),
            vec![done("They were pressed.")],
        )
        .body::<PressKeys>(),
        Route::new(
            "post",
            "/v1/terminals/{terminal}/cancel",
            ("cancelTurn", "Takes the running turn back: it is over, and the program is sent nothing."),
            post(terminals::cancel),
            vec![done("It is over.")],
        )
        .body::<CancelTurn>(),
        Route::new(
            "post",
            "/v1/terminals/{terminal}/resize",
            ("resizeTerminal", "Changes the size of a terminal."),
            post(terminals::resize),
            vec![done("It has this size.")],
        )
        .body::<ResizeTerminal>(),
        Route::new(
            "get",
            "/v1/terminals/{terminal}/screen",
            ("readScreen", "Shows what a person would see."),
            get(terminals::screen),
            vec![json::<TerminalScreen>(200, "This is shown.")],
        )
        .query::<terminals::Screen>(),
        Route::new(
            "get",
            "/v1/terminals/{terminal}/output",
            ("readOutput", "Reads what was printed, from a cursor on."),
            get(terminals::output),
            vec![json::<TerminalOutput>(200, "This was printed; it may be nothing.")],
        )
        .query::<terminals::Output>(),
    ]
}

fn of_watching() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            "/v1/watch",
            (
                "listWatchableTerminals",
                "Lists the terminals of the caller's session that can be watched, whichever plugin opened them.",
            ),
            get(watch::list),
            vec![json::<watch::Watchable>(200, "These are there.")],
        ),
        Route::new(
            "get",
            "/v1/watch/{terminal}",
            (
                "watchTerminal",
                "Shows a terminal of the caller's session live: the whole screen first, then the bytes as they come.",
            ),
            get(watch::watch),
            vec![Answer { status: 200, what: "What it shows.", content: Content::Events(watch::EVENTS) }],
        )
        .query::<streams::Resume>()
        .resumes(),
    ]
}

fn of_streams() -> Vec<Route> {
    let stream = "/v1/streams/{stream}";
    vec![
        Route::new(
            "get",
            "/v1/streams",
            ("listStreams", "Lists the streams that the caller may read."),
            get(streams::list),
            vec![json::<streams::StreamList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            stream,
            ("readStream", "Reads events of a stream, for clients that do not take server-sent events."),
            get(streams::read),
            vec![json::<streams::StreamPage>(200, "These events came; it may be none.")],
        )
        .query::<streams::Page>(),
        Route::new(
            "delete",
            stream,
            ("deleteStream", "Ends a stream and forgets it. That of a terminal ends with the terminal."),
            delete(streams::delete),
            vec![json::<StreamInfo>(200, "So it ended.")],
        ),
        Route::new(
            "get",
            "/v1/streams/{stream}/events",
            ("followStream", "Follows a stream from its oldest event on, or from behind the last one that was read."),
            get(streams::follow),
            vec![events("Its events."), done("It has ended, and all of it was read.")],
        )
        .query::<streams::Resume>()
        .resumes(),
    ]
}

/// All routes behind the guard.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    let router = table().into_iter().fold(Router::new(), |router, route| {
        // The protocol traces its requests itself, and who needs no token is nobody's business.
        let is_traced = route.path != MCP && !route.is_open();
        let Route { path, handler, .. } = route;
        router.route(path, if is_traced { traced::traced(path, handler, &shared) } else { handler })
    });
    router
        .fallback(|| async {
            Failure::from(Error::new(Code::NotFound, "there is no such route; see /v1/openapi.json"))
        })
        .method_not_allowed_fallback(|| async {
            let message = "this route does not take this method; see /v1/openapi.json";
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, Code::Invalid, message)
        })
        .layer(from_fn_with_state(Arc::clone(&shared), guard::check))
        .with_state(shared)
}

async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}

async fn describe(State(shared): State<Arc<Shared>>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], shared.description.clone()).into_response()
}
