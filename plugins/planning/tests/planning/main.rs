//! Every tool of the planning plugin, called as the host calls it: JSON in,
//! answers out, schemas checked on the way.

mod expiry;
mod goals;
mod limits;
mod memos;
mod schemas;
mod sharing;
mod thoughts;
mod todos;

use serde_json::{Value, json};
use wharf_planning::WharfPlugin;
use wharf_sdk::testing::{self, TestAgent, TestCall};
use wharf_sdk::{Plugin, ToolDefinition};

/// A thread of work, and the model that plans it.
#[derive(Clone)]
struct Thread(TestCall);

impl TestAgent for Thread {
    type Plugin = WharfPlugin;

    fn test_call(&self) -> &TestCall {
        &self.0
    }
}

impl Thread {
    fn new() -> Self {
        Self(TestCall::new().session("session").assistant("assistant").thread("thread"))
    }

    fn state(&self) -> Value {
        self.ok("get_current_state", &json!({}))
    }
}

fn definition(tool: &str) -> ToolDefinition {
    let mut definitions = WharfPlugin::definitions().into_iter();
    definitions.find(|definition| definition.name == tool).expect("a tool of this name")
}

/// Whether the host would let these arguments through.
fn accepts(tool: &str, arguments: &Value) -> bool {
    testing::accepts::<WharfPlugin>(tool, arguments)
}
