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
use wharf_sdk::testing::{self, TestCall};
use wharf_sdk::{Plugin, ToolDefinition};

/// A thread of work, and the model that plans it.
#[derive(Clone)]
struct Thread(TestCall);

impl Thread {
    fn new() -> Self {
        Self(TestCall::new().session("session").assistant("assistant").thread("thread"))
    }

    /// Calls a tool as the host would, and returns what it answers for
    /// programs. The arguments and the answer must keep the tool's schemas.
    #[track_caller]
    fn ok(&self, tool: &str, arguments: &Value) -> Value {
        self.answer(tool, arguments).0
    }

    /// The same with the text that the model reads.
    #[track_caller]
    fn answer(&self, tool: &str, arguments: &Value) -> (Value, String) {
        self.0.expect_answer::<WharfPlugin>(tool, arguments)
    }

    /// Calls a tool that refuses, and returns what the model reads.
    #[track_caller]
    fn refused(&self, tool: &str, arguments: &Value) -> String {
        self.0.expect_refusal::<WharfPlugin>(tool, arguments)
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
