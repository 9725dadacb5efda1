//! What a playbook is, how one is made and changed. It knows nothing of calls
//! or storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::ToolError;

use crate::id::PlaybookId;
use crate::limits::{self, check_count, check_length, check_text};
use crate::owner::Owner;
use crate::workflow::{NewStep, WorkflowStep, build};

/// How one knows that a playbook was carried out well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SuccessCriteria {
    /// What is true once the playbook was carried out well.
    #[schemars(length(max = limits::SUCCESS_DESCRIPTION))]
    pub(crate) description: String,
    /// What must exist then: files, reports, messages.
    #[serde(default)]
    #[schemars(length(max = limits::ARTIFACTS), inner(length(min = 1, max = limits::ARTIFACT)))]
    pub(crate) required_artifacts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Playbook {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) owner: Owner,
    pub(crate) goal: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) initial_command: Option<String>,
    /// In the order in which they are carried out.
    pub(crate) workflow: Vec<WorkflowStep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) success_criteria: Option<SuccessCriteria>,
    /// RFC 3339, UTC.
    pub(crate) created_at: String,
    /// RFC 3339, UTC.
    pub(crate) updated_at: String,
}

/// What is said of a playbook that cannot be carried out yet.
pub(crate) const NO_STEPS: &str = "It has no steps yet; update_playbook writes its `workflow`.";

/// A playbook as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlaybookRecord {
    pub(crate) playbook: Playbook,
    /// The last number that was given to a step.
    last_step: u32,
}

/// A playbook as a model hands it in.
#[derive(Debug)]
pub(crate) struct NewPlaybook {
    pub(crate) goal: String,
    pub(crate) initial_command: Option<String>,
    /// None where they are written later.
    pub(crate) workflow: Option<Vec<NewStep>>,
    pub(crate) success_criteria: Option<SuccessCriteria>,
}

/// What to change of a playbook; a field that is `None` stays. There is no owner in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlaybookChange {
    pub(crate) goal: Option<String>,
    /// An empty one erases it.
    pub(crate) initial_command: Option<String>,
    pub(crate) workflow: Option<Vec<NewStep>>,
    /// Criteria with an empty description erase them.
    pub(crate) success_criteria: Option<SuccessCriteria>,
}

impl PlaybookRecord {
    pub(crate) fn new(id: &PlaybookId, owner: Owner, new: NewPlaybook, now: String) -> Result<Self, ToolError> {
        check_text("goal", &new.goal, limits::GOAL)?;
        let mut last_step = 0;
        let playbook = Playbook {
            id: id.to_string(),
            owner,
            goal: new.goal,
            initial_command: initial_command(new.initial_command)?,
            workflow: new.workflow.map_or_else(|| Ok(Vec::new()), |steps| build(steps, &[], &mut last_step))?,
            success_criteria: success_criteria(new.success_criteria)?,
            created_at: now.clone(),
            updated_at: now,
        };
        Ok(Self { playbook, last_step })
    }

    pub(crate) fn change(&mut self, change: PlaybookChange, now: String) -> Result<(), ToolError> {
        let PlaybookChange { goal, initial_command: command, workflow, success_criteria: criteria } = change;
        if goal.is_none() && command.is_none() && workflow.is_none() && criteria.is_none() {
            return Err(ToolError::invalid(
                "`playbook` changes nothing; it needs `goal`, `initialCommand`, `workflow` or `successCriteria`",
            ));
        }
        let playbook = &mut self.playbook;
        if let Some(goal) = goal {
            check_text("goal", &goal, limits::GOAL)?;
            playbook.goal = goal;
        }
        if command.is_some() {
            playbook.initial_command = initial_command(command)?;
        }
        if let Some(workflow) = workflow {
            playbook.workflow = build(workflow, &playbook.workflow, &mut self.last_step)?;
        }
        if criteria.is_some() {
            playbook.success_criteria = success_criteria(criteria)?;
        }
        playbook.updated_at = now;
        Ok(())
    }
}

fn initial_command(command: Option<String>) -> Result<Option<String>, ToolError> {
    let command = command.filter(|command| !command.trim().is_empty());
    if let Some(command) = &command {
        check_length("initialCommand", command, limits::INITIAL_COMMAND)?;
    }
    Ok(command)
}

fn success_criteria(criteria: Option<SuccessCriteria>) -> Result<Option<SuccessCriteria>, ToolError> {
    let Some(criteria) = criteria else { return Ok(None) };
    let artifacts = &criteria.required_artifacts;
    if criteria.description.trim().is_empty() {
        if artifacts.is_empty() {
            return Ok(None);
        }
        return Err(ToolError::invalid(
            "`successCriteria.description` is empty, which erases the criteria, and yet there are `requiredArtifacts`",
        ));
    }
    check_length("successCriteria.description", &criteria.description, limits::SUCCESS_DESCRIPTION)?;
    check_count("successCriteria.requiredArtifacts", artifacts.len(), limits::ARTIFACTS)?;
    for (index, artifact) in artifacts.iter().enumerate() {
        check_text(&format!("successCriteria.requiredArtifacts[{index}]"), artifact, limits::ARTIFACT)?;
    }
    Ok(Some(criteria))
}

impl SuccessCriteria {
    /// A few lines of text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("Success: {}\n", self.description);
        for artifact in &self.required_artifacts {
            text.push_str(&format!("  needs: {artifact}\n"));
        }
        text
    }
}

impl Playbook {
    /// The playbook as a text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("Playbook {}\nGoal: {}\n", self.id, self.goal);
        if let Some(command) = &self.initial_command {
            text.push_str(&format!("Initial command: {command}\n"));
        }
        text.push_str(&format!("Steps: {}\n", self.workflow.len()));
        for step in &self.workflow {
            text.push_str(&step.text("-"));
        }
        if self.workflow.is_empty() {
            text.push_str(NO_STEPS);
            text.push('\n');
        }
        text + &self.success_criteria.as_ref().map(SuccessCriteria::text).unwrap_or_default()
    }
}
