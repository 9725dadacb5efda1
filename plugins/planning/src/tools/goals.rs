//! Tools on goals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::reply;
use crate::limits;
use crate::plan::{Goal, GoalStatus, Plan};
use crate::store::{Thread, read};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateGoal {
    /// What is to be reached, in a sentence or two.
    #[schemars(length(min = 1, max = limits::GOAL))]
    goal: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedGoal {
    goal: Goal,
    /// The goal that was active until now.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_goal: Option<Goal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Sets the goal of this thread of work. Call it once you know what is to be reached, before you add todos. A goal that
/// is already set is replaced (it stays in list_goals); todos and memos are kept. Answers the goal with its id.
#[tool(title = "Set the goal")]
pub(crate) fn create_goal(call: &Call, input: CreateGoal) -> Result<Reply<CreatedGoal>, ToolError> {
    let outcome = Thread::open(call)?.change(|plan: &mut Plan| plan.create_goal(&input.goal))?;
    let (goal, replaced_goal) = outcome.value;
    let mut text = format!("Goal {} is set: {}", goal.id, goal.goal);
    if let Some(replaced) = &replaced_goal {
        text.push_str(&format!("\nIt replaces goal {}: {}", replaced.id, replaced.goal));
    }
    let notice = outcome.notice.clone();
    Ok(reply(outcome.notice.as_deref(), &text, CreatedGoal { goal, replaced_goal, notice }))
}

/// What a goal may be changed into; `cleared` and `replaced` come from other
/// tools.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NewStatus {
    Active,
    Done,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateGoal {
    /// Which goal; the active one where it is left out.
    #[schemars(range(min = 1))]
    id: Option<u32>,
    /// New wording; left out, the wording stays.
    #[schemars(length(min = 1, max = limits::GOAL))]
    goal: Option<String>,
    /// `done` when it is reached; `active` to return to an earlier goal.
    status: Option<NewStatus>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct OneGoal {
    goal: Goal,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Rewords a goal, marks it as done, or makes an earlier goal the active one again. Needs `goal`, `status` or both.
/// Answers the goal as it is now.
#[tool(title = "Change a goal", idempotent)]
pub(crate) fn update_goal(call: &Call, input: UpdateGoal) -> Result<Reply<OneGoal>, ToolError> {
    let status = input.status.map(|status| match status {
        NewStatus::Active => GoalStatus::Active,
        NewStatus::Done => GoalStatus::Done,
    });
    let outcome =
        Thread::open(call)?.change(|plan: &mut Plan| plan.update_goal(input.id, input.goal.as_deref(), status))?;
    let goal = outcome.value;
    let text = format!("Goal {} is {}: {}", goal.id, goal.status.word(), goal.goal);
    Ok(reply(outcome.notice.as_deref(), &text, OneGoal { goal, notice: outcome.notice.clone() }))
}

/// Takes the active goal back without another one in its place. Todos and memos are kept, and the goal is remembered as
/// `lastClearedGoal`. Fails where no goal is active. Answers the goal that was cleared.
#[tool(title = "Clear the goal", destructive)]
pub(crate) fn clear_goal(call: &Call) -> Result<Reply<OneGoal>, ToolError> {
    let outcome = Thread::open(call)?.change(Plan::clear_goal)?;
    let goal = outcome.value;
    let text = format!("Goal {} is cleared: {}", goal.id, goal.goal);
    Ok(reply(outcome.notice.as_deref(), &text, OneGoal { goal, notice: outcome.notice.clone() }))
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Goals {
    /// The oldest first.
    goals: Vec<Goal>,
    /// Goals beyond the youngest 50, which are not kept.
    forgotten_goals: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Lists the goals of this thread, the oldest first: the active one, and those that were done, replaced or cleared. Use
/// it to see how the work came to where it is; get_current_state shows the active goal with its todos.
#[tool(title = "List goals", read_only, idempotent)]
pub(crate) fn list_goals(call: &Call) -> Result<Reply<Goals>, ToolError> {
    let thread = Thread::open(call)?;
    let entries = thread.bucket.get_many(&["plan"])?;
    let entry = entries.first().and_then(Option::as_ref);
    let plan: Plan = read(entry)?;
    let notice = thread.notice(entry.is_none())?;
    let lines = plan.goals.iter().map(|goal| format!("{} ({}): {}", goal.id, goal.status.word(), goal.goal));
    let text = match plan.goals.len() {
        0 => "There is no goal yet.".to_owned(),
        _ => lines.collect::<Vec<_>>().join("\n"),
    };
    let goals = Goals { goals: plan.goals, forgotten_goals: plan.forgotten_goals, notice: notice.clone() };
    Ok(reply(notice.as_deref(), &text, goals))
}
