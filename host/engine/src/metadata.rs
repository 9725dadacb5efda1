//! What a plugin says of its tools, read once, under deny-all, and checked
//! before any of it reaches a client.

use std::{collections::HashSet, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use wharf_core::{Schema, ToolDefinition, text, tool::is_reserved};

use crate::{bindings::exports::wharf::plugin::tools as wit, error::LoadError};

const MAX_TOOLS: usize = 256;
const MAX_NAME_BYTES: usize = 64;
const MAX_DESCRIPTION_BYTES: usize = 8 << 10;
const MAX_SCHEMA_BYTES: usize = 64 << 10;
const MAX_META_BYTES: usize = 64 << 10;
/// The member of a tool's `meta` that declares its wall-clock time.
const WALL_TIME: &str = "timeoutMilliseconds";

/// One tool of a plugin, ready to be called.
#[derive(Debug, Clone)]
pub struct Tool {
    /// What a client sees, under the tool's own name.
    pub definition: ToolDefinition,
    /// Checks arguments.
    pub input: Schema,
    /// Checks structured answers.
    pub output: Option<Schema>,
    /// The wall-clock time that it declares for itself.
    pub wall_time: Option<Duration>,
}

fn refused(tool: &str, what: impl std::fmt::Display) -> LoadError {
    LoadError::Refused(format!("tool `{}`: {what}", text::line(tool, MAX_NAME_BYTES)))
}

/// Converts what `list-tools` returned.
pub(crate) fn definitions(listed: Vec<wit::Tool>) -> Result<Vec<ToolDefinition>, LoadError> {
    if listed.len() > MAX_TOOLS {
        return Err(LoadError::Refused(format!("it lists more than {MAX_TOOLS} tools")));
    }
    listed.into_iter().map(definition).collect()
}

fn definition(listed: wit::Tool) -> Result<ToolDefinition, LoadError> {
    let name = listed.name;
    let schema = |what: &str, raw: &str| -> Result<Arc<Map<String, Value>>, LoadError> {
        if raw.len() > MAX_SCHEMA_BYTES {
            return Err(refused(&name, format!("its {what} has more than {MAX_SCHEMA_BYTES} bytes")));
        }
        serde_json::from_str(raw).map_err(|error| refused(&name, format!("its {what} is no JSON object: {error}")))
    };
    let input_schema = schema("input schema", &listed.input_schema)?;
    let output_schema = listed.output_schema.as_deref().map(|raw| schema("output schema", raw)).transpose()?;
    let mut meta = match listed.meta.as_deref() {
        None => Map::<String, Value>::new(),
        Some(raw) if raw.len() > MAX_META_BYTES => {
            return Err(refused(&name, format!("its `meta` has more than {MAX_META_BYTES} bytes")));
        }
        Some(raw) => serde_json::from_str(raw)
            .map_err(|error| refused(&name, format!("its `meta` is no JSON object: {error}")))?,
    };
    meta.retain(|key, _| !is_reserved(key));
    if listed.description.is_empty() || listed.description.len() > MAX_DESCRIPTION_BYTES {
        return Err(refused(&name, format!("its description must have 1 to {MAX_DESCRIPTION_BYTES} bytes")));
    }
    Ok(ToolDefinition { name, description: text::visible(listed.description), input_schema, output_schema, meta })
}

/// Compiles the schemas of definitions, and refuses what breaks the contract.
pub(crate) fn check(definitions: Vec<ToolDefinition>) -> Result<Vec<Tool>, LoadError> {
    let mut names = HashSet::new();
    for definition in &definitions {
        let name = &definition.name;
        if !legal(name) {
            return Err(refused(
                name,
                "its name must be 1 to 64 characters of [A-Za-z0-9_-] without two underscores in a row",
            ));
        }
        if !names.insert(name.as_str()) {
            return Err(refused(name, "two tools have this name"));
        }
    }
    definitions.into_iter().map(tool).collect()
}

fn legal(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !name.contains("__")
}

/// Tools whose definitions passed [`check`] before they were kept.
pub(crate) fn checked_before(definitions: Vec<ToolDefinition>) -> Vec<Tool> {
    let tool = |definition: ToolDefinition| Tool {
        input: Schema::checked_before(&definition.input_schema),
        output: definition.output_schema.as_ref().map(Schema::checked_before),
        wall_time: definition.meta.get(WALL_TIME).and_then(Value::as_u64).map(Duration::from_millis),
        definition,
    };
    definitions.into_iter().map(tool).collect()
}

fn tool(definition: ToolDefinition) -> Result<Tool, LoadError> {
    let compile = |what: &str, schema: &Arc<Map<String, Value>>| {
        Schema::compile(schema).map_err(|error| refused(&definition.name, format!("its {what} is refused: {error}")))
    };
    let input = compile("input schema", &definition.input_schema)?;
    let output = definition.output_schema.as_ref().map(|schema| compile("output schema", schema)).transpose()?;
    let wall_time = match definition.meta.get(WALL_TIME) {
        None => None,
        Some(declared) => match declared.as_u64() {
            Some(milliseconds) if milliseconds > 0 => Some(Duration::from_millis(milliseconds)),
            _ => return Err(refused(&definition.name, format!("`{WALL_TIME}` must be a whole number above 0"))),
        },
    };
    Ok(Tool { input, output, wall_time, definition })
}
