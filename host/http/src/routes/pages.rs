//! What the routes of web pages do: they ask the service, in the caller's context.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{FromRequestParts, State},
    http::{StatusCode, request::Parts},
    response::Response,
    routing::{delete, get, post},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_core::{
    Code, Context, Error, WebPageService,
    service::web_page::{
        AnswerDialog, ExecuteScript, OpenWebPage, PageLog, PageOutcome, PageRequest, PageRequestDescription,
        PageResultPiece, PerformOperation, ReadLog, ReadResult, WebPageDescription,
    },
};

use super::{
    paths::PAGES,
    route::{Route, done, json, located},
};
use crate::{
    failure::HttpFailure,
    request::{
        body::JsonBody,
        context::RequestContext,
        parameters::{PathHandle, PathHandlePair, QueryParameters},
    },
    state::ServerState,
};

const PAGE: &str = "/v1/pages/{page}";
const REQUEST: &str = "/v1/pages/{page}/requests/{request}";

/// What one answer holds at most.
const MOST_RESULT_BYTES: usize = 1 << 20;
const MOST_ENTRIES: usize = 1_000;
const USUAL_ENTRIES: usize = 100;

/// How long a browser may take to close a page, and a page to send what it has kept.
const CLOSING: Duration = Duration::from_secs(10);
const READING: Duration = Duration::from_secs(10);

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = of_pages();
    routes.extend(of_requests());
    routes
}

fn of_pages() -> Vec<Route> {
    vec![
        Route::new(
            "post",
            PAGES,
            ("openPage", "Opens a web page, empty at first. What is asked of it before it is open waits for that."),
            post(open),
            vec![json::<WebPageDescription>(201, "It is being opened.")],
        )
        .body::<OpenWebPage>(),
        Route::new(
            "get",
            PAGES,
            ("listPages", "Lists the caller's web pages."),
            get(list),
            vec![json::<PageList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            PAGE,
            ("getPage", "Tells how a web page is."),
            get(info),
            vec![json::<WebPageDescription>(200, "So it is.")],
        ),
        Route::new(
            "delete",
            PAGE,
            ("closePage", "Closes a web page; its pending requests fail with `cancelled`."),
            delete(close),
            vec![json::<WebPageDescription>(200, "So it ended.")],
        ),
        Route::new(
            "post",
            "/v1/pages/{page}/scripts",
            ("executeScript", "Hands over a script. Poll its outcome by the id of the request."),
            post(execute),
            vec![json::<PageRequest>(202, "It was handed over.")],
        )
        .body::<ExecuteScript>(),
        Route::new(
            "post",
            "/v1/pages/{page}/operations",
            ("performOperation", "Hands over an operation, such as `navigate`, in the same way."),
            post(perform),
            vec![json::<PageRequest>(202, "It was handed over.")],
        )
        .body::<PerformOperation>(),
        Route::new(
            "post",
            "/v1/pages/{page}/dialog",
            ("answerDialog", "Answers the dialog that waits."),
            post(answer_dialog),
            vec![done("It is answered.")],
        )
        .body::<AnswerDialog>(),
        Route::new(
            "get",
            "/v1/pages/{page}/logs/{log}",
            ("readPageLog", "Reads the log `console`, `network` or `downloads` of a page."),
            get(log),
            vec![json::<PageLog>(200, "These entries came; it may be none.")],
        )
        .query::<LogQuery>(),
    ]
}

fn of_requests() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            "/v1/pages/{page}/requests",
            ("listPageRequests", "Lists the requests of a page that are pending or whose results are kept."),
            get(requests),
            vec![json::<PageRequestList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            REQUEST,
            (
                "pollPageRequest",
                "Tells the outcome of a request so far. Waits for its end as long as `wait_ms` says, and no longer \
                 where a dialog waits for an answer.",
            ),
            get(poll),
            vec![json::<PageOutcome>(200, "So it stands.")],
        )
        .query::<PollQuery>(),
        Route::new(
            "get",
            "/v1/pages/{page}/requests/{request}/result",
            ("readPageResult", "Reads a piece of a result, from a byte on."),
            get(read_result),
            vec![json::<PageResultPiece>(200, "The piece; empty at the end.")],
        )
        .query::<ResultQuery>(),
        Route::new(
            "post",
            "/v1/pages/{page}/requests/{request}/cancel",
            ("cancelPageRequest", "Ends a request that is pending, and stops its script where that can be done."),
            post(cancel),
            vec![done("It has ended.")],
        ),
        Route::new(
            "delete",
            REQUEST,
            ("acknowledgePageRequest", "Lets go of the result of a request that has ended."),
            delete(acknowledge),
            vec![done("It is not kept any more; one that is pending is as it was.")],
        ),
    ]
}

/// The web pages of the caller.
#[derive(Serialize, JsonSchema)]
struct PageList {
    /// In the order in which they were opened; closed ones that are remembered
    /// included.
    pages: Vec<WebPageDescription>,
}

