//! What the routes of front ends do: they ask the service, as the client whose
//! token was shown. No context of theirs matters: a front end serves every
//! session of its tenant.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{FromRequestParts, State},
    http::{HeaderMap, StatusCode, request::Parts},
    response::Response,
    routing::{delete, get, post},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_core::{
    Code, Error, FrontEndService,
    service::front_end::{
        AnswerCall, ConnectFrontEnd, FrontEndDescription, FrontEndEvent, FrontEndOwner, TellProgress,
    },
};

use super::{
    event_stream::{FrameSource, Frames, event_stream},
    paths::FRONT_ENDS,
    route::{AnswerContent, Route, RouteAnswer, done, json, located},
};
use crate::{
    access::client::ClientAccount,
    failure::HttpFailure,
    request::{
        body::JsonBody,
        parameters::{PathHandle, PathHandleAndNumber, QueryParameters},
        resume::ResumeQuery,
    },
    state::ServerState,
};

const EVENTS: &str = "Server-sent events: `call` and `cancel`, with the number of the event as `id` and its `data` as \
                      JSON; a client that comes back sends the last one as `Last-Event-ID`, and is told of every call \
                      behind it that still waits. `end` without an `id` says that the front end was disconnected. \
                      Comments keep the connection alive.";

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    let followed =
        RouteAnswer { status: 200, what: "Its calls, as they come.", content: AnswerContent::Events(EVENTS) };
    vec![
        Route::new(
            "post",
            FRONT_ENDS,
            (
                "connectFrontEnd",
                "Connects a front end: its tools are listed for its tenant as `app_NAME__TOOL`, for as long as it \
                 follows its calls or asks for them.",
            ),
            post(connect),
            vec![json::<FrontEndDescription>(201, "It is connected.")],
        )
        .body::<ConnectFrontEnd>(),
        Route::new(
            "get",
            FRONT_ENDS,
            ("listFrontEnds", "Lists the front ends that this token has connected."),
            get(list),
            vec![json::<FrontEndList>(200, "These are there.")],
        ),
        Route::new(
            "delete",
            "/v1/front-ends/{front_end}",
            ("disconnectFrontEnd", "Disconnects a front end: its tools are gone, its waiting calls end with `gone`."),
            delete(disconnect),
            vec![done("It is gone.")],
        ),
        Route::new(
            "get",
            "/v1/front-ends/{front_end}/calls",
            ("readCalls", "Reads the calls of a front end, for clients that do not take server-sent events."),
            get(read),
            vec![json::<CallPage>(200, "These events came; it may be none.")],
        )
        .query::<CallPageQuery>(),
        Route::new(
            "get",
            "/v1/front-ends/{front_end}/calls/events",
            ("followCalls", "Follows the calls of a front end."),
            get(follow),
            vec![followed],
        )
        .query::<ResumeQuery>()
        .resumes(),
        Route::new(
            "post",
            "/v1/front-ends/{front_end}/calls/{call}/answer",
            (
                "answerCall",
                "Answers a call. Where the answer is refused the call still waits, and can be answered anew.",
            ),
            post(answer),
            vec![done("It is answered.")],
        )
        .body::<AnswerCall>(),
        Route::new(
            "post",
            "/v1/front-ends/{front_end}/calls/{call}/progress",
            ("tellProgress", "Tells the client of a call how far it has come."),
            post(progress),
            vec![done("It is told.")],
        )
        .body::<TellProgress>(),
    ]
}

/// The front ends of the caller.
#[derive(Serialize, JsonSchema)]
struct FrontEndList {
    /// By name.
    front_ends: Vec<FrontEndDescription>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CallPageQuery {
    /// The number of the last event that was read; 0 where absent, and then all
    /// calls that wait are told.
    #[serde(default)]
    after: u64,
    /// How long to wait for one, in milliseconds; not at all where absent.
    #[serde(default)]
    wait_ms: u64,
}

/// Some events of a front end.
#[derive(Serialize, JsonSchema)]
struct CallPage {
    /// In order.
    events: Vec<FrontEndEvent>,
    /// What to send as `after` next.
    after: u64,
}

/// The front ends, and the owner in whose name this request asks for them.
struct FrontEndCaller {
    service: Arc<dyn FrontEndService>,
    owner: FrontEndOwner,
}

impl FromRequestParts<Arc<ServerState>> for FrontEndCaller {
    type Rejection = HttpFailure;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        let client = parts.extensions.get::<Arc<ClientAccount>>();
        let owner = client.and_then(|client| client.owner()).ok_or_else(|| {
            let told = "this token may not connect front ends; the operator allows it with `front_ends = true`";
            Error::new(Code::Denied, told)
        })?;
        let absent = || Error::new(Code::NotFound, "this server has no front ends");
        Ok(Self { service: server.front_ends.clone().ok_or_else(absent)?, owner })
    }
}

