//! Whose a playbook is: the assistant's that made it, or the session's where a
//! call names no assistant. Derived from the call, never from an argument.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Scope};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OwnerKind {
    Assistant,
    Session,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Owner {
    /// The assistant that made it; the session where there was no assistant.
    pub(crate) agent_id: String,
    /// What `agentId` names.
    pub(crate) owned_by: OwnerKind,
}

impl Owner {
    pub(crate) fn of(call: &Call) -> Self {
        match call.assistant() {
            Some(assistant) => Self { agent_id: assistant, owned_by: OwnerKind::Assistant },
            None => Self { agent_id: call.session(), owned_by: OwnerKind::Session },
        }
    }

    /// Where this owner's playbooks lie; only its own calls reach it.
    pub(crate) fn scope(&self) -> Scope {
        match self.owned_by {
            OwnerKind::Assistant => Scope::Assistant,
            OwnerKind::Session => Scope::Session,
        }
    }
}
