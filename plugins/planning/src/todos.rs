//! The document `todos`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::ToolError;

use crate::limits::{self, check_length, check_text, list_ids, next_id};
use crate::store::ThreadDocument;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Pending,
    Done,
    Cancelled,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Priority {
    Low,
    #[default]
    Normal,
    High,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Todo {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) status: Status,
    pub(crate) priority: Priority,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
}

/// What to change of a todo; a field that is `None` stays.
#[derive(Debug, Default)]
pub(crate) struct TodoChange<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) status: Option<Status>,
    pub(crate) priority: Option<Priority>,
    /// An empty one erases the summary.
    pub(crate) summary: Option<&'a str>,
}

/// In the order of their ids.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Todos {
    pub(crate) todos: Vec<Todo>,
    last_id: u32,
}

impl ThreadDocument for Todos {
    const KEY: &'static str = "todos";
    const LARGEST_BYTES: usize = 256 * 1024;
    const ROOM: &'static str = "clear_todos makes room; shorter names and summaries do too";
}

impl Todos {
    pub(crate) fn add(&mut self, name: &str, priority: Priority) -> Result<Todo, ToolError> {
        check_text("name", name, limits::TODO_NAME)?;
        if self.todos.len() >= limits::TODOS {
            return Err(ToolError::limit(format!(
                "this thread has {} todos, as many as it may; clear_todos removes those that are not needed any more",
                limits::TODOS
            )));
        }
        let id = next_id(&mut self.last_id)?;
        let todo = Todo { id, name: name.to_owned(), status: Status::Pending, priority, summary: None };
        self.todos.push(todo.clone());
        Ok(todo)
    }

    pub(crate) fn change(&mut self, id: u32, change: &TodoChange<'_>) -> Result<Todo, ToolError> {
        if let Some(name) = change.name {
            check_text("name", name, limits::TODO_NAME)?;
        }
        if let Some(summary) = change.summary {
            check_length("summary", summary, limits::TODO_SUMMARY)?;
        }
        let position = self.todos.iter().position(|todo| todo.id == id).ok_or_else(|| self.unknown(&[id]))?;
        let todo = &mut self.todos[position];
        if let Some(name) = change.name {
            name.clone_into(&mut todo.name);
        }
        todo.status = change.status.unwrap_or(todo.status);
        todo.priority = change.priority.unwrap_or(todo.priority);
        if let Some(summary) = change.summary {
            todo.summary = (!summary.is_empty()).then(|| summary.to_owned());
        }
        Ok(todo.clone())
    }

    /// Removes these todos, or all where none is named, and returns their ids.
    pub(crate) fn clear(&mut self, ids: &[u32]) -> Result<Vec<u32>, ToolError> {
        let unknown: Vec<u32> = ids.iter().copied().filter(|id| self.todos.iter().all(|todo| todo.id != *id)).collect();
        if !unknown.is_empty() {
            return Err(self.unknown(&unknown));
        }
        let goes = |todo: &Todo| ids.is_empty() || ids.contains(&todo.id);
        let cleared = self.todos.iter().filter(|todo| goes(todo)).map(|todo| todo.id).collect();
        self.todos.retain(|todo| !goes(todo));
        Ok(cleared)
    }

    fn unknown(&self, ids: &[u32]) -> ToolError {
        let unknown = list_ids(ids.iter().copied());
        if self.todos.is_empty() {
            return ToolError::not_found(format!("there is no todo {unknown}: there are none; add_todo adds one"));
        }
        let valid = list_ids(self.todos.iter().map(|todo| todo.id));
        ToolError::not_found(format!("there is no todo {unknown}; valid ids: {valid}"))
    }

    pub(crate) fn pending(&self) -> usize {
        self.todos.iter().filter(|todo| todo.status == Status::Pending).count()
    }

    /// What is left after the session is cleared: only which ids were given.
    pub(crate) fn cleared(&self) -> Self {
        Self { todos: Vec::new(), last_id: self.last_id }
    }
}

impl Todo {
    /// One line of text.
    pub(crate) fn line(&self) -> String {
        let mark = match self.status {
            Status::Pending => "[ ]",
            Status::Done => "[x]",
            Status::Cancelled => "[-]",
        };
        let priority = match self.priority {
            Priority::Low => " (low)",
            Priority::Normal => "",
            Priority::High => " (high)",
        };
        let summary = self.summary.as_ref().map(|summary| format!(" - {summary}")).unwrap_or_default();
        format!("{mark} {}{priority}: {}{summary}", self.id, self.name)
    }
}
