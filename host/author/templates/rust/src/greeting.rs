//! A tool that needs nothing of its host.

use wharf_sdk::{Call, Reply, ToolError, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Greet {
    /// Whom to greet.
    #[schemars(length(min = 1, max = 100))]
    name: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Greeted {
    /// What was said.
    greeting: String,
}

/// Greets somebody by name. The model reads this to choose the tool.
#[tool(title = "Greet", read_only, idempotent)]
pub(crate) fn greet(_call: &Call, input: Greet) -> Result<Reply<Greeted>, ToolError> {
    if input.name.trim().is_empty() {
        return Err(ToolError::invalid("`name` is blank; say whom to greet"));
    }
    let greeting = format!("Welcome, {}.", input.name.trim());
    Ok(Reply::new(greeting.clone(), Greeted { greeting }))
}
