//! Clients of either era hear of it when the list of tools changes.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::watch;
use wharf_core::{Answer, CallRequest, Code, ContextRules, Error, ToolDefinition, service::AllowedPlugins};
use wharf_mcp::Served;

use crate::named_tools::{Named, NamedTools};
use crate::support::{Client, definition, modern};

/// Tools that come while it serves.
struct Growing {
    tools: Mutex<Arc<[ToolDefinition]>>,
    changes: watch::Sender<u64>,
    /// Comes right after a list was read.
    next: Mutex<Option<&'static str>>,
}

impl Growing {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            tools: Mutex::new([definition("a")].into()),
            changes: watch::Sender::new(0),
            next: Mutex::default(),
        })
    }

    fn add(&self, name: &str) {
        self.add_tool(definition(name));
    }

    fn add_tool(&self, tool: ToolDefinition) {
        let mut tools = self.tools.lock().expect("not poisoned");
        *tools = tools.iter().cloned().chain([tool]).collect();
        drop(tools);
        self.changes.send_modify(|changes| *changes += 1);
    }
}

#[async_trait::async_trait]
impl NamedTools for Growing {
    fn list(&self) -> Arc<[ToolDefinition]> {
        let read = Arc::clone(&self.tools.lock().expect("not poisoned"));
        if let Some(name) = self.next.lock().expect("not poisoned").take() {
            self.add(name);
        }
        read
    }

    fn changed(&self) -> Option<watch::Receiver<u64>> {
        Some(self.changes.subscribe())
    }

    async fn run(&self, _: CallRequest) -> Result<Answer, Error> {
        Err(Error::new(Code::Unavailable, "these are only listed"))
    }
}

fn connect(service: &Arc<Growing>) -> Client {
    Client::connect_to(Arc::new(Named(Arc::clone(service))), ContextRules::local())
}

fn listen(id: i64, wanted: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen",
           "params": {"notifications": wanted, "_meta": modern(json!({}))}})
}

const CHANGED: &str = "notifications/tools/list_changed";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

async fn listed(client: &mut Client, id: i64, meta: Value) -> usize {
    let listed = client.ask(id, "tools/list", json!({ "_meta": meta })).await;
    listed["result"]["tools"].as_array().expect("tools").len()
}

#[tokio::test]
async fn a_change_of_what_may_not_be_used_is_not_told() {
    let service = Growing::new();
    let plugins = AllowedPlugins::new(|plugin| plugin == "test");
    let served = Served::new(Arc::new(Named(Arc::clone(&service))), None).of_plugins(Some(plugins));
    let mut client = Client::connect_to_all(served, ContextRules::local());
    client.handshake().await;
    assert_eq!(listed(&mut client, 1, json!({})).await, 1);
    for (at, name) in ["b", "c"].into_iter().enumerate() {
        service.add_tool(ToolDefinition { name: format!("other__{name}"), ..definition(name) });
        // On one thread, everything that hears of it has run when this returns.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        service.add(name);
        assert_eq!(client.receive().await, json!({"jsonrpc": "2.0", "method": CHANGED}));
        assert_eq!(listed(&mut client, 2 + at as i64, json!({})).await, 2 + at, "and it was told once");
    }
}

#[tokio::test]
async fn a_change_while_the_list_is_read_is_told() {
    let service = Growing::new();
    let mut client = connect(&service);
    client.handshake().await;
    *service.next.lock().expect("not poisoned") = Some("b");
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})).await;
    let (mut seen, mut told) = (None, false);
    while seen.is_none() || !told {
        let message = client.receive().await;
        told |= message["method"] == CHANGED;
        seen = seen.or_else(|| message["result"]["tools"].as_array().map(Vec::len));
    }
    assert_eq!(seen, Some(1), "the client has the list before the change");
}

#[tokio::test]
async fn a_client_of_2025_is_told_of_each_change_that_it_has_not_listed() {
    let service = Growing::new();
    let mut client = connect(&service);
    let server = client.handshake().await;
    assert_eq!(server["capabilities"]["tools"], json!({"listChanged": true}));
    assert_eq!(listed(&mut client, 1, json!({})).await, 1);
    for (at, name) in ["b", "c"].into_iter().enumerate() {
        service.add(name);
        assert_eq!(client.receive().await, json!({"jsonrpc": "2.0", "method": CHANGED}));
        assert_eq!(listed(&mut client, 2 + at as i64, json!({})).await, 2 + at);
    }
    // Said twice, it is told once all the same.
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    service.add("d");
    assert_eq!(client.receive().await["method"], CHANGED);
    assert_eq!(listed(&mut client, 9, json!({})).await, 4, "and nothing came before this answer");
}

#[tokio::test]
async fn a_client_of_2026_is_told_where_it_has_subscribed() {
    let service = Growing::new();
    let mut client = connect(&service);
    let found = client.ask(1, "server/discover", json!({"_meta": modern(json!({}))})).await;
    assert_eq!(found["result"]["capabilities"]["tools"], json!({"listChanged": true}), "{found}");
    assert_eq!(listed(&mut client, 2, modern(json!({}))).await, 1);
    service.add("b");
    assert_eq!(listed(&mut client, 3, modern(json!({}))).await, 2, "nobody has subscribed yet");

    client.send(listen(4, json!({"toolsListChanged": true, "promptsListChanged": true}))).await;
    let acknowledged = client.receive().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}), "{acknowledged}");
    service.add("c");
    let told = client.receive().await;
    assert_eq!((&told["method"], &told["params"]["_meta"][SUBSCRIPTION]), (&json!(CHANGED), &json!(4)), "{told}");
    assert_eq!(listed(&mut client, 5, modern(json!({}))).await, 3);

    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}})).await;
    // Requests are served after the notifications before them.
    assert_eq!(listed(&mut client, 6, modern(json!({}))).await, 3);
    service.add("d");
    assert_eq!(listed(&mut client, 7, modern(json!({}))).await, 4, "who has cancelled is told nothing");
}

#[tokio::test]
async fn what_changed_between_the_listing_and_the_subscription_is_told() {
    let service = Growing::new();
    let mut client = connect(&service);
    assert_eq!(listed(&mut client, 1, modern(json!({}))).await, 1);
    service.add("b");
    client.send(listen(2, json!({"toolsListChanged": true}))).await;
    assert_eq!(client.receive().await["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(client.receive().await["method"], CHANGED);
}

#[tokio::test]
async fn subscriptions_are_bounded_and_end_with_the_connection() {
    let service = Growing::new();
    let mut client = connect(&service);
    for id in 1..=16 {
        client.send(listen(id, json!({"toolsListChanged": true}))).await;
        assert_eq!(client.receive().await["method"], "notifications/subscriptions/acknowledged");
    }
    client.send(listen(17, json!({"toolsListChanged": true}))).await;
    let mut refused = client.receive().await;
    while refused["id"] != 17 {
        refused = client.receive().await;
    }
    assert!(refused["error"]["message"].as_str().is_some_and(|told| told.contains("16")), "{refused}");
    client.hang_up().await;
    let mut ended = 0;
    while let Some(message) = client.receive_or_end().await {
        ended += i64::from(message["result"].is_object());
    }
    assert_eq!(ended, 16, "each is told that it is over");
    client.ended().await.expect("served to the end");
}

#[tokio::test]
async fn a_service_whose_tools_stay_promises_no_changes() {
    let mut client = Client::connect();
    client.send(listen(1, json!({"toolsListChanged": true}))).await;
    assert_eq!(client.receive().await["error"]["code"], -32601);
}
