//! A tool with durable state: entries of this plugin in the caller's session.

use wharf_sdk::{Call, Reply, Scope, ToolError, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Visit {
    /// Who visits.
    #[schemars(length(min = 1, max = 100))]
    visitor: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Visits {
    /// How often this visitor came in this session.
    count: u64,
}

/// Counts the visits of somebody in this session.
#[tool(title = "Count a visit")]
pub(crate) fn count_visit(call: &Call, input: Visit) -> Result<Reply<Visits>, ToolError> {
    let visits = call.state(Scope::Session, "visits")?;
    // Other calls run at the same time: `update` starts again where one wrote meanwhile.
    let count = visits.update(&input.visitor, |count: &mut u64| {
        *count += 1;
        Ok(*count)
    })?;
    Ok(Reply::new(format!("Visit {count} of {}.", input.visitor), Visits { count }))
}
