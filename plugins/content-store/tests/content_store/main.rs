//! Every tool of the content store, called as the host calls it: JSON in,
//! answers out, schemas checked on the way.

mod adding;
mod hostile;
mod listing;
mod reading;
mod schemas;
mod scopes;
mod searching;
mod workspace;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use wharf_content_store::WharfPlugin;
use wharf_sdk::testing::{self, TestAgent, TestCall};

/// A model at work in a session.
#[derive(Clone)]
struct Agent(TestCall);

impl TestAgent for Agent {
    type Plugin = WharfPlugin;

    fn test_call(&self) -> &TestCall {
        &self.0
    }
}

impl Agent {
    fn new() -> Self {
        Self(TestCall::new().session("session").assistant("assistant").thread("thread"))
    }

    /// Adds a text and returns its id.
    #[track_caller]
    fn add(&self, text: &str) -> String {
        id_of(&self.ok("add_content", &json!({ "text": text })))
    }

    /// Adds a text under a name and returns its id.
    #[track_caller]
    fn add_named(&self, name: &str, text: &str) -> String {
        id_of(&self.ok("add_content", &json!({ "text": text, "name": name })))
    }

    #[track_caller]
    fn document(&self, name: &str, bytes: &[u8]) -> Value {
        self.ok("add_content", &json!({ "document": STANDARD.encode(bytes), "name": name }))
    }

    #[track_caller]
    fn refused_document(&self, name: &str, bytes: &[u8]) -> String {
        self.refused("add_content", &json!({ "document": STANDARD.encode(bytes), "name": name }))
    }

    #[track_caller]
    fn hits(&self, query: &str) -> Vec<Value> {
        hits_of(&self.ok("search_content", &json!({ "query": query })))
    }

    /// The whole text of a content, by as many reads as it takes.
    #[track_caller]
    fn read(&self, id: &str) -> String {
        let mut text = String::new();
        let (mut line, mut character) = (1, 0);
        loop {
            let arguments = json!({ "content_id": id, "from_line": line, "from_character": character });
            let read = self.ok("read_content", &arguments);
            text.push_str(read["text"].as_str().expect("a text"));
            if read["has_more"] == false {
                return text;
            }
            line = read["next_line"].as_u64().expect("a line to go on with");
            character = read["next_character"].as_u64().unwrap_or(0);
        }
    }

    fn contents(&self) -> usize {
        self.ok("list_contents", &json!({}))["contents"].as_array().expect("contents").len()
    }
}

fn id_of(answer: &Value) -> String {
    answer["content_id"].as_str().expect("an id").to_owned()
}

fn hits_of(answer: &Value) -> Vec<Value> {
    answer["hits"].as_array().expect("hits").clone()
}

/// Whether the host would let these arguments through.
fn accepts(tool: &str, arguments: &Value) -> bool {
    testing::accepts::<WharfPlugin>(tool, arguments)
}
