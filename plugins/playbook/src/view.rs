//! A playbook in force as an agent needs it: what is done, what it yielded, and
//! what comes next with those outputs in place.

use schemars::JsonSchema;
use serde::Serialize;

use crate::owner::Owner;
use crate::playbook::{NO_STEPS, Playbook, SuccessCriteria};
use crate::progress::PlaybookProgress;
use crate::reference::Resolver;
use crate::workflow::WorkflowStep;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepView {
    #[serde(flatten)]
    pub(crate) step: WorkflowStep,
    pub(crate) done: bool,
    /// Outputs that this step refers to and that are not there yet.
    pub(crate) waiting_for: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepResult {
    step_id: String,
    /// What later steps call the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_variable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// RFC 3339, UTC.
    completed_at: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivePlaybook {
    pub(crate) id: String,
    #[serde(flatten)]
    owner: Owner,
    goal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial_command: Option<String>,
    /// Every step, with the outputs that are there in place of `{{name}}`.
    pub(crate) workflow: Vec<StepView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) success_criteria: Option<SuccessCriteria>,
    /// RFC 3339, UTC.
    created_at: String,
    /// RFC 3339, UTC.
    updated_at: String,
    /// RFC 3339, UTC.
    selected_at: String,
    /// In the order of the workflow.
    pub(crate) steps_done: Vec<StepResult>,
    /// The first step that is not done; null when all are.
    pub(crate) next_step: Option<StepView>,
    /// Whether the playbook was changed since it was selected.
    changed_since_selected: bool,
}

impl ActivePlaybook {
    pub(crate) fn new(playbook: Playbook, progress: &PlaybookProgress) -> Self {
        let value_of = |name: &str| {
            let step = playbook.workflow.iter().find(|step| step.output_variable.as_deref() == Some(name))?;
            progress.of(step)?.output.as_deref()
        };
        let mut resolver = Resolver::new(value_of);
        let resolved = |step: &WorkflowStep| resolve_step(step, progress.of(step).is_some(), &mut resolver);
        let workflow: Vec<StepView> = playbook.workflow.iter().map(resolved).collect();
        let results = playbook.workflow.iter().filter_map(|step| {
            progress.of(step).map(|done| StepResult {
                step_id: step.step_id.clone(),
                output_variable: step.output_variable.clone(),
                output: done.output.clone(),
                completed_at: done.completed_at.clone(),
            })
        });
        let steps_done = results.collect();
        Self {
            next_step: workflow.iter().find(|step| !step.done).cloned(),
            changed_since_selected: playbook.updated_at != progress.selected_version,
            id: playbook.id,
            owner: playbook.owner,
            goal: playbook.goal,
            initial_command: playbook.initial_command,
            workflow,
            success_criteria: playbook.success_criteria,
            created_at: playbook.created_at,
            updated_at: playbook.updated_at,
            selected_at: progress.selected_at.clone(),
            steps_done,
        }
    }

    /// What to do next, as a text.
    pub(crate) fn next(&self) -> String {
        match &self.next_step {
            Some(step) => {
                format!("Next:\n{}Call complete_step with `{}` once it is done.", step.text(), step.step.step_id)
            }
            None if self.workflow.is_empty() => NO_STEPS.to_owned(),
            None => format!("All {} steps are done.", self.workflow.len()),
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!("Playbook {}\nGoal: {}\n", self.id, self.goal);
        if let Some(command) = &self.initial_command {
            text.push_str(&format!("Initial command: {command}\n"));
        }
        text.push_str(&format!("Steps: {} of {} done\n", self.steps_done.len(), self.workflow.len()));
        for view in &self.workflow {
            text.push_str(&view.text());
            let result = self.steps_done.iter().find(|result| result.step_id == view.step.step_id);
            if let Some(output) = result.and_then(|result| result.output.as_ref()) {
                text.push_str(&format!("      output: {output}\n"));
            }
        }
        if let Some(criteria) = &self.success_criteria {
            text.push_str(&criteria.text());
        }
        if self.changed_since_selected {
            text.push_str("The playbook was changed after it was selected.\n");
        }
        text + &self.next()
    }
}

impl StepView {
    pub(crate) fn text(&self) -> String {
        let mut text = self.step.text(if self.done { "[x]" } else { "[ ]" });
        if !self.waiting_for.is_empty() {
            text.push_str(&format!("      waits for: {}\n", self.waiting_for.join(", ")));
        }
        text
    }
}

fn resolve_step<'v, V: Fn(&str) -> Option<&'v str>>(
    step: &WorkflowStep,
    done: bool,
    resolver: &mut Resolver<V>,
) -> StepView {
    let mut waiting_for: Vec<String> = Vec::new();
    let mut resolve = |text: &str| {
        let resolved = resolver.resolve(text);
        for name in resolved.waiting_for {
            if !waiting_for.contains(&name) {
                waiting_for.push(name);
            }
        }
        resolved.text
    };
    let mut step = step.clone();
    step.description = resolve(&step.description);
    step.action.purpose = resolve(&step.action.purpose);
    for datum in &mut step.required_data {
        *datum = resolve(datum);
    }
    StepView { step, done, waiting_for }
}
