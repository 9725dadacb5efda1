//! How long an answer is charged for the memory that its JSON takes.

use std::sync::Arc;

use http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use wharf_core::{
    Answer, AnswerMemory, CallLimits, CallRequest, ContextRules, Error, HostLimits, HttpLimits, TenantId,
    ToolDefinition, ToolService,
};
use wharf_mcp::{HttpEndpoint, Served};
use wharf_test_support::until;

use crate::{
    endpoint::{ask, endpoint_of, request, session},
    named_tools::{Named, NamedTools},
    support::{Client, definition, modern},
};

/// A tool that tells how far it is, and whose answer takes all that its tenant may.
struct Charged {
    memory: AnswerMemory,
}

impl Charged {
    fn new() -> Self {
        let limits = HostLimits { answer_json_bytes_per_tenant: 10_000, ..HostLimits::default() };
        Self { memory: AnswerMemory::new(&limits) }
    }

    fn answer(&self) -> Result<Answer, Error> {
        let mut answer = Answer { structured: Some(json!({"numbers": vec![1; 140]})), ..Answer::default() };
        self.memory.charge(&mut answer, &TenantId::local(), &CallLimits::default())?;
        Ok(answer)
    }
}

#[async_trait::async_trait]
impl NamedTools for Charged {
    fn list(&self) -> Arc<[ToolDefinition]> {
        [definition("charged")].into()
    }

    async fn run(&self, request: CallRequest) -> Result<Answer, Error> {
        if let Some(events) = &request.caller.events {
            events.progress(0.0, None, None);
        }
        self.answer()
    }
}

fn serving() -> (Arc<Charged>, Arc<dyn ToolService>) {
    let charged = Arc::new(Charged::new());
    (Arc::clone(&charged), Arc::new(Named(charged)))
}

fn over_http() -> (Arc<Charged>, HttpEndpoint) {
    let (charged, tools) = serving();
    (charged, endpoint_of(Served::new(tools, None), HttpLimits::default()))
}

fn call(meta: Value) -> Value {
    let params = json!({"name": "test__charged", "arguments": {}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

#[tokio::test]
async fn an_answer_in_events_is_charged_until_its_client_has_read_it() {
    let (charged, endpoint) = over_http();
    let message = call(modern(json!({"progressToken": 1})));
    let telling = ask(&endpoint, request(Method::POST, None, &message)).await;
    assert_eq!(telling.headers()["content-type"], "text/event-stream");
    // It is made, and waits for its client as values.
    until("the answer is made", || charged.answer().is_err()).await;
    let full = charged.answer().expect_err("it is charged");
    assert!(full.message.contains("`answer_json_bytes_per_tenant`"), "{full}");
    let read = telling.into_body().collect().await.expect("readable").to_bytes();
    assert!(String::from_utf8_lossy(&read).contains("\"numbers\":[1,1"), "{read:?}");
    charged.answer().expect("the memory is free again");
}

#[tokio::test]
async fn an_answer_in_events_that_nobody_reads_to_its_end_is_free_once_its_client_has_gone() {
    let (charged, endpoint) = over_http();
    let message = call(modern(json!({"progressToken": 1})));
    let telling = ask(&endpoint, request(Method::POST, None, &message)).await;
    until("the answer is made", || charged.answer().is_err()).await;
    drop(telling);
    until("the memory is free again", || charged.answer()).await;
}

#[tokio::test]
async fn an_answer_that_was_read_is_charged_no_longer() {
    let (charged, endpoint) = over_http();
    let message = call(modern(json!({})));
    let answered = ask(&endpoint, request(Method::POST, None, &message)).await;
    // It is text by now, whether anybody reads it or not.
    charged.answer().expect("the memory is free");
    drop(answered);
    let session = session(&endpoint).await;
    ask(&endpoint, request(Method::POST, Some(&session), &call(json!({})))).await;
    charged.answer().expect("the memory is free in a session, too");

    let (charged, tools) = serving();
    let mut client = Client::connect_to(tools, ContextRules::local());
    client.handshake().await;
    for id in 1..4 {
        let answer = client.call(id, "test__charged", json!({}), json!({})).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        charged.answer().expect("the memory is free once it is read");
    }
}
