//! The planning plugin: a goal, todos, memos and a chain of thoughts, kept
//! apart for each thread of an agent's work.
//!
//! - `limits` says how much of everything there may be, and refuses the rest.
//! - `plan`, `todos` and `thinking` are the three documents of a thread: rules
//!   on plain values that know nothing of calls or storage.
//! - `store` reads and writes a document under optimistic control.
//! - `tools` are the functions that a model calls: each changes one document
//!   and says the result.
//!
//! No module knows whose thread it is: the host keys the state.

mod limits;
mod plan;
mod store;
mod thinking;
mod todos;
mod tools;

use tools::goals::{clear_goal, create_goal, list_goals, update_goal};
use tools::memos::{add_memo, clear_memo};
use tools::overview::{clear_session, get_current_state};
use tools::thoughts::sequentialthinking;
use tools::todos::{add_todo, clear_todos, mark_todo, update_todo};

wharf_sdk::plugin!(
    create_goal,
    update_goal,
    clear_goal,
    list_goals,
    add_todo,
    mark_todo,
    update_todo,
    clear_todos,
    add_memo,
    clear_memo,
    get_current_state,
    clear_session,
    sequentialthinking,
);

wharf_sdk::reasons!(state = "keeps the goal, todos, memos and thoughts of each thread");
