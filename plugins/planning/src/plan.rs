//! The document `plan`: the goal, the goals before it, and the memos.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::ToolError;

use crate::limits::{self, check_text, list_ids, next_id};
use crate::store::ThreadDocument;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GoalStatus {
    Active,
    Done,
    Replaced,
    Cleared,
}

impl GoalStatus {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Done => "done",
            Self::Replaced => "replaced",
            Self::Cleared => "cleared",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Goal {
    pub(crate) id: u32,
    pub(crate) goal: String,
    pub(crate) status: GoalStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Memo {
    pub(crate) id: u32,
    pub(crate) content: String,
}

/// At most one goal is active; both lists are in the order of their ids.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) goals: Vec<Goal>,
    pub(crate) forgotten_goals: u32,
    pub(crate) last_cleared_goal: Option<String>,
    pub(crate) memos: Vec<Memo>,
    last_goal_id: u32,
    last_memo_id: u32,
}

impl ThreadDocument for Plan {
    const KEY: &'static str = "plan";
    // Beyond what full lists of the longest texts take.
    const LARGEST_BYTES: usize = 512 * 1024;
    const ROOM: &'static str = "clear_memo makes room";
}

impl Plan {
    pub(crate) fn active(&self) -> Option<&Goal> {
        self.goals.iter().find(|goal| goal.status == GoalStatus::Active)
    }

    /// Sets a new goal and returns it with the one that it replaces.
    pub(crate) fn create_goal(&mut self, text: &str) -> Result<(Goal, Option<Goal>), ToolError> {
        check_text("goal", text, limits::GOAL)?;
        let replaced = self.retire(GoalStatus::Replaced);
        let goal = Goal { id: next_id(&mut self.last_goal_id)?, goal: text.to_owned(), status: GoalStatus::Active };
        self.goals.push(goal.clone());
        if self.goals.len() > limits::GOALS {
            // The new goal is the last one, so the first is never active.
            self.goals.remove(0);
            self.forgotten_goals = self.forgotten_goals.saturating_add(1);
        }
        Ok((goal, replaced))
    }

    /// Changes a goal, the active one where no id is given.
    pub(crate) fn update_goal(
        &mut self,
        id: Option<u32>,
        text: Option<&str>,
        status: Option<GoalStatus>,
    ) -> Result<Goal, ToolError> {
        if text.is_none() && status.is_none() {
            return Err(ToolError::invalid("give a new `goal`, a new `status`, or both"));
        }
        if let Some(text) = text {
            check_text("goal", text, limits::GOAL)?;
        }
        let position = self.position(id)?;
        if status == Some(GoalStatus::Active) && self.goals[position].status != GoalStatus::Active {
            self.retire(GoalStatus::Replaced);
        }
        let goal = &mut self.goals[position];
        if let Some(text) = text {
            text.clone_into(&mut goal.goal);
        }
        if let Some(status) = status {
            goal.status = status;
        }
        Ok(goal.clone())
    }

    fn position(&self, id: Option<u32>) -> Result<usize, ToolError> {
        let found = self.goals.iter().position(|goal| match id {
            Some(id) => goal.id == id,
            None => goal.status == GoalStatus::Active,
        });
        found.ok_or_else(|| match (id, self.goals.is_empty()) {
            (_, true) => ToolError::not_found("there is no goal yet; create_goal sets one"),
            (Some(id), false) => ToolError::not_found(format!(
                "there is no goal {id}; valid ids: {}",
                list_ids(self.goals.iter().map(|goal| goal.id))
            )),
            (None, false) => ToolError::not_found(format!(
                "no goal is active; name an `id`, one of: {}",
                list_ids(self.goals.iter().map(|goal| goal.id))
            )),
        })
    }

    /// Takes the goal back and remembers it.
    pub(crate) fn clear_goal(&mut self) -> Result<Goal, ToolError> {
        let cleared = self
            .retire(GoalStatus::Cleared)
            .ok_or_else(|| ToolError::not_found("there is no goal to clear; create_goal sets one"))?;
        self.last_cleared_goal = Some(cleared.goal.clone());
        Ok(cleared)
    }

    fn retire(&mut self, status: GoalStatus) -> Option<Goal> {
        let goal = self.goals.iter_mut().find(|goal| goal.status == GoalStatus::Active)?;
        goal.status = status;
        Some(goal.clone())
    }

    /// Adds a memo and returns it with the one that had to go.
    pub(crate) fn add_memo(&mut self, text: &str) -> Result<(Memo, Option<Memo>), ToolError> {
        check_text("memo", text, limits::MEMO)?;
        let memo = Memo { id: next_id(&mut self.last_memo_id)?, content: text.to_owned() };
        self.memos.push(memo.clone());
        let evicted = (self.memos.len() > limits::MEMOS).then(|| self.memos.remove(0));
        Ok((memo, evicted))
    }

    pub(crate) fn clear_memo(&mut self, id: u32) -> Result<Memo, ToolError> {
        match self.memos.iter().position(|memo| memo.id == id) {
            Some(position) => Ok(self.memos.remove(position)),
            None if self.memos.is_empty() => {
                Err(ToolError::not_found(format!("there is no memo {id}: there are none")))
            }
            None => Err(ToolError::not_found(format!(
                "there is no memo {id}; valid ids: {}",
                list_ids(self.memos.iter().map(|memo| memo.id))
            ))),
        }
    }

    /// What is left after the session is cleared: only which ids were given.
    pub(crate) fn cleared(&self) -> Self {
        Self { last_goal_id: self.last_goal_id, last_memo_id: self.last_memo_id, ..Self::default() }
    }
}
