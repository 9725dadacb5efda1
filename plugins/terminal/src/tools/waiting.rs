//! The tools for a turn that outlasted the call which began it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::terminal::Turn;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::of_terminal;
use crate::following::follow;
use crate::limits;
use crate::output::answer::TurnAnswer;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitForTurn {
    /// Of start_terminal or list_terminals.
    #[schemars(length(min = 1, max = limits::TERMINAL_ID))]
    terminal_id: String,
    /// Shows only what comes from here on: `next_cursor` of an earlier answer. Left out, all of the turn.
    cursor: Option<u64>,
    /// Seconds to wait at most.
    #[serde(default = "default_wait")]
    #[schemars(range(max = limits::WAIT_SECONDS))]
    wait_seconds: u64,
}

fn default_wait() -> u64 {
    300
}

/// Waits until the turn that runs in a terminal is over, and answers as send_message does. Waiting costs nothing, so
/// give it a long time rather than calling it often.
#[tool(title = "Wait for a turn", read_only, timeout_milliseconds = 600_000)]
pub(crate) fn wait_for_turn(call: &Call, input: WaitForTurn) -> Result<Reply<TurnAnswer>, ToolError> {
    check_text("terminal_id", &input.terminal_id, limits::TERMINAL_ID)?;
    check_range("wait_seconds", input.wait_seconds, 0, limits::WAIT_SECONDS)?;
    let id = input.terminal_id.as_str();
    let turn = last_turn(call, id)?;
    let from = input.cursor.unwrap_or(turn.start).max(turn.start);
    let turn = if turn.is_running() {
        let wait = Duration::from_secs(input.wait_seconds);
        follow(call, id, &turn, from, wait).map_err(of_terminal)?
    } else {
        turn
    };
    answer(call, id, &turn, from, &format!(" after {} s more", input.wait_seconds))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelTurn {
    /// Of start_terminal or list_terminals.
    #[schemars(length(min = 1, max = limits::TERMINAL_ID))]
    terminal_id: String,
}

/// Gives up the turn that runs in a terminal, so that send_message may begin another one. The program is sent nothing
/// and works on: to interrupt it, call send_keys with ["C-c"] instead, which usually ends the turn by itself.
#[tool(title = "Cancel a turn", idempotent)]
pub(crate) fn cancel_turn(call: &Call, input: CancelTurn) -> Result<Reply<TurnAnswer>, ToolError> {
    check_text("terminal_id", &input.terminal_id, limits::TERMINAL_ID)?;
    let id = input.terminal_id.as_str();
    let turn = last_turn(call, id)?;
    call.terminals().cancel(id, turn.number).map_err(of_terminal)?;
    // Another one cannot have begun while this one ran.
    let turn = last_turn(call, id)?;
    answer(call, id, &turn, turn.start, "")
}

fn last_turn(call: &Call, id: &str) -> Result<Turn, ToolError> {
    let info = call.terminals().get(id).map_err(of_terminal)?;
    let missing = || match info.because() {
        _ if !info.is_closed() => ToolError::not_found("this terminal has had no turn yet; send_message begins one"),
        // One that was lost with its host may have had turns; nothing can begin one.
        because => {
            let because = because.map(|because| format!(": {because}")).unwrap_or_default();
            of_terminal(ToolError::gone(format!("this terminal is closed{because}, and no turn of it is kept")))
        }
    };
    info.turn.clone().ok_or_else(missing)
}

fn answer(call: &Call, id: &str, turn: &Turn, from: u64, waited: &str) -> Result<Reply<TurnAnswer>, ToolError> {
    let (answer, info) = TurnAnswer::new(call, id, turn, from, "")?;
    Ok(Reply::new(answer.text(turn, &info, waited), answer))
}
