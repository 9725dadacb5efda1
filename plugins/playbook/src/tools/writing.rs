//! Tools that make, change and remove playbooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, clock, tool};

use super::{OnePlaybook, PlaybookReference};
use crate::id::PlaybookId;
use crate::limits::{self, shorten};
use crate::playbook::{NewPlaybook, PlaybookChange, PlaybookRecord, SuccessCriteria};
use crate::shelf::Shelf;
use crate::workflow::NewStep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = wharf_sdk::second_name("goal", "name"))]
pub(crate) struct CreatePlaybook {
    /// What the playbook achieves, in a sentence or two.
    #[serde(alias = "name")]
    #[schemars(length(min = 1, max = limits::GOAL))]
    goal: String,
    /// The steps, in the order in which they are carried out. Left out, update_playbook writes them later.
    #[schemars(length(min = 1, max = limits::STEPS))]
    workflow: Option<Vec<NewStep>>,
    /// The request that this playbook answers, in the words in which it came.
    #[schemars(length(max = limits::INITIAL_COMMAND))]
    initial_command: Option<String>,
    /// How one knows that it was carried out well.
    success_criteria: Option<SuccessCriteria>,
}

/// Writes down a workflow to carry out again later, in any session of this assistant: when work went well and will come
/// again, or when you are asked to remember how something is done. A step may use the output of an earlier one as
/// `{{name}}`. Answers the playbook with its id and the ids of its steps; select_playbook carries it out.
#[tool(title = "Create a playbook")]
pub(crate) fn create_playbook(call: &Call, input: CreatePlaybook) -> Result<Reply<OnePlaybook>, ToolError> {
    let CreatePlaybook { goal, workflow, initial_command, success_criteria } = input;
    let new = NewPlaybook { goal, initial_command, workflow, success_criteria };
    let playbook = Shelf::open(call)?.add(|id, owner| PlaybookRecord::new(id, owner, new, clock::now()))?;
    let text = shorten(format!("Created.\n{}", playbook.text()));
    Ok(Reply::new(text, OnePlaybook { playbook }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PlaybookEdits {
    /// What the playbook achieves; left out, it stays.
    #[schemars(length(min = 1, max = limits::GOAL))]
    goal: Option<String>,
    /// All steps anew; left out, they stay. Give the `stepId` of steps that stay the same.
    #[schemars(length(min = 1, max = limits::STEPS))]
    workflow: Option<Vec<NewStep>>,
    /// The request that it answers; left out, it stays, and an empty text erases it.
    #[schemars(length(max = limits::INITIAL_COMMAND))]
    initial_command: Option<String>,
    /// How one knows that it was carried out well; left out, they stay, and an empty description erases them.
    success_criteria: Option<SuccessCriteria>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdatePlaybook {
    /// Of create_playbook or list_playbooks.
    #[schemars(length(min = 1, max = limits::ID))]
    id: String,
    /// What to change; at least one of its members.
    playbook: PlaybookEdits,
}

/// Changes a playbook of yours: the members of `playbook` that are given replace what was there, the others stay. A
/// workflow is replaced as a whole; a step without a `stepId` gets a new one. Answers the playbook as it is now.
#[tool(title = "Change a playbook")]
pub(crate) fn update_playbook(call: &Call, input: UpdatePlaybook) -> Result<Reply<OnePlaybook>, ToolError> {
    let id = PlaybookId::parse(&input.id)?;
    let PlaybookEdits { goal, workflow, initial_command, success_criteria } = input.playbook;
    let change = PlaybookChange { goal, initial_command, workflow, success_criteria };
    let playbook = Shelf::open(call)?.change(&id, |record| record.change(change.clone(), clock::now()))?;
    let text = shorten(format!("Changed.\n{}", playbook.text()));
    Ok(Reply::new(text, OnePlaybook { playbook }))
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletedPlaybook {
    /// The playbook that is gone.
    deleted_id: String,
}

/// Removes a playbook of yours for good. A thread in which it is in force is told that it is gone. Use it when the
/// playbook is wrong or not needed any more. Answers its id, which is never given again.
#[tool(title = "Delete a playbook", destructive)]
pub(crate) fn delete_playbook(call: &Call, input: PlaybookReference) -> Result<Reply<DeletedPlaybook>, ToolError> {
    let id = PlaybookId::parse(&input.id)?;
    Shelf::open(call)?.delete(&id)?;
    Ok(Reply::new(format!("The playbook {id} is deleted."), DeletedPlaybook { deleted_id: id.to_string() }))
}