/// The requests of a page.
#[derive(Serialize, JsonSchema)]
struct PageRequestList {
    /// The newest first.
    requests: Vec<PageRequestDescription>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PollQuery {
    /// How long to wait for its end, in milliseconds; not at all where absent.
    #[serde(default)]
    wait_ms: u64,
    /// How many bytes of the result to return at most; 1 MiB where absent, and at
    /// most.
    max_bytes: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResultQuery {
    /// The first byte.
    #[serde(default)]
    from: u64,
    /// How many bytes to return at most; 1 MiB where absent, and at most.
    max_bytes: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LogQuery {
    /// The number of the last entry that was read; 0 where absent.
    #[serde(default)]
    after: u64,
    /// How many entries to return at most; 100 where absent, 1,000 at most.
    max_entries: Option<usize>,
}

/// The pages, and on whose behalf this request asks for them.
struct WebPageCaller {
    service: Arc<dyn WebPageService>,
    context: Context,
}

impl FromRequestParts<Arc<ServerState>> for WebPageCaller {
    type Rejection = HttpFailure;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        let RequestContext(context) = RequestContext::from_request_parts(parts, server).await?;
        let absent = || Error::new(Code::NotFound, "this server has no web pages");
        Ok(Self { service: server.pages.clone().ok_or_else(absent)?, context })
    }
}

async fn open(
    caller: WebPageCaller,
    JsonBody { value: request, .. }: JsonBody<OpenWebPage>,
) -> Result<Response, HttpFailure> {
    let opened = caller.service.open(&caller.context, request).await?;
    Ok(located(StatusCode::CREATED, format!("{PAGES}/{}", opened.page), opened))
}

async fn list(caller: WebPageCaller) -> Result<Json<PageList>, HttpFailure> {
    Ok(Json(PageList { pages: caller.service.list(&caller.context).await? }))
}

async fn info(caller: WebPageCaller, PathHandle(page): PathHandle) -> Result<Json<WebPageDescription>, HttpFailure> {
    Ok(Json(caller.service.info(&caller.context, &page).await?))
}

async fn close(caller: WebPageCaller, PathHandle(page): PathHandle) -> Result<Json<WebPageDescription>, HttpFailure> {
    Ok(Json(caller.service.close(&caller.context, &page, CLOSING).await?))
}

async fn execute(
    caller: WebPageCaller,
    PathHandle(page): PathHandle,
    JsonBody { value: request, .. }: JsonBody<ExecuteScript>,
) -> Result<Response, HttpFailure> {
    Ok(handed_over(&page, caller.service.execute(&caller.context, &page, request).await?))
}

async fn perform(
    caller: WebPageCaller,
    PathHandle(page): PathHandle,
    JsonBody { value: request, .. }: JsonBody<PerformOperation>,
) -> Result<Response, HttpFailure> {
    Ok(handed_over(&page, caller.service.perform(&caller.context, &page, request).await?))
}

fn handed_over(page: &str, request: PageRequest) -> Response {
    located(StatusCode::ACCEPTED, format!("{PAGES}/{page}/requests/{}", request.request), request)
}

async fn answer_dialog(
    caller: WebPageCaller,
    PathHandle(page): PathHandle,
    JsonBody { value: answer, .. }: JsonBody<AnswerDialog>,
) -> Result<StatusCode, HttpFailure> {
    caller.service.answer_dialog(&caller.context, &page, answer).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn log(
    caller: WebPageCaller,
    PathHandlePair(page, log): PathHandlePair,
    QueryParameters(entries): QueryParameters<LogQuery>,
) -> Result<Json<PageLog>, HttpFailure> {
    let maximum_entries = entries.max_entries.unwrap_or(USUAL_ENTRIES).min(MOST_ENTRIES);
    let read = ReadLog { log, after: entries.after, maximum_entries };
    Ok(Json(caller.service.log(&caller.context, &page, read).await?))
}

async fn requests(caller: WebPageCaller, PathHandle(page): PathHandle) -> Result<Json<PageRequestList>, HttpFailure> {
    Ok(Json(PageRequestList { requests: caller.service.requests(&caller.context, &page).await? }))
}

async fn poll(
    State(server): State<Arc<ServerState>>,
    caller: WebPageCaller,
    PathHandlePair(page, request): PathHandlePair,
    QueryParameters(poll): QueryParameters<PollQuery>,
) -> Result<Json<PageOutcome>, HttpFailure> {
    let most = most(poll.max_bytes);
    let WebPageCaller { service, context } = &caller;
    let outcome = |patience| service.poll(context, &page, &request, most, patience);
    Ok(Json(server.wait(&context.tenant, poll.wait_ms, outcome).await?))
}

async fn read_result(
    State(server): State<Arc<ServerState>>,
    caller: WebPageCaller,
    PathHandlePair(page, request): PathHandlePair,
    QueryParameters(piece): QueryParameters<ResultQuery>,
) -> Result<Json<PageResultPiece>, HttpFailure> {
    // The page is asked for what it has kept, and may take its time.
    let _place = server.reader_permit(&caller.context.tenant)?;
    let read = ReadResult { from: piece.from, maximum_bytes: most(piece.max_bytes), patience: READING };
    Ok(Json(caller.service.read_result(&caller.context, &page, &request, read).await?))
}

async fn cancel(
    caller: WebPageCaller,
    PathHandlePair(page, request): PathHandlePair,
) -> Result<StatusCode, HttpFailure> {
    caller.service.cancel(&caller.context, &page, &request).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn acknowledge(
    caller: WebPageCaller,
    PathHandlePair(page, request): PathHandlePair,
) -> Result<StatusCode, HttpFailure> {
    caller.service.acknowledge(&caller.context, &page, &request).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn most(asked: Option<usize>) -> usize {
    asked.unwrap_or(MOST_RESULT_BYTES).min(MOST_RESULT_BYTES)
}
