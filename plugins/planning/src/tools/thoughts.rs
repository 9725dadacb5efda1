//! The tool for thinking step by step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Change, Reply, ToolError, tool};

use super::reply;
use crate::limits;
use crate::store::Thread;
use crate::thinking::{NewThought, Thinking, thought_key};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SequentialThinking {
    /// The thought itself.
    #[schemars(length(min = 1, max = limits::THOUGHT))]
    thought: String,
    /// Whether another thought will follow.
    next_thought_needed: bool,
    /// The number of this thought, from 1.
    #[schemars(range(min = 1, max = limits::THOUGHT_NUMBER))]
    thought_number: u32,
    /// How many thoughts will be needed, as far as can be said now.
    #[schemars(range(min = 1, max = limits::THOUGHT_NUMBER))]
    total_thoughts: u32,
    /// Whether it takes an earlier thought back.
    is_revision: Option<bool>,
    /// The number of the thought that it revises.
    #[schemars(range(min = 1, max = limits::THOUGHT_NUMBER))]
    revises_thought: Option<u32>,
    /// The number of the thought that it branches from; needs `branchId`.
    #[schemars(range(min = 1, max = limits::THOUGHT_NUMBER))]
    branch_from_thought: Option<u32>,
    /// A name for the branch; needs `branchFromThought`.
    #[schemars(length(min = 1, max = limits::BRANCH_ID))]
    branch_id: Option<String>,
    /// Whether more thoughts are needed than were foreseen.
    needs_more_thoughts: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThoughtTaken {
    thought_number: u32,
    /// At least `thoughtNumber`.
    total_thoughts: u32,
    next_thought_needed: bool,
    /// The youngest 50 branches.
    branches: Vec<String>,
    /// How many thoughts this thread has had.
    thought_history_length: u64,
    /// How many of them are kept.
    thoughts_kept: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Records one step of thinking through a hard problem, so that it can be revised and branched: one call for each
/// thought, `nextThoughtNeeded: false` at the last one. Raise `totalThoughts` freely; revise with `isRevision` and
/// `revisesThought`; try another way with `branchFromThought` and `branchId`, which go together. Keeps the last 100
/// thoughts; get_current_state shows the youngest.
#[tool(title = "Think step by step")]
pub(crate) fn sequentialthinking(call: &Call, input: SequentialThinking) -> Result<Reply<ThoughtTaken>, ToolError> {
    if input.is_revision == Some(true) && input.revises_thought.is_none() {
        return Err(ToolError::invalid("`isRevision` needs `revisesThought`: which thought is revised?"));
    }
    let new = NewThought {
        thought: &input.thought,
        thought_number: input.thought_number,
        total_thoughts: input.total_thoughts,
        revises_thought: input.revises_thought,
        branch_from_thought: input.branch_from_thought,
        branch_id: input.branch_id.as_deref(),
    };
    // A model that needs more thoughts than it foresaw needs another one.
    let next_thought_needed = input.next_thought_needed || input.needs_more_thoughts == Some(true);
    let outcome = Thread::open(call)?.change_with(|thinking: &mut Thinking| {
        let thought = thinking.add(&new)?;
        let kept = Change::put_json(thought_key(thought.sequence), &thought)?;
        let taken = ThoughtTaken {
            thought_number: thinking.thought_number,
            total_thoughts: thinking.total_thoughts,
            next_thought_needed,
            branches: thinking.branches.clone(),
            thought_history_length: thinking.count,
            thoughts_kept: thinking.kept(),
            notice: None,
        };
        Ok((taken, vec![kept]))
    })?;
    let taken = ThoughtTaken { notice: outcome.notice.clone(), ..outcome.value };
    let next = if taken.next_thought_needed { "another one is needed" } else { "it was the last one" };
    let text = format!(
        "Thought {} of {} is recorded; {next}. {} so far.",
        taken.thought_number, taken.total_thoughts, taken.thought_history_length
    );
    Ok(reply(outcome.notice.as_deref(), &text, taken))
}
