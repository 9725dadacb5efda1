//! Over HTTP the tool of a call is looked up once and its arguments arrive whole, whichever
//! way the call goes.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use http::{HeaderValue, Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::watch;
use wharf_core::{
    Answer, CallRequest, Error, HttpLimits, TenantId, ToolDefinition, ToolService,
    service::{CallableTool, Caller, Viewer},
};
use wharf_mcp::{EndpointRequest, HttpEndpoint, Served};

use crate::{
    endpoint::{ask, endpoint_of, request, session},
    named_tools::{Named, NamedTools},
    support::{definition, modern},
};

/// A plain tool, and one that has a header repeat an argument.
struct Echo;

#[async_trait::async_trait]
impl NamedTools for Echo {
    fn list(&self) -> Arc<[ToolDefinition]> {
        let mut repeating = definition("repeating");
        let schema = json!({
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        });
        repeating.input_schema = schema.as_object().expect("an object").clone().into();
        [definition("echo"), repeating].into()
    }

    async fn run(&self, request: CallRequest) -> Result<Answer, Error> {
        Ok(Answer { structured: Some(json!({"arguments": request.arguments.values()})), ..Answer::default() })
    }
}

/// Counts look-ups of tools that are to be called.
struct Counted {
    tools: Named<Echo>,
    look_ups: Arc<AtomicUsize>,
}

impl ToolService for Counted {
    fn tools(&self, viewer: Viewer<'_>) -> Arc<[ToolDefinition]> {
        self.tools.tools(viewer)
    }

    fn callable(&self, viewer: Viewer<'_>, name: &str) -> Option<Arc<dyn CallableTool>> {
        self.look_ups.fetch_add(1, Relaxed);
        self.tools.callable(viewer, name)
    }

    fn changes(&self, tenant: &TenantId) -> Option<watch::Receiver<u64>> {
        self.tools.changes(tenant)
    }

    fn find(&self, caller: &Arc<Caller>, name: &str) -> Result<Arc<dyn CallableTool>, Error> {
        self.look_ups.fetch_add(1, Relaxed);
        self.tools.find(caller, name)
    }
}

fn counted() -> (HttpEndpoint, Arc<AtomicUsize>) {
    let look_ups = Arc::<AtomicUsize>::default();
    let tools = Counted { tools: Named(Arc::new(Echo)), look_ups: Arc::clone(&look_ups) };
    (endpoint_of(Served::new(Arc::new(tools), None), HttpLimits::default()), look_ups)
}

fn call(tool: &str, arguments: &Value, meta: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
}

/// The status and the text of an answer, whether it comes as JSON or as events.
async fn answer(endpoint: &HttpEndpoint, request: EndpointRequest) -> (StatusCode, String) {
    let response = ask(endpoint, request).await;
    let status = response.status();
    let body = response.into_body().collect().await.expect("readable").to_bytes();
    (status, String::from_utf8(body.into()).expect("UTF-8"))
}

#[tokio::test]
async fn a_call_is_looked_up_once_and_keeps_its_arguments_whichever_way_it_goes() {
    let (endpoint, look_ups) = counted();
    let session = session(&endpoint).await;
    let arguments = json!({"region": "north", "list": [1, [2, {"deep": "ü\n"}]], "long": "é".repeat(200_000)});
    let plain = modern(json!({}));
    let telling = modern(json!({"progressToken": 1}));
    for (tool, session, meta) in [
        ("test__echo", None, &plain),
        ("test__echo", None, &telling),
        ("test__echo", Some(session.as_str()), &json!({})),
        ("test__echo", Some(session.as_str()), &json!({"progressToken": "p"})),
        ("test__repeating", None, &plain),
        ("test__repeating", None, &telling),
        ("test__repeating", Some(session.as_str()), &json!({})),
    ] {
        look_ups.store(0, Relaxed);
        let mut asked = request(Method::POST, session, &call(tool, &arguments, meta));
        if tool == "test__repeating" {
            asked.request.headers_mut().insert("mcp-param-region", HeaderValue::from_static("north"));
        }
        let (status, text) = answer(&endpoint, asked).await;
        assert_eq!(status, StatusCode::OK, "{tool} {session:?} {meta}: {text}");
        let arrived = format!("\"structuredContent\":{}", json!({"arguments": arguments}));
        assert!(text.contains(&arrived), "{tool} {session:?} {meta}: {}", &text[..text.len().min(400)]);
        assert_eq!(look_ups.load(Relaxed), 1, "{tool} {session:?} {meta}");
    }
}

#[tokio::test]
async fn a_header_that_repeats_another_value_is_refused_before_the_call() {
    let (endpoint, look_ups) = counted();
    for meta in [modern(json!({})), modern(json!({"progressToken": 1}))] {
        look_ups.store(0, Relaxed);
        let mut asked =
            request(Method::POST, None, &call("test__repeating", &json!({"region": "north", "list": [1]}), &meta));
        asked.request.headers_mut().insert("mcp-param-region", HeaderValue::from_static("south"));
        let (status, text) = answer(&endpoint, asked).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
        assert!(text.to_lowercase().contains("mcp-param-region") && !text.contains("structuredContent"), "{text}");
        assert_eq!(look_ups.load(Relaxed), 1, "{meta}");
    }
}
