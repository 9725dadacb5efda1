//! Tools that carry a playbook out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, clock, tool};

use super::PlaybookReference;
use crate::id::PlaybookId;
use crate::limits::{self, check_text, shorten};
use crate::playbook::{Playbook, SuccessCriteria};
use crate::progress::PlaybookProgress;
use crate::shelf::Shelf;
use crate::thread::Thread;
use crate::view::{ActivePlaybook, StepView};

#[derive(Serialize, JsonSchema)]
pub(crate) struct ActiveAnswer {
    /// The playbook that is in force for this thread; null where none is.
    active: Option<ActivePlaybook>,
    /// Said where the progress expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Starts a playbook of yours: puts it in force for this thread, to be carried out from its first step. What was done
/// before, with this one or another, is forgotten. Answers everything that is needed to carry it out. Call
/// complete_step after each step.
#[tool(title = "Select a playbook")]
pub(crate) fn select_playbook(call: &Call, input: PlaybookReference) -> Result<Reply<ActiveAnswer>, ToolError> {
    let playbook = Shelf::open(call)?.get(&PlaybookId::parse(&input.id)?)?;
    let progress = PlaybookProgress::begin(&playbook, clock::now());
    Thread::open(call)?.begin(&progress)?;
    Ok(shown(playbook, &progress))
}

/// Shows the playbook that is in force for this thread: the steps done with their outputs, and the next one with those
/// outputs in place of `{{name}}`. Call it when you take work up again or lost sight of it.
#[tool(title = "Show the playbook in force", read_only, idempotent)]
pub(crate) fn get_active_playbook(call: &Call) -> Result<Reply<ActiveAnswer>, ToolError> {
    let thread = Thread::open(call)?;
    match thread.active(&Shelf::open(call)?)? {
        Some((playbook, progress)) => Ok(shown(playbook, &progress)),
        None => {
            let notice = thread.expired()?;
            let said = notice.as_deref().unwrap_or_default();
            let text = format!("No playbook is in force for this thread; select_playbook puts one in force. {said}");
            Ok(Reply::new(shorten(text), ActiveAnswer { active: None, notice }))
        }
    }
}

fn shown(playbook: Playbook, progress: &PlaybookProgress) -> Reply<ActiveAnswer> {
    let active = ActivePlaybook::new(playbook, progress);
    Reply::new(shorten(active.text()), ActiveAnswer { active: Some(active), notice: None })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CompleteStep {
    /// Which step of the playbook in force.
    #[schemars(length(min = 1, max = limits::NAME))]
    step_id: String,
    /// What it yielded; later steps show it in place of `{{name}}`. Left out, an earlier output of the step stays.
    #[schemars(length(max = limits::OUTPUT))]
    output: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompletedStep {
    playbook_id: String,
    step_id: String,
    /// What later steps call the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_variable: Option<String>,
    /// How many steps are done.
    steps_done: usize,
    /// How many steps there are.
    steps: usize,
    /// The first step that is not done; null when all are.
    next_step: Option<StepView>,
    /// What must hold now that all steps are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_criteria: Option<SuccessCriteria>,
    /// Steps that still wait for the output of this one, since none was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting_steps: Vec<String>,
}

/// Records that a step of the playbook in force is done, and its output under the step's `outputVariable`. Completing it
/// again replaces the output. Answers the next step, ready to be carried out; after the last one, the success criteria.
#[tool(title = "Complete a step", idempotent)]
pub(crate) fn complete_step(call: &Call, input: CompleteStep) -> Result<Reply<CompletedStep>, ToolError> {
    check_text("stepId", &input.step_id, limits::NAME)?;
    let shelf = Shelf::open(call)?;
    let (playbook, progress) = Thread::open(call)?.advance(&shelf, |playbook, progress| {
        progress.complete(playbook, &input.step_id, input.output.as_deref(), clock::now())
    })?;
    let (output_variable, waiting_steps) = unyielded(&playbook, &progress, &input.step_id);
    let active = ActivePlaybook::new(playbook, &progress);
    let (steps_done, steps) = (active.steps_done.len(), active.workflow.len());
    let mut text = format!("Step {} is done: {steps_done} of {steps}.\n", input.step_id);
    if let Some(name) = output_variable.as_deref().filter(|_| !waiting_steps.is_empty()) {
        text.push_str(&format!(
            "Its output {name} was not given, and {} wait for it: call complete_step again with `output`.\n",
            waiting_steps.join(", ")
        ));
    }
    text.push_str(&active.next());
    let success_criteria = if active.next_step.is_none() { active.success_criteria } else { None };
    if let Some(criteria) = &success_criteria {
        text.push_str(&format!("\n{}", criteria.text()));
    }
    let completed = CompletedStep {
        playbook_id: active.id,
        step_id: input.step_id,
        output_variable,
        steps_done,
        steps,
        next_step: active.next_step,
        success_criteria,
        waiting_steps,
    };
    Ok(Reply::new(shorten(text), completed))
}

/// What a step calls its output, and which steps wait for it.
fn unyielded(playbook: &Playbook, progress: &PlaybookProgress, step_id: &str) -> (Option<String>, Vec<String>) {
    let Some(step) = playbook.workflow.iter().find(|step| step.step_id == step_id) else { return (None, Vec::new()) };
    let Some(name) = &step.output_variable else { return (None, Vec::new()) };
    let is_there = progress.of(step).is_some_and(|done| done.output.is_some());
    let waiting = playbook.workflow.iter().filter(|other| !is_there && other.refers_to(name));
    (Some(name.clone()), waiting.map(|other| other.step_id.clone()).collect())
}
