//! How far a thread has come with the playbook that is in force for it. It
//! knows which steps are done and what they yielded; what a step is, the
//! playbook says.

use serde::{Deserialize, Serialize};
use wharf_sdk::ToolError;

use crate::limits::{self, check_length};
use crate::playbook::{NO_STEPS, Playbook};
use crate::workflow::WorkflowStep;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepDone {
    pub(crate) step_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    pub(crate) completed_at: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlaybookProgress {
    pub(crate) playbook_id: String,
    /// To name the playbook once it is deleted.
    pub(crate) goal: String,
    pub(crate) selected_at: String,
    /// The playbook's `updatedAt` when it was selected.
    pub(crate) selected_version: String,
    /// In the order in which they were completed.
    pub(crate) done: Vec<StepDone>,
}

impl PlaybookProgress {
    pub(crate) fn begin(playbook: &Playbook, now: String) -> Self {
        Self {
            playbook_id: playbook.id.clone(),
            goal: playbook.goal.clone(),
            selected_at: now,
            selected_version: playbook.updated_at.clone(),
            done: Vec::new(),
        }
    }

    /// Records that a step is done. Of one that was done before, a new output
    /// replaces the former, and none keeps it.
    pub(crate) fn complete(
        &mut self,
        playbook: &Playbook,
        step_id: &str,
        output: Option<&str>,
        now: String,
    ) -> Result<(), ToolError> {
        let step = playbook.workflow.iter().find(|step| step.step_id == step_id).ok_or_else(|| {
            if playbook.workflow.is_empty() {
                return ToolError::not_found(NO_STEPS);
            }
            let valid = playbook.workflow.iter().map(|step| step.step_id.as_str()).collect::<Vec<_>>().join(", ");
            let shown: String = step_id.chars().take(limits::NAME).collect();
            ToolError::not_found(format!("the playbook has no step `{shown}`; valid ids: {valid}"))
        })?;
        if let Some(output) = output {
            check_length("output", output, limits::OUTPUT)?;
        }
        // Steps that an update took out of the playbook need no record.
        self.done.retain(|done| playbook.workflow.iter().any(|step| step.step_id == done.step_id));
        let output = output.map(str::to_owned);
        match self.done.iter_mut().find(|done| done.step_id == step.step_id) {
            Some(done) => done.output = output.or_else(|| done.output.take()),
            None => self.done.push(StepDone { step_id: step.step_id.clone(), output, completed_at: now }),
        }
        Ok(())
    }

    pub(crate) fn of(&self, step: &WorkflowStep) -> Option<&StepDone> {
        self.done.iter().find(|done| done.step_id == step.step_id)
    }
}
