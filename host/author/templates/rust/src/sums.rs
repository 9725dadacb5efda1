//! A tool that talks to an interactive program in a terminal; the host finds out when its turn ends.

use std::time::Duration;

use wharf_sdk::{
    Call, Reply, ToolError,
    terminal::{Input, Launch, TurnOptions, View},
    tool,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sum {
    /// An expression of Python, such as `6 * 7`.
    #[schemars(length(min = 1, max = 1_000))]
    expression: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Computed {
    /// What the interpreter printed.
    output: String,
}

/// Computes an expression with an interpreter of Python.
#[tool(title = "Compute")]
pub(crate) fn compute(call: &Call, input: Sum) -> Result<Reply<Computed>, ToolError> {
    let terminals = call.terminals();
    let id = terminals.start("python3", &["-q"], &Launch::new())?.terminal.id;
    // Its prompt: what is sent before that is typed into nothing.
    terminals.read(&id, View::Text, 0, 4_096, Duration::from_secs(5))?;
    let turn = terminals.send(&id, Input::Submit(&input.expression), &TurnOptions::new())?;
    let followed = terminals.follow(&id, turn.number, turn.start, 4_096, Duration::from_secs(5))?;
    let output = followed.piece.text().into_owned();
    Ok(Reply::new(output.clone(), Computed { output }))
}
