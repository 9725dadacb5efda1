//! Tools on todos.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::reply;
use crate::limits::{self, list_ids};
use crate::store::{Thread, WithNotice};
use crate::todos::{Priority, Status, Todo, TodoChange, Todos};

#[derive(Serialize, JsonSchema)]
pub(crate) struct OneTodo {
    todo: Todo,
    /// How many todos of this thread are pending now.
    pending: usize,
    /// How many there are.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl OneTodo {
    /// `did` is what happened, such as "Added".
    fn reply(did: &str, outcome: WithNotice<(Todo, usize, usize)>) -> Reply<Self> {
        let (todo, pending, total) = outcome.value;
        let text = format!("{did} {}\n{pending} of {total} todos are pending.", todo.line());
        let notice = outcome.notice.clone();
        reply(outcome.notice.as_deref(), &text, Self { todo, pending, total, notice })
    }
}

fn with_counts(todos: &Todos, todo: Todo) -> (Todo, usize, usize) {
    (todo, todos.pending(), todos.todos.len())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddTodo {
    /// What is to be done: one step that can be finished.
    #[schemars(length(min = 1, max = limits::TODO_NAME))]
    name: String,
    /// How much it matters.
    #[serde(default)]
    priority: Priority,
}

/// Adds a todo to this thread: one step of the work. No goal is needed. Answers the todo with the id that mark_todo and
/// update_todo take; ids start at 1 and are never given twice. At most 500 todos are kept.
#[tool(title = "Add a todo")]
pub(crate) fn add_todo(call: &Call, input: AddTodo) -> Result<Reply<OneTodo>, ToolError> {
    let outcome = Thread::open(call)?.change(|todos: &mut Todos| {
        let todo = todos.add(&input.name, input.priority)?;
        Ok(with_counts(todos, todo))
    })?;
    Ok(OneTodo::reply("Added", outcome))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarkTodo {
    /// Which todo.
    #[schemars(range(min = 1))]
    id: u32,
    /// False makes it pending again.
    #[serde(default = "completed")]
    completed: bool,
    /// The result. Left out, the summary stays; an empty text erases it.
    #[schemars(length(max = limits::TODO_SUMMARY))]
    summary: Option<String>,
}

fn completed() -> bool {
    true
}

/// Marks a todo as done, or as pending again with `completed: false`. Call it as soon as a step is finished, with a
/// summary of the result. Answers the todo and how many are pending.
#[tool(title = "Mark a todo", idempotent)]
pub(crate) fn mark_todo(call: &Call, input: MarkTodo) -> Result<Reply<OneTodo>, ToolError> {
    let status = if input.completed { Status::Done } else { Status::Pending };
    let change = TodoChange { status: Some(status), summary: input.summary.as_deref(), ..TodoChange::default() };
    change_todo(call, input.id, &change)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateTodo {
    /// Which todo.
    #[schemars(range(min = 1))]
    id: u32,
    /// New wording; left out, the wording stays.
    #[schemars(length(min = 1, max = limits::TODO_NAME))]
    name: Option<String>,
    /// `cancelled` for a step that is not needed any more.
    status: Option<Status>,
    /// How much it matters.
    priority: Option<Priority>,
    /// The result. Left out, the summary stays; an empty text erases it.
    #[schemars(length(max = limits::TODO_SUMMARY))]
    summary: Option<String>,
}

/// Changes a todo: its wording, status (pending, done, cancelled), priority or summary. What is left out stays; at
/// least one change must be named. Answers the todo as it is now.
#[tool(title = "Change a todo", idempotent)]
pub(crate) fn update_todo(call: &Call, input: UpdateTodo) -> Result<Reply<OneTodo>, ToolError> {
    let change = TodoChange {
        name: input.name.as_deref(),
        status: input.status,
        priority: input.priority,
        summary: input.summary.as_deref(),
    };
    if let TodoChange { name: None, status: None, priority: None, summary: None } = change {
        return Err(ToolError::invalid("name a change: `name`, `status`, `priority` or `summary`"));
    }
    change_todo(call, input.id, &change)
}

fn change_todo(call: &Call, id: u32, change: &TodoChange<'_>) -> Result<Reply<OneTodo>, ToolError> {
    let outcome = Thread::open(call)?.change(|todos: &mut Todos| {
        let todo = todos.change(id, change)?;
        Ok(with_counts(todos, todo))
    })?;
    Ok(OneTodo::reply("Changed", outcome))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearTodos {
    /// Which todos; all of them where it is left out or empty.
    #[schemars(length(max = limits::TODOS), inner(range(min = 1)))]
    ids: Option<Vec<u32>>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ClearedTodos {
    /// The ids of the todos that are gone.
    cleared: Vec<u32>,
    /// How many are left.
    remaining: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Removes todos for good: those with the given ids, or all without ids. To keep a record of a step, cancel it with
/// update_todo instead. Answers the ids that are gone.
#[tool(title = "Clear todos", destructive)]
pub(crate) fn clear_todos(call: &Call, input: ClearTodos) -> Result<Reply<ClearedTodos>, ToolError> {
    let ids = input.ids.unwrap_or_default();
    let outcome = Thread::open(call)?.change(|todos: &mut Todos| Ok((todos.clear(&ids)?, todos.todos.len())))?;
    let (cleared, remaining) = outcome.value;
    let text = match cleared.len() {
        0 => "There was no todo to clear.".to_owned(),
        _ => format!("Cleared todos {}; {remaining} are left.", list_ids(cleared.iter().copied())),
    };
    let notice = outcome.notice.clone();
    Ok(reply(outcome.notice.as_deref(), &text, ClearedTodos { cleared, remaining, notice }))
}
