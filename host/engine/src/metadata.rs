//! A plugin's lists of its tools, prompts, templates and claims: read once, with nothing
//! granted, and checked before a client sees any of it.

use std::{collections::HashSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wharf_core::{
    CallLimits, Claims, InvalidTool, SchemaBudget, SchemaDocument, SchemaLimits, Tool, ToolDefinition, ToolProblem,
    json::Estimate,
    offer,
    service::offer::{PromptArgument, PromptDefinition, ResourceTemplate},
    tool::{MAX_META_BYTES, MAX_SCHEMA_BYTES, MAX_TOOLS},
};

use crate::{
    bindings::{
        exports::wharf::plugin::tools as wit,
        offered::exports::wharf::plugin::{prompts, resources},
    },
    error::LoadError,
};

/// What a plugin offers beside tools, checked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Offerings {
    pub(crate) prompts: Vec<PromptDefinition>,
    pub(crate) claims: Arc<Claims>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) completes: bool,
    /// Whether it imports what opens streams of events.
    pub(crate) opens_streams: bool,
    /// Exported functions that are no tools, each with the reason.
    pub(crate) left_out: Vec<String>,
}

/// What a plugin lists: its tools, what it offers beside them, and the instances that it imports.
pub(crate) type Listed = (Vec<Tool>, Offerings, Vec<String>);

impl From<InvalidTool> for LoadError {
    fn from(error: InvalidTool) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Whether the JSON of a list may be parsed: a list is the answer of a call, and may take as
/// much memory as one does by default.
fn bounded<'t>(texts: impl Iterator<Item = Option<&'t String>>) -> Result<(), LoadError> {
    let most = CallLimits::default().answer_json_bytes;
    let bytes: u64 = texts.flatten().map(|text| Estimate::of(text.as_bytes()).bytes()).sum();
    if bytes > most {
        let told = format!("the JSON of what it lists takes about {bytes} bytes of memory, more than {most}");
        return Err(LoadError::Refused(told));
    }
    Ok(())
}

/// Converts what `list-tools` returned.
pub(crate) fn definitions(listed: Vec<wit::Tool>) -> Result<Vec<ToolDefinition>, LoadError> {
    if listed.len() > MAX_TOOLS {
        return Err(LoadError::Refused(format!("it lists more than {MAX_TOOLS} tools")));
    }
    bounded(
        listed.iter().flat_map(|tool| [Some(&tool.input_schema), tool.output_schema.as_ref(), tool.meta.as_ref()]),
    )?;
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
    let schema = |part, raw| object(part, raw, MAX_SCHEMA_BYTES).map(SchemaDocument::from);
    let input_schema = schema("input schema", &listed.input_schema)?;
    let output_schema = listed.output_schema.as_deref().map(|raw| schema("output schema", raw)).transpose()?;
    let meta = listed.meta.as_deref().map(|raw| object("`meta`", raw, MAX_META_BYTES)).transpose()?;
    let meta = meta.unwrap_or_default();
    ToolDefinition { name, description: listed.description, input_schema, output_schema, meta }.cleaned()
}

/// The definitions of functions, as a client may see them.
pub(crate) fn cleaned(definitions: Vec<ToolDefinition>) -> Result<Vec<ToolDefinition>, LoadError> {
    definitions.into_iter().map(|definition| definition.cleaned().map_err(LoadError::from)).collect()
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

/// What a plugin lists of its prompts, before it is checked.
pub(crate) fn prompts(listed: Vec<prompts::Prompt>) -> Result<Vec<PromptDefinition>, LoadError> {
    let argument = |listed: prompts::Argument| PromptArgument {
        name: listed.name,
        description: listed.description,
        required: listed.required,
    };
    let definition = |listed: prompts::Prompt| {
        Ok(PromptDefinition {
            meta: definition_meta("prompt", &listed.name, listed.meta.as_deref())?,
            name: listed.name,
            description: listed.description,
            arguments: listed.arguments.into_iter().map(argument).collect(),
        })
    };
    bounded(listed.iter().map(|prompt| prompt.meta.as_ref()))?;
    let prompts = listed.into_iter().map(definition).collect::<Result<_, LoadError>>()?;
    offer::check_prompts(prompts).map_err(|error| LoadError::Refused(error.to_string()))
}

/// What a plugin lists of its templates, within what it claims.
pub(crate) fn templates(listed: Vec<resources::Template>, claims: &Claims) -> Result<Vec<ResourceTemplate>, LoadError> {
    let definition = |listed: resources::Template| {
        Ok(ResourceTemplate {
            meta: definition_meta("template", &listed.uri_template, listed.meta.as_deref())?,
            uri_template: listed.uri_template,
            name: listed.name,
            description: listed.description,
            mime_type: listed.mime_type,
        })
    };
    bounded(listed.iter().map(|template| template.meta.as_ref()))?;
    let templates = listed.into_iter().map(definition).collect::<Result<_, LoadError>>()?;
    offer::check_templates(templates, claims).map_err(|error| LoadError::Refused(error.to_string()))
}

fn definition_meta(kind: &str, name: &str, raw: Option<&str>) -> Result<Map<String, Value>, LoadError> {
    let Some(raw) = raw else { return Ok(Map::new()) };
    let refused = |what: String| {
        let name = wharf_core::text::line(name, 128);
        LoadError::Refused(format!("{kind} `{name}`: its `meta` {what}"))
    };
    if raw.len() > MAX_META_BYTES {
        return Err(refused(format!("has more than {MAX_META_BYTES} bytes")));
    }
    serde_json::from_str(raw).map_err(|error| refused(format!("is no JSON object: {error}")))
}
