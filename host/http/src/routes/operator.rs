//! The routes of the operator: what the host does for all tenants, and what a person may do about
//! it. The guard lets nobody here whose token may not operate the host; this file knows nothing of it.

mod asking;
mod events;
mod pages;
mod plugins;
mod processes;
mod sessions;
mod state;
mod terminal;

use axum::{
    Json,
    http::StatusCode,
    routing::{delete, get, post},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wharf_core::service::operator::{
    ApprovalAnswer, ApprovalReport, AuditQuery, CallReport, ClusterHostReport, HostReport, OperatorList,
    OperatorRequest, StreamReport,
};

use self::asking::{Operator, listing};
use super::route::{self, Route, done};
use crate::{
    failure::HttpFailure,
    request::{
        body::JsonBody,
        parameters::{PathHandle, QueryParameters},
    },
};

/// The routes of this file and of those below.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = lists();
    routes.extend(acts());
    routes.extend(pages::routes());
    routes.extend(plugins::routes());
    routes.extend(processes::routes());
    routes.extend(sessions::routes());
    routes.extend(state::routes());
    routes.extend(terminal::routes());
    routes.push(events::route());
    routes.push(super::metrics::route_of_operator());
    routes
}

fn lists() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            "/v1/operator/hosts",
            ("listHosts", "Lists the hosts on this data directory, and how each is; the one that answers is the first."),
            listing(OperatorList::Hosts),
            vec![route::json::<HostList>(200, "These serve.")],
        ),
        Route::new(
            "get",
            "/v1/operator/calls",
            ("listRunningCalls", "Lists the calls that run now, of all tenants."),
            listing(OperatorList::Calls),
            vec![route::json::<CallList>(200, "These run.")],
        ),
        Route::new(
            "get",
            "/v1/operator/streams",
            ("listAllStreams", "Lists the streams of events of all plugins, ended ones that are kept included."),
            listing(OperatorList::Streams),
            vec![route::json::<StreamList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            "/v1/operator/approvals",
            ("listWaitingCalls", "Lists the calls that wait until a person allows them, or what they ask for."),
            listing(OperatorList::Approvals),
            vec![route::json::<ApprovalList>(200, "These wait.")],
        ),
        Route::new(
            "get",
            "/v1/operator/cluster",
            ("listClusterHosts", "Lists the hosts of the cluster, those that died within the last hour included."),
            listing(OperatorList::Cluster),
            vec![route::json::<ClusterList>(200, "These are there; none where this host is in no cluster.")],
        ),
        Route::new(
            "get",
            "/v1/operator/audit",
            (
                "readAudit",
                "Reads lines of the audit, those of the last 24 hours where `since` is absent; one request reads at a time.",
            ),
            get(audit),
            vec![route::json::<AuditLines>(200, "These match, the oldest first.")],
        )
        .query::<AuditQuery>(),
    ]
}

fn acts() -> Vec<Route> {
    vec![
        Route::new(
            "delete",
            "/v1/operator/calls/{call}",
            ("cancelCall", "Ends a call: its caller gets `cancelled`."),
            delete(cancel_call),
            vec![done("It is told to end.")],
        ),
        Route::new(
            "post",
            "/v1/operator/cluster/{host}/drain",
            ("drainClusterHost", "Has a host of the cluster take no further session, or take some again."),
            post(drain),
            vec![done("It hears of it within a second.")],
        )
        .body::<DrainRequest>(),
        Route::new(
            "post",
            "/v1/operator/approvals/{approval}",
            ("answerWaitingCall", "Allows a call that waits, or what it asks for, or refuses it."),
            post(answer),
            vec![route::json::<ApprovalReport>(200, "It was this one.")],
        )
        .body::<AnswerRequest>(),
    ]
}

/// The hosts.
#[derive(Serialize, JsonSchema)]
struct HostList {
    /// Those on one data directory.
    hosts: Vec<HostReport>,
}

/// The hosts of a cluster.
#[derive(Serialize, JsonSchema)]
struct ClusterList {
    /// By name.
    cluster: Vec<ClusterHostReport>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DrainRequest {
    /// Whether it takes no further session.
    draining: bool,
}

/// The calls that run.
#[derive(Serialize, JsonSchema)]
struct CallList {
    /// Those that began first before others.
    calls: Vec<CallReport>,
}

/// The streams of events.
#[derive(Serialize, JsonSchema)]
struct StreamList {
    /// The oldest first.
    streams: Vec<StreamReport>,
}

/// The calls that wait for a person.
#[derive(Serialize, JsonSchema)]
struct ApprovalList {
    /// Those that have waited for longest first.
    approvals: Vec<ApprovalReport>,
}

/// Lines of the audit.
#[derive(Serialize, JsonSchema)]
struct AuditLines {
    /// As `wharf audit --json` prints them.
    lines: Vec<Value>,
}

/// What a person says of a call that waits.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerRequest {
    /// `once`, `session`, or `{"refuse": REASON}`, whose reason the agent reads.
    answer: ApprovalAnswer,
}

async fn cancel_call(operator: Operator, PathHandle(call): PathHandle) -> Result<StatusCode, HttpFailure> {
    operator.done(OperatorRequest::CancelCall { call }).await
}

async fn drain(
    operator: Operator,
    PathHandle(host): PathHandle,
    JsonBody { value: DrainRequest { draining }, .. }: JsonBody<DrainRequest>,
) -> Result<StatusCode, HttpFailure> {
    operator.done(OperatorRequest::DrainHost { host, is_draining: draining }).await
}

async fn answer(
    operator: Operator,
    PathHandle(approval): PathHandle,
    JsonBody { value: AnswerRequest { answer }, .. }: JsonBody<AnswerRequest>,
) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::Answer { approval, answer }).await
}

async fn audit(
    operator: Operator,
    QueryParameters(query): QueryParameters<AuditQuery>,
) -> Result<Json<Value>, HttpFailure> {
    let Json(lines) = operator.operate(OperatorRequest::Audit(Box::new(query))).await?;
    Ok(Json(json!({ "lines": lines })))
}
