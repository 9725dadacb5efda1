//! Routes of processes: listed, looked at, read, ended.

use axum::{
    Json,
    routing::{delete, get},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wharf_core::service::operator::{
    OperatorList, OperatorRequest, ProcessLookReport, ProcessOutput, ProcessReport, ProcessStream,
};

use super::asking::{GraceQuery, Operator, listing};
use crate::{
    failure::HttpFailure,
    request::parameters::{PathHandle, QueryParameters},
    routes::route::{self, Route},
};

const USUAL_OUTPUT_BYTES: usize = 64 << 10;
const MOST_OUTPUT_BYTES: usize = 256 << 10;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            "/v1/operator/processes",
            ("listAllProcesses", "Lists the processes of all plugins, the newest 1,000."),
            listing(OperatorList::Processes),
            vec![route::json::<ProcessList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            "/v1/operator/processes/{process}/output",
            (
                "readProcessOutput",
                "Reads what a process has printed: the end of it, or from a cursor on. This counts as no poll.",
            ),
            get(process_output),
            vec![route::json::<ProcessOutput>(200, "This was printed; it may be nothing.")],
        )
        .query::<OutputQuery>(),
        Route::new(
            "get",
            "/v1/operator/processes/{process}",
            (
                "lookAtProcess",
                "Tells what a process may use up and reach, and all that runs of it. This counts as no poll.",
            ),
            get(look),
            vec![route::json::<ProcessLookReport>(200, "So it is.")],
        ),
        Route::new(
            "delete",
            "/v1/operator/processes/{process}",
            ("stopProcess", "Ends a process and all that it started: asked first, then killed."),
            delete(stop_process),
            vec![route::json::<ProcessReport>(200, "So it ended.")],
        )
        .query::<GraceQuery>(),
    ]
}

/// The processes.
#[derive(Serialize, JsonSchema)]
struct ProcessList {
    /// In the order in which they were started.
    processes: Vec<ProcessReport>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutputQuery {
    /// Which of what it prints.
    #[serde(default)]
    stream: ProcessStream,
    /// The cursor of the first byte; the end of the output where absent.
    from: Option<u64>,
    /// How much to return at most; 64 KiB where absent, 256 KiB at most.
    max_bytes: Option<usize>,
}

async fn look(operator: Operator, PathHandle(process): PathHandle) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::LookAtProcess { process }).await
}

async fn process_output(
    operator: Operator,
    PathHandle(process): PathHandle,
    QueryParameters(OutputQuery { stream, from, max_bytes }): QueryParameters<OutputQuery>,
) -> Result<Json<Value>, HttpFailure> {
    let bytes = max_bytes.unwrap_or(USUAL_OUTPUT_BYTES).min(MOST_OUTPUT_BYTES);
    operator.operate(OperatorRequest::ProcessOutput { process, stream, from, bytes }).await
}

async fn stop_process(
    operator: Operator,
    PathHandle(process): PathHandle,
    QueryParameters(query): QueryParameters<GraceQuery>,
) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::StopProcess { process, grace: query.grace() }).await
}
