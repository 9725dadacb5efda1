//! The description of the routes for programs: OpenAPI 3.1, made from their
//! table and from the types that they take and give.

use axum::http::HeaderName;
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use wharf_completion::stream::StreamEvent;

use super::{
    paths::{FRONT_ENDS, MCP, PAGES, is_of_operator},
    protocol,
    route::{AnswerContent, Route, RouteAnswer, SchemaOf},
};
use crate::{
    failure::Problem,
    request::headers::{ASSISTANT, SESSION, THREAD},
};

const ABOUT: &str = "The Model Context Protocol at `/mcp`; terminals in which programs run, web pages that are driven by scripts, and streams of what they and plugins \
                     say while they work. A request shows the host's token, and names its session by a header; \
                     terminals, pages and streams of other sessions are `not-found`. Front ends at `/v1/front-ends` are pages and windows that \
                     serve tools of their own. What the host does for all tenants is at \
                     `/v1/operator`, for tokens that may operate it.";

/// The description of these routes.
pub(super) fn describe(routes: &[Route], version: &str) -> Value {
    let settings = || {
        SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
    };
    // What is sent has every field, what is taken may leave some out.
    let mut taken = settings().for_deserialize().into_generator();
    let mut given = settings().for_serialize().into_generator();
    let mut paths = Map::new();
    for route in routes {
        let operation = operation(route, &mut taken, &mut given);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation;
    }
    given.subschema_for::<StreamEvent>();
    let problem = given.subschema_for::<Problem>();
    let message = given.subschema_for::<protocol::Message>();
    let refusal = json!({"anyOf": [problem, message]});
    let mut schemas = taken.take_definitions(true);
    schemas.extend(given.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Wharf", "version": version, "description": ABOUT},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
            "responses": {
                "Problem": {
                    "description": "It failed; `error.code` says how.",
                    "content": {"application/json": {"schema": problem}},
                },
                "Refusal": {
                    "description": "It failed, before or within the protocol: `error.code` is a word or a number.",
                    "content": {"application/json": {"schema": refusal}},
                },
            },
        },
    })
}

fn operation(route: &Route, taken: &mut SchemaGenerator, given: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = in_path(route.path).collect();
    parameters.extend(route.query.into_iter().flat_map(|query| in_query(query, taken)));
    let tag = match route.path {
        MCP => "mcp",
        path if is_of_operator(path) => "operator",
        path if path.starts_with("/v1/terminals") || path.starts_with("/v1/watch") => "terminals",
        path if path.starts_with(PAGES) => "pages",
        path if path.starts_with(FRONT_ENDS) => "front-ends",
        _ => "streams",
    };
    let mut operation = json!({"operationId": route.operation, "summary": route.summary});
    if route.is_open() {
        operation["security"] = json!([]);
    } else {
        operation["tags"] = json!([tag]);
        let id = json!({"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"});
        // A front end serves every session of its tenant, and an operator sees all tenants.
        let of_session = !matches!(tag, "front-ends" | "operator");
        parameters.extend(
            of_session
                .then(|| {
                    [
                        header(&SESSION, "The session on whose behalf this is; `default` where absent.", &id),
                        header(&ASSISTANT, "The assistant on whose behalf this is.", &id),
                        header(&THREAD, "The thread on whose behalf this is.", &id),
                    ]
                })
                .into_iter()
                .flatten(),
        );
    }
    if route.resumes {
        let name = HeaderName::from_static("last-event-id");
        parameters.push(header(
            &name,
            "The `id` of the last event that was read.",
            &json!({"type": "integer", "minimum": 0}),
        ));
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(body) = route.body {
        let schema = body(taken);
        operation["requestBody"] = json!({"content": {"application/json": {"schema": schema}}});
    }
    let mut responses = Map::new();
    for RouteAnswer { status, what, content } in &route.answers {
        let mut response = json!({"description": what});
        match content {
            AnswerContent::None => {}
            AnswerContent::Json(schema) => response["content"] = json!({"application/json": {"schema": schema(given)}}),
            AnswerContent::Messages => {
                let events = each_event("One message in the `data` of each event.");
                response["content"] = json!({
                    "application/json": {"schema": given.subschema_for::<protocol::Message>()},
                    "text/event-stream": {"schema": events},
                });
            }
            AnswerContent::Events(which) => {
                response["content"] = json!({"text/event-stream": {"schema": each_event(which)}});
            }
            AnswerContent::Text(kind) => response["content"] = json!({*kind: {"schema": {"type": "string"}}}),
            AnswerContent::Bytes(kind) => response["content"] = json!({*kind: {}}),
        }
        responses.insert(status.to_string(), response);
    }
    for failures in ["4XX", "5XX"] {
        let reference = if route.path == MCP { "Refusal" } else { "Problem" };
        responses.insert(failures.to_owned(), json!({"$ref": format!("#/components/responses/{reference}")}));
    }
    operation["responses"] = responses.into();
    operation
}

fn in_path(path: &str) -> impl Iterator<Item = Value> + '_ {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
}

fn header(name: &HeaderName, what: &str, schema: &Value) -> Value {
    json!({"name": name.as_str(), "in": "header", "description": what, "schema": schema})
}

/// The properties of a type as parameters.
fn in_query(query: SchemaOf, taken: &mut SchemaGenerator) -> Vec<Value> {
    let reference = query(taken);
    let name =
        reference.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    // The parameters are it; no schema refers to it.
    let Some(schema) = name.and_then(|name| taken.definitions_mut().remove(&name)) else { return Vec::new() };
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let what = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({"name": name, "in": "query", "schema": schema});
        if let Some(what) = what {
            parameter["description"] = what;
        }
        parameter
    };
    properties.into_iter().map(parameter).collect()
}

/// The schema of one server-sent event, which is what programs that read a stream take the
/// schema of its content for: 3.1 says nothing of streams, and 3.2 calls it `itemSchema`.
fn each_event(what: &str) -> Value {
    let text = |of: &str| json!({"type": "string", "description": of});
    json!({
        "type": "object",
        "description": what,
        "properties": {
            "event": text("Of which kind it is."),
            "id": text("After which a reader that comes back goes on."),
            "data": text("JSON, on one line."),
        },
        "required": ["data"],
    })
}
