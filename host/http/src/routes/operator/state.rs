//! What plugins keep: counted, exported, cleared.

use axum::{
    Json,
    response::Response,
    routing::{get, post},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wharf_core::{
    Code, Error, ScopeKind,
    service::operator::{BucketsReport, OperatorList, OperatorRequest, StateReport, StateSelection},
};

use super::asking::{Operator, attachment, listing};
use crate::{
    failure::HttpFailure,
    request::{body::JsonBody, parameters::QueryParameters},
    routes::route::{self, AnswerContent, Route, RouteAnswer},
};

const LINES: &str = "application/jsonl";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            "/v1/operator/state",
            (
                "listState",
                "Lists what plugins keep in their state, by tenant, plugin and scope, which is counted for it: the largest \
                 1,000.",
            ),
            listing(OperatorList::State),
            vec![route::json::<StateList>(200, "So much is kept.")],
        ),
        Route::new(
            "get",
            "/v1/operator/state/buckets",
            (
                "listBuckets",
                "Lists the buckets in which plugins keep state of a tenant, with their assistants and threads: the first \
                 1,000.",
            ),
            get(buckets),
            vec![route::json::<BucketsReport>(200, "These have content.")],
        )
        .query::<SelectionRequest>(),
        Route::new(
            "get",
            "/v1/operator/state/export",
            (
                "exportState",
                "Exports what plugins keep of a tenant, as `wharf state export` does, 16 MiB at most: lines of JSON with \
                 everything in the clear.",
            ),
            get(export),
            vec![RouteAnswer { status: 200, what: "The lines.", content: AnswerContent::Text(LINES) }],
        )
        .query::<SelectionRequest>(),
        Route::new(
            "post",
            "/v1/operator/state/clear",
            (
                "clearState",
                "Removes what plugins keep of a tenant, for good, as `wharf state clear` does. Name a plugin or a session, \
                 too.",
            ),
            post(clear),
            vec![route::json::<ClearedState>(200, "So much went.")],
        )
        .body::<SelectionRequest>(),
    ]
}

/// What plugins keep.
#[derive(Serialize, JsonSchema)]
struct StateList {
    /// The largest first.
    state: Vec<StateReport>,
}

/// Which of what plugins keep.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SelectionRequest {
    /// Of whom.
    tenant: String,
    /// What this plugin wrote; all where absent.
    plugin: Option<String>,
    /// Of this scope; of all where absent.
    scope: Option<ScopeKind>,
    /// Of this session and its threads; of all where absent.
    session: Option<String>,
}

impl SelectionRequest {
    fn read(self) -> Result<StateSelection, Error> {
        let Self { tenant, plugin, scope, session } = self;
        let plugin = plugin.map(|plugin| plugin.parse()).transpose();
        Ok(StateSelection {
            tenant: tenant.parse()?,
            plugin: plugin.map_err(|_| Error::new(Code::Invalid, "`plugin` is no name of a plugin"))?,
            scope,
            session: session.map(|session| session.parse()).transpose()?,
        })
    }
}

/// What went.
#[derive(Serialize, JsonSchema)]
struct ClearedState {
    /// How many entries.
    entries: u64,
}

async fn buckets(
    operator: Operator,
    QueryParameters(selection): QueryParameters<SelectionRequest>,
) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::Buckets(selection.read()?)).await
}

async fn export(
    operator: Operator,
    QueryParameters(selection): QueryParameters<SelectionRequest>,
) -> Result<Response, HttpFailure> {
    let Json(lines) = operator.operate(OperatorRequest::ExportState(selection.read()?)).await?;
    let lines = lines.as_str().unwrap_or_default().to_owned();
    Ok(attachment(LINES, "attachment; filename=\"wharf-state.jsonl\"", lines))
}

async fn clear(
    operator: Operator,
    JsonBody { value: selection, .. }: JsonBody<SelectionRequest>,
) -> Result<Json<ClearedState>, HttpFailure> {
    let selection = selection.read()?;
    if selection.plugin.is_none() && selection.session.is_none() {
        return Err(Error::new(Code::Invalid, "name the plugin or the session whose state goes").into());
    }
    let Json(entries) = operator.operate(OperatorRequest::ClearState(selection)).await?;
    Ok(Json(ClearedState { entries: entries.as_u64().unwrap_or(0) }))
}
