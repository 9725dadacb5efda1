//! The part of the demo in which an assistant follows a playbook.

use anyhow::Result;
use serde_json::json;

use super::{Stage, chapter, must, prose};
use crate::client::Conversation;

const FIRST: Conversation = Conversation { session: "monday", assistant: "librarian", thread: "answers" };
const LATER: Conversation =
    Conversation { session: "getting-to-know-wharf", assistant: "librarian", thread: "a-week-later" };
const STRANGER: Conversation = Conversation { session: "monday", assistant: "stranger", thread: "answers" };

impl Stage {
    pub(super) fn follow_playbook(&mut self) -> Result<()> {
        chapter("7. The assistant writes down how it works, and follows that in another session");
        let playbook = json!({
            "goal": "Answer a question from the documents, with the place where it says so",
            "workflow": [
                {
                    "description": "Find the passage that answers the question",
                    "action": { "toolName": "content-store__search_content", "purpose": "find the passage" },
                    "outputVariable": "passage",
                },
                {
                    "description": "Answer from {{passage}}, and name its lines",
                    "action": { "toolName": "none", "purpose": "write the answer from {{passage}}" },
                    "requiredData": ["{{passage}}"],
                    "outputVariable": "answer",
                },
            ],
            "successCriteria": { "description": "The answer names document and lines" },
        });
        let made = self.call(FIRST, "playbook__create_playbook", &playbook)?.structured;
        let made = &made["playbook"];
        prose("A week later, in another session of the same assistant, it finds and selects it:");
        self.call(LATER, "playbook__list_playbooks", &json!({}))?;
        self.call(LATER, "playbook__select_playbook", &json!({ "id": made["id"] }))?;
        prose("The first step asks for a search, whose result is the step's output:");
        let query = json!({ "query": "default time that a call may compute", "top_n": 1, "snippet_characters": 120 });
        let found = self.call(LATER, "content-store__search_content", &query)?;
        let hit = &found.structured["hits"][0];
        let name = hit["name"].as_str().unwrap_or_default();
        let output = format!("{name}, line {}", hit["first_line"]);
        must(!name.is_empty(), "the playbook's search finds a passage")?;
        let done = json!({ "stepId": made["workflow"][0]["stepId"], "output": output });
        self.call(LATER, "playbook__complete_step", &done)?;
        prose("From then on the next step is shown with that output in place of {{passage}}:");
        let active = self.call(LATER, "playbook__get_active_playbook", &json!({}))?;
        must(active.text.contains(&format!("Answer from {output}")), "outputs take the place of their names")?;
        prose("Another assistant may not even look:");
        let denied = self.call(STRANGER, "playbook__get_playbook", &json!({ "id": made["id"] }))?;
        must(denied.is_error && denied.text.contains("Permission denied"), "playbooks are their owner's alone")
    }
}
