//! One tool that answers what it is told: the smallest plugin, and the guest
//! of the benchmarks.
//!
//! It must never do more, since every other thing it did would be measured as
//! the host's.

use wharf_sdk::{Call, Text, ToolError, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    /// What to answer.
    text: String,
}

/// Answers the text that it is given, unchanged.
#[tool(title = "Echo", read_only, idempotent)]
fn echo(_call: &Call, input: Echo) -> Result<Text, ToolError> {
    Ok(Text(input.text))
}

wharf_sdk::plugin!(echo);
