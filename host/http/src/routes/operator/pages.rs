//! Web pages of all plugins: watched, closed.

use axum::{
    Json,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::{delete, get},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use wharf_core::{
    Code, Error,
    service::operator::{OperatorList, OperatorRequest, PageLookReport, PagePicture, PageReport},
};

use super::asking::{Operator, listing};
use crate::{
    failure::HttpFailure,
    request::parameters::PathHandle,
    routes::route::{self, AnswerContent, Route, RouteAnswer},
};

pub(super) fn routes() -> Vec<Route> {
    let picture = AnswerContent::Bytes("image/jpeg");
    vec![
        Route::new(
            "get",
            "/v1/operator/pages",
            ("listAllPages", "Lists the web pages of all plugins."),
            listing(OperatorList::Pages),
            vec![route::json::<PageList>(200, "These are there.")],
        ),
        Route::new(
            "get",
            "/v1/operator/pages/{page}",
            (
                "watchPage",
                "Shows what a page has said and asked for of late, the requests that it was refused included. This is no \
                 use of the page.",
            ),
            get(look),
            vec![route::json::<PageLookReport>(200, "So it is.")],
        ),
        Route::new(
            "get",
            "/v1/operator/pages/{page}/picture",
            (
                "drawPage",
                "Draws what is seen of a page now, or was less than a second ago: one picture a second, however many \
                 watch.",
            ),
            get(draw),
            vec![RouteAnswer { status: 200, what: "A JPEG of its size.", content: picture }],
        ),
        Route::new(
            "delete",
            "/v1/operator/pages/{page}",
            ("closeAnyPage", "Closes a web page of any plugin."),
            delete(close),
            vec![route::json::<PageReport>(200, "So it is now.")],
        ),
    ]
}

/// The pages.
#[derive(Serialize, JsonSchema)]
struct PageList {
    /// Closed ones that are kept included.
    pages: Vec<PageReport>,
}

async fn look(operator: Operator, PathHandle(page): PathHandle) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::LookAtPage { page }).await
}

async fn draw(operator: Operator, PathHandle(page): PathHandle) -> Result<Response, HttpFailure> {
    let Json(drawn) = operator.operate(OperatorRequest::DrawPage { page }).await?;
    let illegible = || Error::new(Code::Internal, "the picture is not legible");
    let PagePicture { jpeg } = PagePicture::deserialize(drawn).map_err(|_| illegible())?;
    let jpeg = STANDARD.decode(jpeg).map_err(|_| illegible())?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("image/jpeg")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, jpeg).into_response())
}

async fn close(operator: Operator, PathHandle(page): PathHandle) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::ClosePage { page }).await
}
