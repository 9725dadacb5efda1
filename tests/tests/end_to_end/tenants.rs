//! Tenants of one host never see each other: the first has one of everything, and the
//! second asks for it by every tool that is listed and every route that is described, in
//! a session, assistant and thread of the same names.
//!
//! What it asks for by an identifier is told in the words that a made-up one gets; what
//! it lists and makes is its own; and what the first one has is as it was. A tool or a
//! route without a case fails these tests: add one below `cases` or in `routes`.

mod allowed;
mod belongings;
mod cases;
pub(crate) mod heard;
mod names;
mod routes;
mod sessions;
mod tools;

use serde_json::{Value, json};
use wharf_tests::{Reply, Server, Setup, replied};

use crate::http_mcp::{modern, with_tokens};
use names::Names;

/// Stands in everything that the first tenant keeps.
const MARK: &str = "breakwater";
/// What arguments that break a schema are told: a case with such shows nothing.
const UNFIT: &str = "do not fit the tool's schema";

/// The tenant that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tenant {
    First,
    Second,
}

/// What the second tenant gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// What a made-up identifier gets, word for word.
    AsUnknown,
    /// What it has itself.
    OwnAlone,
    /// What every tenant gets who asks for it, word for word.
    Refused,
}

/// One host, and two that call it.
struct Two {
    server: Server,
    tokens: [String; 2],
}

impl Two {
    fn start(setup: Setup) -> Self {
        let options: [&[&str]; 2] =
            [&["--name", "a", "--tenant", "a", "--front-ends"], &["--name", "b", "--tenant", "b", "--front-ends"]];
        let (server, tokens) = with_tokens(setup, options);
        Self { server, tokens }
    }

    /// The server, as this tenant speaks to it.
    fn of(&mut self, tenant: Tenant) -> &Server {
        self.server.token.clone_from(&self.tokens[usize::from(tenant == Tenant::Second)]);
        &self.server
    }

    /// The answer to a request of the newer era.
    fn ask(&mut self, tenant: Tenant, method: &str, parameters: Value) -> Value {
        let (headers, request) = request(method, parameters);
        replied(self.of(tenant).say(&headers, &request)).message()
    }

    fn call(&mut self, tenant: Tenant, tool: &str, arguments: &Value) -> Value {
        self.ask(tenant, "tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool for the first tenant, which has to work: its structured answer.
    fn made(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut answer = self.call(Tenant::First, tool, arguments);
        assert_eq!(answer["result"]["isError"], false, "{tool}: {answer}");
        answer["result"]["structuredContent"].take()
    }

    fn route(&mut self, tenant: Tenant, method: &str, path: &str, headers: &str, body: &Value) -> Reply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        replied(self.of(tenant).send(method, path, "s", headers, &body))
    }
}

/// A request of the newer era in the conversation of both tenants, and its headers.
fn request(method: &str, mut parameters: Value) -> (String, Value) {
    let ids = [("sessionId", "s"), ("assistantId", "a"), ("threadId", "t")];
    parameters["_meta"] = ids.iter().map(|(name, id)| (format!("dev.wharf/{name}"), json!(id))).collect();
    modern(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}))
}

/// Checks what the second tenant was told: nothing of the first one's, and where it asked
/// for that by name, what it is told of `made_up` names.
fn check(what: &str, expected: Expected, names: &Names, told: &str, made_up: &str) {
    assert!(!told.contains(MARK) && !told.contains(UNFIT), "{what}: {told}");
    match expected {
        Expected::AsUnknown | Expected::Refused => assert_eq!(names.masked(told), names.masked(made_up), "{what}"),
        Expected::OwnAlone => assert!(!names.are_in(told), "{what}: {told}"),
    }
}
