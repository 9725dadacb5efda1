//! A tool that starts a program, which the operator granted by name, and waits for its end.

use std::time::Duration;

use wharf_sdk::{
    Call, Reply, ToolError,
    process::{Condition, Launch, Stream},
    tool,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompilerVersion {}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Compiler {
    /// The first line that the compiler prints.
    version: String,
}

/// Tells which C compiler the host has.
#[tool(title = "Show the compiler", read_only, idempotent)]
pub(crate) fn compiler_version(call: &Call, _input: CompilerVersion) -> Result<Reply<Compiler>, ToolError> {
    let processes = call.processes();
    let id = processes.spawn("cc", &["--version"], &Launch::new())?;
    processes.wait(&id, &Condition::new().exit(), Duration::from_secs(10))?;
    let output = processes.tail(&id, Stream::Stdout, 10, 4_096)?;
    let version = output.text().lines().next().unwrap_or_default().to_owned();
    Ok(Reply::new(version.clone(), Compiler { version }))
}
