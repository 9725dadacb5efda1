//! Tools on everything that a thread holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Change, Entry, Reply, ToolError, tool};

use super::reply;
use crate::limits;
use crate::plan::{Memo, Plan};
use crate::store::{Thread, ThreadDocument, read, write};
use crate::thinking::{Thinking, Thought};
use crate::todos::{Todo, Todos};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct GetCurrentState {
    /// How many of the youngest thoughts of sequentialthinking to show as well.
    #[serde(default)]
    #[schemars(range(max = limits::RECENT_THOUGHTS))]
    recent_thoughts: u32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CurrentState {
    /// The active goal.
    goal: Option<String>,
    last_cleared_goal: Option<String>,
    /// In the order in which they were added.
    todos: Vec<Todo>,
    /// The oldest first.
    memos: Vec<Memo>,
    /// How many thoughts this thread has had.
    thought_history_length: u64,
    /// The thoughts that were asked for, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recent_thoughts: Vec<Thought>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

const DOCUMENTS: [&str; 3] = [Plan::KEY, Todos::KEY, Thinking::KEY];

/// Shows the plan of this thread: the goal, every todo with its id and status, the memos. Call it when you take work up
/// again, or lost sight of it. With `recentThoughts` it also shows the youngest thoughts of sequentialthinking.
#[tool(title = "Show the plan", read_only, idempotent)]
pub(crate) fn get_current_state(call: &Call, input: GetCurrentState) -> Result<Reply<CurrentState>, ToolError> {
    if input.recent_thoughts > limits::RECENT_THOUGHTS {
        return Err(ToolError::invalid(format!("`recentThoughts` is at most {}", limits::RECENT_THOUGHTS)));
    }
    let thread = Thread::open(call)?;
    let entries = thread.bucket.get_many(&DOCUMENTS)?;
    let [plan, todos, thinking] = by_document(&entries);
    let notice = thread.notice(entries.iter().all(Option::is_none))?;
    let (plan, todos, thinking): (Plan, Todos, Thinking) = (read(plan)?, read(todos)?, read(thinking)?);
    let state = CurrentState {
        goal: plan.active().map(|goal| goal.goal.clone()),
        last_cleared_goal: plan.last_cleared_goal,
        todos: todos.todos,
        memos: plan.memos,
        thought_history_length: thinking.count,
        recent_thoughts: recent_thoughts(&thread, &thinking, input.recent_thoughts)?,
        notice: notice.clone(),
    };
    Ok(reply(notice.as_deref(), &state.text(), state))
}

fn by_document(entries: &[Option<Entry>]) -> [Option<&Entry>; 3] {
    std::array::from_fn(|index| entries.get(index).and_then(Option::as_ref))
}

fn recent_thoughts(thread: &Thread<'_>, thinking: &Thinking, wanted: u32) -> Result<Vec<Thought>, ToolError> {
    let keys = thinking.youngest(wanted.into());
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let entries = thread.bucket.get_many(&keys)?;
    let mut thoughts = Vec::new();
    for entry in entries.iter().flatten() {
        thoughts.push(entry.json::<Thought>()?);
    }
    // A thought that came in meanwhile may have taken the place of the oldest.
    thoughts.sort_by_key(|thought| thought.sequence);
    Ok(thoughts)
}

impl CurrentState {
    fn text(&self) -> String {
        let mut text = match (&self.goal, &self.last_cleared_goal) {
            (Some(goal), _) => format!("Goal: {goal}\n"),
            (None, Some(cleared)) => format!("Goal: none (the last one was cleared: {cleared})\n"),
            (None, None) => "Goal: none\n".to_owned(),
        };
        section(&mut text, "Todos", self.todos.iter().map(Todo::line));
        section(&mut text, "Memos", self.memos.iter().map(|memo| format!("{}: {}", memo.id, memo.content)));
        text.push_str(&format!("Thoughts: {}\n", self.thought_history_length));
        for thought in &self.recent_thoughts {
            text.push_str(&format!("  {}: {}\n", thought.thought_number, thought.thought));
        }
        text.truncate(text.trim_end().len());
        shorten(&mut text);
        text
    }
}

fn section(text: &mut String, title: &str, lines: impl ExactSizeIterator<Item = String>) {
    text.push_str(&format!("{title}: {}\n", lines.len()));
    for line in lines {
        text.push_str(&format!("  {line}\n"));
    }
}

fn shorten(text: &mut String) {
    if text.len() > limits::OVERVIEW_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(limits::OVERVIEW_TEXT_BYTES));
        text.push_str("\n… cut here; the structured answer has all of it.");
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ClearedSession {
    /// How many goals are gone.
    goals: usize,
    /// How many todos are gone.
    todos: usize,
    /// How many memos are gone.
    memos: usize,
    /// How many thoughts are gone.
    thoughts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Removes everything that this thread holds for good: goals, todos, memos and thoughts. Use it only when unrelated
/// work begins or you are asked to. Ids go on counting. Answers how much is gone.
#[tool(title = "Clear everything", destructive, idempotent)]
pub(crate) fn clear_session(call: &Call) -> Result<Reply<ClearedSession>, ToolError> {
    let thread = Thread::open(call)?;
    let mut notice = None;
    let cleared = thread.bucket.transact(&DOCUMENTS, |entries| {
        notice = thread.notice(entries.iter().all(Option::is_none))?;
        let [plan, todos, thinking] = by_document(entries);
        let mut changes = Vec::new();
        let plan: Plan = start_over(plan, Plan::cleared, &mut changes)?;
        let todos: Todos = start_over(todos, Todos::cleared, &mut changes)?;
        let unreadable = thinking.is_some_and(|entry| read::<Thinking>(Some(entry)).is_err());
        let thinking: Thinking = start_over(thinking, |_| Thinking::default(), &mut changes)?;
        // Where it is unknown how many thoughts there are, every place is emptied.
        let places = if unreadable { limits::THOUGHTS } else { thinking.kept() };
        changes.extend((1..=places).map(|sequence| Change::delete(crate::thinking::thought_key(sequence))));
        let cleared = ClearedSession {
            goals: plan.goals.len(),
            todos: todos.todos.len(),
            memos: plan.memos.len(),
            thoughts: thinking.count,
            notice: notice.clone(),
        };
        Ok((changes, cleared))
    })?;
    let text = format!(
        "Everything is cleared: {} goals, {} todos, {} memos, {} thoughts.",
        cleared.goals, cleared.todos, cleared.memos, cleared.thoughts
    );
    Ok(reply(notice.as_deref(), &text, cleared))
}

/// Replaces a document by what is left of it, and returns what it was. One that
/// cannot be read is removed: this tool is the way out of that.
fn start_over<D: ThreadDocument>(
    entry: Option<&Entry>,
    cleared: impl Fn(&D) -> D,
    changes: &mut Vec<Change>,
) -> Result<D, ToolError> {
    let Some(entry) = entry else { return Ok(D::default()) };
    match read::<D>(Some(entry)) {
        Ok(document) => {
            changes.push(write(&cleared(&document))?);
            Ok(document)
        }
        Err(_) => {
            changes.push(Change::delete(D::KEY));
            Ok(D::default())
        }
    }
}
