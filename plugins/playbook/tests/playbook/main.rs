//! Every tool of the playbook plugin, called as the host calls it: JSON in,
//! answers out, schemas checked on the way.

mod execution;
mod index;
mod interrupted;
mod limits;
mod listing;
mod owners;
mod schemas;
mod workflows;
mod writing;

use serde_json::{Value, json};
use wharf_playbook::WharfPlugin;
use wharf_sdk::testing::{self, TestAgent, TestCall};

/// A model at work, somewhere.
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

    #[track_caller]
    fn create(&self, arguments: &Value) -> Value {
        self.ok("create_playbook", arguments)["playbook"].clone()
    }

    /// A playbook of three steps, and its id.
    #[track_caller]
    fn report(&self) -> String {
        id_of(&self.create(&report()))
    }

    fn active(&self) -> Value {
        self.ok("get_active_playbook", &json!({}))["active"].clone()
    }
}

fn id_of(playbook: &Value) -> String {
    playbook["id"].as_str().expect("an id").to_owned()
}

fn step(description: &str) -> Value {
    json!({ "description": description, "action": { "toolName": "write", "purpose": "do it" } })
}

fn report() -> Value {
    json!({
        "goal": "A weekly report",
        "initialCommand": "Write the report",
        "workflow": [
            {
                "description": "Find the figures",
                "action": { "toolName": "search", "purpose": "find figures" },
                "outputVariable": "figures",
            },
            {
                "description": "Write about {{figures}}",
                "action": { "toolName": "write", "purpose": "a page on {{ figures }}" },
                "requiredData": ["{{figures}}", "the template"],
                "outputVariable": "page",
            },
            {
                "stepId": "send",
                "description": "Send {{page}}, which has {{figures}}",
                "action": { "toolName": "mail", "purpose": "send it" },
            },
        ],
        "successCriteria": { "description": "The report is sent", "requiredArtifacts": ["report.md"] },
    })
}

/// Whether the host would let these arguments through.
fn accepts(tool: &str, arguments: &Value) -> bool {
    testing::accepts::<WharfPlugin>(tool, arguments)
}
