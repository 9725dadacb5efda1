//! Front ends whose own functions are tools for as long as they are connected.

mod hostile;
mod library;
mod serving;
mod tenants;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf::{
    TenantId,
    front_end::{ConnectFrontEnd, FrontEndOwner},
};
use wharf_tests::{Following, Reply, Server};

/// A tool that takes every object.
pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": "For tests.", "input_schema": {"type": "object"}})
}

/// What a front end with these tools sends.
pub(crate) fn with_tools(name: &str, tools: impl IntoIterator<Item = Value>) -> Value {
    json!({"name": name, "tools": tools.into_iter().collect::<Vec<_>>()})
}

/// The same for the library.
fn wanted(name: &str, tools: impl IntoIterator<Item = Value>) -> ConnectFrontEnd {
    serde_json::from_value(with_tools(name, tools)).expect("legal")
}

fn owner(tenant: &str, client: &str) -> FrontEndOwner {
    FrontEndOwner { tenant: tenant.parse().expect("legal"), client: client.to_owned() }
}

fn local(client: &str) -> FrontEndOwner {
    FrontEndOwner { tenant: TenantId::local(), client: client.to_owned() }
}

/// A front end that is connected over HTTP.
struct Page<'s> {
    server: &'s Server,
    place: String,
}

impl<'s> Page<'s> {
    fn connect(server: &'s Server, wanted: Value) -> Self {
        let reply = server.ask("POST", "/v1/front-ends", "page", Some(wanted));
        assert_eq!(reply.status, 201, "{reply:?}");
        let place = reply.header("location").expect("a place").to_owned();
        assert_eq!(place, format!("/v1/front-ends/{}", reply.json()["front_end"].as_str().expect("a handle")));
        Self { server, place }
    }

    fn follow(&self) -> Following {
        self.server.follow("GET", &format!("{}/calls/events", self.place), "page", "")
    }

    fn say(&self, call: impl std::fmt::Display, what: &str, body: Value) -> Reply {
        self.server.ask("POST", &format!("{}/calls/{call}/{what}", self.place), "page", Some(body))
    }

    fn poll(&self, query: &str) -> Reply {
        self.server.ask("GET", &format!("{}/calls?{query}", self.place), "page", None)
    }

    fn disconnect(&self) -> Reply {
        self.server.ask("DELETE", &self.place, "page", None)
    }
}

/// The next event that is no comment.
pub(crate) fn next(following: &mut Following) -> (String, Value) {
    let began = Instant::now();
    loop {
        let event = following.event().expect("it is followed");
        assert!(began.elapsed() < Duration::from_secs(60), "only comments come");
        if event.kind != ":" {
            return (event.kind, event.data);
        }
    }
}

/// A call of a tool in the older era.
pub(crate) fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let meta = json!({"dev.wharf/sessionId": "agent", "progressToken": id});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

pub(crate) fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
}

/// What is said of how a call failed.
pub(crate) fn failure(message: &Value) -> (&str, &str) {
    let result = &message["result"];
    assert_eq!(result["isError"], true, "{message}");
    let code = result["_meta"]["dev.wharf/error"]["code"].as_str().unwrap_or_default();
    (code, result["content"][0]["text"].as_str().unwrap_or_default())
}
