//! The protocol over HTTP as a tower service: no server is needed to use it.

use bytes::Bytes;
use http::{HeaderName, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;
use wharf_core::{
    Code, ContextClaims, ContextRules, Error, HttpLimits, Quota, RequestMemory, TenantId,
    quota::Bounds,
    service::{PassedClient, ProtocolClient},
};
use wharf_mcp::{EndpointRefusal, EndpointRequest, EndpointResponse, HttpEndpoint, HttpEndpoints, Served};

use crate::{
    shelf::Shelf,
    support::{info, modern, service},
};

fn endpoint(limits: HttpLimits) -> HttpEndpoint {
    endpoint_of(Served::new(service().tools, None), limits)
}

pub(crate) fn endpoint_of(served: Served, limits: HttpLimits) -> HttpEndpoint {
    let client = client("test", &limits);
    HttpEndpoints::new(served, info(), limits).endpoint(client)
}

/// The client of a token of this name.
pub(crate) fn client(name: &str, limits: &HttpLimits) -> ProtocolClient {
    let readers = Bounds {
        resource: "requests that follow something",
        section: "[http.limits]",
        session: None,
        tenant: ("readers_per_tenant", limits.readers_per_tenant),
        host: ("readers", limits.readers),
    };
    ProtocolClient {
        client: PassedClient::Named(name.to_owned()),
        plugins: None,
        rules: ContextRules::local(),
        calls: None,
        readers: Quota::new(readers),
        stopping: CancellationToken::new(),
        killed: CancellationToken::new(),
    }
}

/// A request of 2025-11-25 where `session` is one, and of 2026-07-28 where not.
pub(crate) fn request(method: Method, session: Option<&str>, message: &Value) -> EndpointRequest {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut request = Request::builder().method(method).uri("/mcp").header("host", "localhost");
    request =
        request.header("accept", "application/json, text/event-stream").header("content-type", "application/json");
    let headers = match session {
        Some("") => Vec::new(),
        Some(session) => {
            vec![("mcp-session-id", Some(session.to_owned())), ("mcp-protocol-version", Some("2025-11-25".to_owned()))]
        }
        None => vec![
            ("mcp-protocol-version", Some("2026-07-28".to_owned())),
            ("mcp-method", text(&message["method"])),
            ("mcp-name", text(&message["params"]["name"])),
        ],
    };
    for (name, value) in headers {
        request =
            value.into_iter().fold(request, |request, value| request.header(HeaderName::from_static(name), value));
    }
    let body = if message.is_null() { Bytes::new() } else { message.to_string().into() };
    EndpointRequest {
        request: request.body(body).expect("legal"),
        claims: Ok(ContextClaims::default()),
        trace: None,
        memory: RequestMemory::default().begin(&TenantId::local()),
        estimate_bytes: 0,
    }
}

fn call(tool: &str) -> EndpointRequest {
    let params = json!({"name": tool, "arguments": {}, "_meta": modern(json!({}))});
    request(Method::POST, None, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
}

pub(crate) async fn ask(endpoint: &HttpEndpoint, request: EndpointRequest) -> EndpointResponse {
    endpoint.clone().call(request).await.expect("taken up")
}

pub(crate) async fn json(response: EndpointResponse) -> Value {
    let body = response.into_body().collect().await.expect("readable").to_bytes();
    serde_json::from_slice(&body).expect("JSON")
}

/// A session of 2025-11-25.
pub(crate) async fn session(endpoint: &HttpEndpoint) -> String {
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
    let opened = ask(endpoint, request(Method::POST, Some(""), &hello)).await;
    opened.headers()["mcp-session-id"].to_str().expect("ASCII").to_owned()
}

#[tokio::test]
async fn a_call_is_made_in_the_context_that_the_transport_claims() {
    let endpoint = endpoint(HttpLimits::default());
    let claims = ContextClaims {
        session: Some("s".into()),
        assistant: Some("a".into()),
        thread: Some("t".into()),
        ..ContextClaims::default()
    };
    let response = ask(&endpoint, EndpointRequest { claims: Ok(claims), ..call("test__echo") }).await;
    assert_eq!(
        (response.status(), &response.headers()["content-type"]),
        (StatusCode::OK, &"application/json".parse().expect("legal"))
    );
    let shown = json(response).await["result"]["structuredContent"].clone();
    assert_eq!(
        (&shown["session"], &shown["assistant"], &shown["thread"]),
        (&json!("s"), &json!("a"), &json!("t")),
        "{shown}"
    );

    let illegal = Err(Error::new(Code::Invalid, "send the header once"));
    let refused = json(ask(&endpoint, EndpointRequest { claims: illegal, ..call("test__echo") }).await).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
}

#[tokio::test]
async fn an_endpoint_is_in_use_while_a_session_is_open() {
    let endpoint = endpoint(HttpLimits::default());
    assert!(endpoint.is_unused());
    let session = session(&endpoint).await;
    assert!(!endpoint.is_unused());
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(json(ask(&endpoint, request(Method::POST, Some(&session), &ping)).await).await["id"], 1);
    assert!(ask(&endpoint, request(Method::DELETE, Some(&session), &Value::Null)).await.status().is_success());
    assert!(endpoint.is_unused());
}

#[tokio::test]
async fn what_is_not_taken_up_is_no_answer_of_the_protocol() {
    for limits in
        [HttpLimits { calls: 1, ..HttpLimits::default() }, HttpLimits { calls_per_client: 1, ..HttpLimits::default() }]
    {
        let of_host = limits.calls == 1;
        let endpoint = endpoint(limits);
        let running = endpoint.clone().call(call("test__stubborn"));
        match endpoint.clone().call(call("test__echo")).await {
            Err(EndpointRefusal::Busy(told)) => assert!(of_host && told.contains("`calls`"), "{told}"),
            Err(EndpointRefusal::Refused(error)) => {
                assert!(!of_host && error.retryable && error.message.contains("`calls_per_client`"), "{error}");
            }
            Ok(response) => panic!("taken up: {}", json(response).await),
        }
        drop(running);
        assert_eq!(ask(&endpoint, call("test__echo")).await.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn what_is_no_message_is_answered_in_the_words_of_the_protocol() {
    let endpoint = endpoint(HttpLimits::default());
    for (message, code) in [(json!([]), -32_600), (json!("text"), -32_600)] {
        let response = ask(&endpoint, request(Method::POST, None, &message)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(json(response).await["error"]["code"], code, "{message}");
    }
}

/// The status and the message of both ways that a call may go. What a client says of its
/// taste in answers sends it past the shorter one.
async fn both_ways(endpoint: &HttpEndpoint, message: &Value) -> [(StatusCode, Value); 2] {
    let mut answers = Vec::new();
    for accept in ["application/json, text/event-stream", "application/json;q=1, text/event-stream"] {
        let mut request = request(Method::POST, None, message);
        request.request.headers_mut().insert("accept", accept.parse().expect("legal"));
        let response = ask(endpoint, request).await;
        answers.push((response.status(), json(response).await));
    }
    answers.try_into().expect("two")
}

#[tokio::test]
async fn a_plain_call_is_answered_as_the_protocol_crate_would_answer_it() {
    let (tools, shelf) = (endpoint(HttpLimits::default()), Shelf::new());
    let shelf = endpoint_of(shelf.served(), HttpLimits::default());
    let call = |tool: &str, arguments: Value, meta: Value| {
        let params = json!({"name": tool, "arguments": arguments, "_meta": modern(meta)});
        json!({"jsonrpc": "2.0", "id": "an id", "method": "tools/call", "params": params})
    };
    let form = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}});
    for (endpoint, message, word) in [
        (&tools, call("test__echo", json!({"text": "é\u{0}"}), json!({"dev.wharf/threadId": "t"})), "complete"),
        (&tools, call("test__fail", json!({}), json!({})), "too long"),
        (&tools, call("test__absent", json!({}), json!({})), "test__absent"),
        (&tools, call("test__echo", json!({}), json!({"dev.wharf/threadId": 7})), "must be a text"),
        (&shelf, call("test__insist", json!({}), json!({})), "requiredCapabilities"),
        (&shelf, call("test__insist", json!({}), form), "input_required"),
    ] {
        let [mut short, mut long] = both_ways(endpoint, &message).await;
        for (_, answer) in [&mut short, &mut long] {
            // Sealed anew each time.
            if let Some(state) = answer.pointer_mut("/result/requestState") {
                *state = json!("sealed");
            }
        }
        assert_eq!(short, long, "{message}");
        assert!(short.1.to_string().contains(word), "{}", short.1);
    }
}

#[tokio::test]
async fn what_is_no_plain_call_is_refused_as_before() {
    let endpoint = endpoint(HttpLimits::default());
    let call = json!({"name": "test__echo", "arguments": {}, "_meta": modern(json!({}))});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    for (header, value) in
        [("mcp-name", "test__fail"), ("mcp-method", "tools/list"), ("mcp-protocol-version", "2025-11-25")]
    {
        let mut request = request(Method::POST, None, &call);
        request.request.headers_mut().insert(header, value.parse().expect("legal"));
        let response = ask(&endpoint, request).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{header}");
        assert!(json(response).await["error"]["message"].as_str().is_some_and(|told| !told.is_empty()));
    }
}
