//! The tools: what a model may ask for, in the words that it reads.

pub(crate) mod catalog;
pub(crate) mod execution;
pub(crate) mod writing;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::playbook::Playbook;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaybookReference {
    /// Of create_playbook or list_playbooks.
    #[schemars(length(min = 1, max = limits::ID))]
    id: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct OnePlaybook {
    playbook: Playbook,
}
