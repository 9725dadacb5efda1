//! What the routes of web pages do: they ask the service, in the caller's context.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{FromRequestParts, State},
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
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
    route::{Route, done, json},
};
use crate::{
    failure::Failure,
    request::{
        body::Body,
        context::Caller,
        parameters::{Handle, Handles, Parameters},
    },
    state::Shared,
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
            ("executeScript", "Hands over a script. What came of it is polled by the id of the request."),
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
        .query::<Entries>(),
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
                "Tells what came of a request so far. Waits for its end as long as `wait_ms` says, and no longer \
                 where a dialog waits for an answer.",
            ),
            get(poll),
            vec![json::<PageOutcome>(200, "So it stands.")],
        )
        .query::<Poll>(),
        Route::new(
            "get",
            "/v1/pages/{page}/requests/{request}/result",
            ("readPageResult", "Reads a piece of a result, from a byte on."),
            get(read_result),
            vec![json::<PageResultPiece>(200, "The piece; empty at the end.")],
        )
        .query::<Piece>(),
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
struct Poll {
    /// How long to wait for its end, in milliseconds; not at all where absent.
    #[serde(default)]
    wait_ms: u64,
    /// How many bytes of the result to return at most; 1 MiB where absent, and at
    /// most.
    max_bytes: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Piece {
    /// The first byte.
    #[serde(default)]
    from: u64,
    /// How many bytes to return at most; 1 MiB where absent, and at most.
    max_bytes: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entries {
    /// The number of the last entry that was read; 0 where absent.
    #[serde(default)]
    after: u64,
    /// How many entries to return at most; 100 where absent, 1,000 at most.
    max_entries: Option<usize>,
}

/// The pages, and on whose behalf this request asks for them.
struct Asking {
    service: Arc<dyn WebPageService>,
    context: Context,
}

impl FromRequestParts<Arc<Shared>> for Asking {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let Caller(context) = Caller::from_request_parts(parts, shared).await?;
        let absent = || Error::new(Code::NotFound, "this server has no web pages");
        Ok(Self { service: shared.pages.clone().ok_or_else(absent)?, context })
    }
}

async fn open(asking: Asking, Body { value: request, .. }: Body<OpenWebPage>) -> Result<Response, Failure> {
    let opened = asking.service.open(&asking.context, request).await?;
    let place = HeaderValue::try_from(format!("{PAGES}/{}", opened.page)).ok();
    let mut response = (StatusCode::CREATED, Json(opened)).into_response();
    response.headers_mut().extend(place.map(|place| (header::LOCATION, place)));
    Ok(response)
}

async fn list(asking: Asking) -> Result<Json<PageList>, Failure> {
    Ok(Json(PageList { pages: asking.service.list(&asking.context).await? }))
}

async fn info(asking: Asking, Handle(page): Handle) -> Result<Json<WebPageDescription>, Failure> {
    Ok(Json(asking.service.info(&asking.context, &page).await?))
}

async fn close(asking: Asking, Handle(page): Handle) -> Result<Json<WebPageDescription>, Failure> {
    Ok(Json(asking.service.close(&asking.context, &page, CLOSING).await?))
}

async fn execute(
    asking: Asking,
    Handle(page): Handle,
    Body { value: request, .. }: Body<ExecuteScript>,
) -> Result<Response, Failure> {
    Ok(handed_over(&page, asking.service.execute(&asking.context, &page, request).await?))
}

async fn perform(
    asking: Asking,
    Handle(page): Handle,
    Body { value: request, .. }: Body<PerformOperation>,
) -> Result<Response, Failure> {
    Ok(handed_over(&page, asking.service.perform(&asking.context, &page, request).await?))
}

fn handed_over(page: &str, request: PageRequest) -> Response {
    let place = HeaderValue::try_from(format!("{PAGES}/{page}/requests/{}", request.request)).ok();
    let mut response = (StatusCode::ACCEPTED, Json(request)).into_response();
    response.headers_mut().extend(place.map(|place| (header::LOCATION, place)));
    response
}

async fn answer_dialog(
    asking: Asking,
    Handle(page): Handle,
    Body { value: answer, .. }: Body<AnswerDialog>,
) -> Result<StatusCode, Failure> {
    asking.service.answer_dialog(&asking.context, &page, answer).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn log(
    asking: Asking,
    Handles(page, log): Handles,
    Parameters(entries): Parameters<Entries>,
) -> Result<Json<PageLog>, Failure> {
    let maximum_entries = entries.max_entries.unwrap_or(USUAL_ENTRIES).min(MOST_ENTRIES);
    let read = ReadLog { log, after: entries.after, maximum_entries };
    Ok(Json(asking.service.log(&asking.context, &page, read).await?))
}

async fn requests(asking: Asking, Handle(page): Handle) -> Result<Json<PageRequestList>, Failure> {
    Ok(Json(PageRequestList { requests: asking.service.requests(&asking.context, &page).await? }))
}

async fn poll(
    State(shared): State<Arc<Shared>>,
    asking: Asking,
    Handles(page, request): Handles,
    Parameters(poll): Parameters<Poll>,
) -> Result<Json<PageOutcome>, Failure> {
    let patience = shared.patience(poll.wait_ms);
    let _place = (!patience.is_zero()).then(|| shared.reader(&asking.context.tenant)).transpose()?;
    let most = most(poll.max_bytes);
    let Asking { service, context } = &asking;
    let outcome = tokio::select! {
        biased;
        outcome = service.poll(context, &page, &request, most, patience) => outcome?,
        () = shared.stopping.cancelled() => service.poll(context, &page, &request, most, Duration::ZERO).await?,
    };
    Ok(Json(outcome))
}

async fn read_result(
    State(shared): State<Arc<Shared>>,
    asking: Asking,
    Handles(page, request): Handles,
    Parameters(piece): Parameters<Piece>,
) -> Result<Json<PageResultPiece>, Failure> {
    // The page is asked for what it has kept, and may take its time.
    let _place = shared.reader(&asking.context.tenant)?;
    let read = ReadResult { from: piece.from, maximum_bytes: most(piece.max_bytes), patience: READING };
    Ok(Json(asking.service.read_result(&asking.context, &page, &request, read).await?))
}

async fn cancel(asking: Asking, Handles(page, request): Handles) -> Result<StatusCode, Failure> {
    asking.service.cancel(&asking.context, &page, &request).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn acknowledge(asking: Asking, Handles(page, request): Handles) -> Result<StatusCode, Failure> {
    asking.service.acknowledge(&asking.context, &page, &request).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn most(asked: Option<usize>) -> usize {
    asked.unwrap_or(MOST_RESULT_BYTES).min(MOST_RESULT_BYTES)
}