fn gone() -> HttpFailure {
    Error::new(Code::Gone, "this front end was disconnected; connect it again").into()
}

async fn connect(
    caller: FrontEndCaller,
    JsonBody { value: wanted, .. }: JsonBody<ConnectFrontEnd>,
) -> Result<Response, HttpFailure> {
    let connected = caller.service.connect(&caller.owner, wanted).await?;
    Ok(located(StatusCode::CREATED, format!("{FRONT_ENDS}/{}", connected.front_end), connected))
}

async fn list(caller: FrontEndCaller) -> Json<FrontEndList> {
    Json(FrontEndList { front_ends: caller.service.list(&caller.owner).await })
}

async fn disconnect(caller: FrontEndCaller, PathHandle(front_end): PathHandle) -> Result<StatusCode, HttpFailure> {
    caller.service.disconnect(&caller.owner, &front_end).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn read(
    State(server): State<Arc<ServerState>>,
    caller: FrontEndCaller,
    PathHandle(front_end): PathHandle,
    QueryParameters(page): QueryParameters<CallPageQuery>,
) -> Result<Json<CallPage>, HttpFailure> {
    let events = |patience| caller.service.events(&caller.owner, &front_end, page.after, patience);
    let events = server.wait(&caller.owner.tenant, page.wait_ms, events).await?.ok_or_else(gone)?;
    let after = events.last().map_or(page.after, FrontEndEvent::number);
    Ok(Json(CallPage { events, after }))
}

async fn follow(
    State(server): State<Arc<ServerState>>,
    caller: FrontEndCaller,
    PathHandle(front_end): PathHandle,
    QueryParameters(resume): QueryParameters<ResumeQuery>,
    headers: HeaderMap,
) -> Result<Response, HttpFailure> {
    let after = resume.last(&headers)?;
    let place = server.reader_permit(&caller.owner.tenant)?;
    // An answer, and no stream that fails at once.
    caller.service.events(&caller.owner, &front_end, u64::MAX, Duration::ZERO).await?.ok_or_else(gone)?;
    Ok(event_stream(server, place, CallFollower { caller, front_end, after }))
}

async fn answer(
    caller: FrontEndCaller,
    PathHandleAndNumber(front_end, call): PathHandleAndNumber,
    JsonBody { value: answer, .. }: JsonBody<AnswerCall>,
) -> Result<StatusCode, HttpFailure> {
    caller.service.answer(&caller.owner, &front_end, call, answer).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn progress(
    caller: FrontEndCaller,
    PathHandleAndNumber(front_end, call): PathHandleAndNumber,
    JsonBody { value: progress, .. }: JsonBody<TellProgress>,
) -> Result<StatusCode, HttpFailure> {
    caller.service.progress(&caller.owner, &front_end, call, progress)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Calls as server-sent events. What is told follows from the calls that wait:
/// a slow client keeps nothing here but one batch.
struct CallFollower {
    caller: FrontEndCaller,
    front_end: String,
    after: u64,
}

impl FrameSource for CallFollower {
    async fn next(&mut self, heartbeat: Duration) -> Option<Frames> {
        let FrontEndCaller { service, owner } = &self.caller;
        let events = service.events(owner, &self.front_end, self.after, heartbeat).await;
        let Some(events) = events.ok().flatten() else {
            return Some(Frames::last("event: end\ndata: {\"reason\":\"disconnected\"}\n\n".to_owned()));
        };
        if events.is_empty() {
            return Some(Frames::heartbeat());
        }
        self.after = events.last().map_or(self.after, FrontEndEvent::number);
        let frames = events.iter().fold(String::new(), |mut frames, event| {
            // JSON has no line breaks of its own.
            let data = serde_json::to_string(event).unwrap_or_default();
            let _ = write!(frames, "id: {}\nevent: {}\ndata: {data}\n\n", event.number(), event.kind());
            frames
        });
        Some(Frames::new(frames))
    }
}
