//! What a plugin says of its tools and of what else it offers, read once, under deny-all, and checked
//! before any of it reaches a client.

use std::{collections::HashSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wharf_core::{
    Claims, InvalidTool, SchemaBudget, SchemaLimits, Tool, ToolDefinition, ToolProblem,
    service::offer::{PromptDefinition, ResourceTemplate},
    tool::{MAX_META_BYTES, MAX_SCHEMA_BYTES, MAX_TOOLS},
};

use crate::{bindings::exports::wharf::plugin::tools as wit, error::LoadError};

/// What a plugin offers beside tools, checked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Offered {
    pub(crate) prompts: Vec<PromptDefinition>,
    pub(crate) claims: Arc<Claims>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) completes: bool,
}

impl From<InvalidTool> for LoadError {
    fn from(error: InvalidTool) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Converts what `list-tools` returned.
pub(crate) fn definitions(listed: Vec<wit::Tool>) -> Result<Vec<ToolDefinition>, LoadError> {
    if listed.len() > MAX_TOOLS {
        return Err(LoadError::Refused(format!("it lists more than {MAX_TOOLS} tools")));
    }
    listed.into_iter().map(|tool| definition(tool).map_err(LoadError::from)).collect()
}

fn definition(listed: wit::Tool) -> Result<ToolDefinition, InvalidTool> {
    let name = listed.name;
    let object = |part: &'static str, raw: &str, limit: usize| -> Result<Map<String, Value>, InvalidTool> {
        if raw.len() > limit {
            return Err(ToolProblem::TooLong { part, limit }.of(&name));
        }
        serde_json::from_str(raw).map_err(|error| ToolProblem::NoObject { part, found: error.to_string() }.of(&name))
    };
    let schema = |part, raw| object(part, raw, MAX_SCHEMA_BYTES).map(Arc::new);
    let input_schema = schema("input schema", &listed.input_schema)?;
    let output_schema = listed.output_schema.as_deref().map(|raw| schema("output schema", raw)).transpose()?;
    let meta = listed.meta.as_deref().map(|raw| object("`meta`", raw, MAX_META_BYTES)).transpose()?;
    let meta = meta.unwrap_or_default();
    ToolDefinition { name, description: listed.description, input_schema, output_schema, meta }.cleaned()
}

/// Compiles the schemas of definitions, and refuses what breaks the contract.
pub(crate) fn check(definitions: Vec<ToolDefinition>, limits: SchemaLimits) -> Result<Vec<Tool>, LoadError> {
    let mut names = HashSet::new();
    for definition in &definitions {
        if !names.insert(definition.name.as_str()) {
            return Err(ToolProblem::Twice.of(&definition.name).into());
        }
    }
    let mut budget = SchemaBudget::new(limits);
    let compile = |definition| Tool::compile(definition, &mut budget).map_err(LoadError::from);
    definitions.into_iter().map(compile).collect()
}

/// Tools whose definitions passed [`check`] before they were kept.
pub(crate) fn checked_before(definitions: Vec<ToolDefinition>, limits: SchemaLimits) -> Vec<Tool> {
    definitions.into_iter().map(|definition| Tool::checked_before(definition, limits)).collect()
}
