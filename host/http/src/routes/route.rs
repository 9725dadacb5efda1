//! A route, as the router and the description for programs have it.

use std::sync::Arc;

use axum::{
    Json,
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::MethodRouter,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::paths::is_open;
use crate::state::ServerState;

/// One route.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// The name of the operation in clients that are made from the description.
    pub(super) operation: &'static str,
    pub(super) summary: &'static str,
    pub(super) query: Option<SchemaOf>,
    pub(super) body: Option<SchemaOf>,
    pub(super) answers: Vec<RouteAnswer>,
    pub(super) resumes: bool,
    pub(super) handler: MethodRouter<Arc<ServerState>>,
}

/// The schema of a type.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One way in which a route answers where nothing fails.
pub(super) struct RouteAnswer {
    pub(super) status: u16,
    pub(super) what: &'static str,
    pub(super) content: AnswerContent,
}

pub(super) enum AnswerContent {
    None,
    Json(SchemaOf),
    /// Server-sent events, and which there are.
    Events(&'static str),
    /// A message of the protocol, or a stream of such.
    Messages,
    /// A text of this media type.
    Text(&'static str),
    /// Bytes of this media type.
    Bytes(&'static str),
}

impl Route {
    pub(super) fn new(
        method: &'static str,
        path: &'static str,
        (operation, summary): (&'static str, &'static str),
        handler: MethodRouter<Arc<ServerState>>,
        answers: Vec<RouteAnswer>,
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

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

pub(super) fn json<T: JsonSchema>(status: u16, what: &'static str) -> RouteAnswer {
    RouteAnswer { status, what, content: AnswerContent::Json(of::<T>) }
}

pub(super) fn done(what: &'static str) -> RouteAnswer {
    RouteAnswer { status: 204, what, content: AnswerContent::None }
}

/// An answer that says where what it tells of is.
pub(super) fn located(status: StatusCode, place: String, answer: impl Serialize) -> Response {
    let mut response = (status, Json(answer)).into_response();
    response.headers_mut().extend(HeaderValue::try_from(place).ok().map(|place| (header::LOCATION, place)));
    response
}
