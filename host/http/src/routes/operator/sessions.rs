//! Sessions, by what each has: ended, and their files taken away or removed.

use axum::{
    Json,
    body::Body,
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use futures_util::stream::unfold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_core::{
    Error, SessionId, TenantId,
    service::operator::{OperatorList, OperatorRequest, SessionReport},
};

use super::asking::{Operator, attachment, listing};
use crate::{
    failure::HttpFailure,
    request::{body::JsonBody, parameters::QueryParameters},
    routes::route::{self, AnswerContent, Route, RouteAnswer, done},
};

const ARCHIVE: &str = "application/x-tar";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            "/v1/operator/sessions",
            ("listSessions", "Lists the sessions that have anything, with the sizes of their files, which are measured for it."),
            listing(OperatorList::Sessions),
            vec![route::json::<SessionList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            "/v1/operator/sessions/files",
            (
                "archiveSessionFiles",
                "Takes away the files of a session as a tar, while programs may change them. Two are made at a time.",
            ),
            get(files),
            vec![RouteAnswer { status: 200, what: "The archive.", content: AnswerContent::Bytes(ARCHIVE) }],
        )
        .query::<SessionRequest>(),
        Route::new(
            "post",
            "/v1/operator/sessions/end",
            (
                "stopSession",
                "Ends what a session runs at each host: calls, processes, terminals, pages. Its files and its state stay.",
            ),
            post(end_session),
            vec![route::json::<EndedSession>(200, "So much ended.")],
        )
        .body::<SessionRequest>(),
        Route::new(
            "post",
            "/v1/operator/sessions/remove-files",
            ("removeSessionFiles", "Removes the files of a session; `conflict` while anything uses them."),
            post(remove_files),
            vec![done("They are gone.")],
        )
        .body::<SessionRequest>(),
    ]
}

/// The sessions.
#[derive(Serialize, JsonSchema)]
struct SessionList {
    /// By tenant and id.
    sessions: Vec<SessionReport>,
}

/// A session, by its tenant and its id, as they are listed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionRequest {
    /// Whose it is.
    tenant: String,
    /// Which.
    session: String,
}

impl SessionRequest {
    fn read(self) -> Result<(TenantId, SessionId), Error> {
        Ok((self.tenant.parse()?, self.session.parse()?))
    }
}

/// What ended of a session.
#[derive(Serialize, JsonSchema)]
struct EndedSession {
    /// How many calls, processes, terminals and pages.
    ended: u64,
}

async fn files(
    operator: Operator,
    QueryParameters(session): QueryParameters<SessionRequest>,
) -> Result<Response, HttpFailure> {
    let (tenant, session) = session.read()?;
    let pieces = operator.files(&tenant, &session).await?;
    let body = Body::from_stream(unfold(pieces, async |mut pieces| pieces.recv().await.map(|piece| (piece, pieces))));
    Ok(attachment(ARCHIVE, "attachment; filename=\"wharf-session.tar\"", body))
}

async fn end_session(
    operator: Operator,
    JsonBody { value: session, .. }: JsonBody<SessionRequest>,
) -> Result<Json<EndedSession>, HttpFailure> {
    let (tenant, session) = session.read()?;
    let Json(ended) = operator.operate(OperatorRequest::EndSession { tenant, session }).await?;
    Ok(Json(EndedSession { ended: ended.as_u64().unwrap_or(0) }))
}

async fn remove_files(
    operator: Operator,
    JsonBody { value: session, .. }: JsonBody<SessionRequest>,
) -> Result<StatusCode, HttpFailure> {
    let (tenant, session) = session.read()?;
    operator.done(OperatorRequest::RemoveFiles { tenant, session }).await
}
