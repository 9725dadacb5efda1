//! A tool whose definition was checked: one that can be called.
//!
//! Definitions come from plugins and from the embedding app, and end up with a
//! model; none of either is believed.

use std::time::Duration;

use serde_json::{Map, Value};
use wharf_contract::tools::TIMEOUT_MILLISECONDS;

use super::{CompactSchemas, ToolDefinition, clean_fields, wording::visible_schema};
use crate::{Schema, SchemaBudget, SchemaDocument, SchemaError, SchemaLimits, text};

/// Tools of one plugin, or of the embedding app.
pub const MAX_TOOLS: usize = 256;
/// Length of a tool's own name.
pub const MAX_NAME_BYTES: usize = 64;
/// Length of a description.
pub const MAX_DESCRIPTION_BYTES: usize = 8 << 10;
/// JSON text of a schema.
pub const MAX_SCHEMA_BYTES: usize = 64 << 10;
/// JSON text of the `meta` of a tool.
pub const MAX_META_BYTES: usize = 64 << 10;

/// One tool, ready to be called.
#[derive(Debug, Clone)]
pub struct Tool {
    /// What a client sees, under the tool's own name.
    pub definition: ToolDefinition,
    /// Its schemas as a compact list shows them.
    pub compact: CompactSchemas,
    /// Checks arguments.
    pub input: Schema,
    /// Checks structured answers.
    pub output: Option<Schema>,
    /// The wall-clock time that it declares for itself.
    pub wall_time: Option<Duration>,
    /// Whether a property of its input schema says that HTTP requests repeat it in a header
    /// (`x-mcp-header`).
    pub repeats_arguments: bool,
}

/// Why a tool is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}`: {problem}")]
pub struct InvalidTool {
    /// Its name, as far as it can be shown.
    pub tool: String,
    /// What is wrong with it.
    pub problem: ToolProblem,
}

/// What is wrong with the definition of a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolProblem {
    /// Its name is malformed.
    #[error("its name must be 1 to {MAX_NAME_BYTES} characters of [A-Za-z0-9_-] without two underscores in a row")]
    Name,
    /// Another one is called the same.
    #[error("two tools have this name")]
    Twice,
    /// It says nothing of itself, or too much.
    #[error("its description must have 1 to {MAX_DESCRIPTION_BYTES} bytes")]
    Description,
    /// A part of it is too long.
    #[error("its {part} has more than {limit} bytes")]
    TooLong {
        /// Which part.
        part: &'static str,
        /// What is allowed.
        limit: usize,
    },
    /// A part of it is no object.
    #[error("its {part} is no JSON object: {found}")]
    NoObject {
        /// Which part.
        part: &'static str,
        /// What it is instead.
        found: String,
    },
    /// A schema cannot be trusted or is not valid.
    #[error("its {part} is refused: {reason}")]
    Schema {
        /// Which schema.
        part: &'static str,
        /// Why.
        reason: SchemaError,
    },
    /// A schema has something invisible where it cannot be taken out.
    #[error(
        "its {part} has invisible or reordering characters in `{place}`; a model and a person would read different texts"
    )]
    Invisible {
        /// Which schema.
        part: &'static str,
        /// The member of the schema.
        place: String,
    },
    /// The time that it declares is not valid.
    #[error("`{TIMEOUT_MILLISECONDS}` must be a whole number above 0")]
    WallTime,
}

impl ToolProblem {
    /// As the reason to refuse the tool of this name.
    #[must_use]
    pub fn of(self, tool: &str) -> InvalidTool {
        InvalidTool { tool: text::line(tool, MAX_NAME_BYTES), problem: self }
    }
}

impl ToolDefinition {
    /// The definition as a client may see it: without invisible characters in
    /// its description and its schemas, and without members that would speak for
    /// the host.
    ///
    /// # Errors
    /// Where its description has no legal length, or a schema has invisible
    /// characters in what values are checked against.
    pub fn cleaned(mut self) -> Result<Self, InvalidTool> {
        if self.description.len() > MAX_DESCRIPTION_BYTES {
            return Err(ToolProblem::Description.of(&self.name));
        }
        self.description = text::visible(self.description);
        // There may have been nothing but what is taken out.
        if self.description.is_empty() {
            return Err(ToolProblem::Description.of(&self.name));
        }
        let visible = |part: &'static str, schema: &mut SchemaDocument| {
            let mut object = std::mem::take(schema).into_object();
            visible_schema(&mut object).map_err(|place| ToolProblem::Invisible { part, place }.of(&self.name))?;
            *schema = object.into();
            Ok(())
        };
        visible("input schema", &mut self.input_schema)?;
        self.output_schema.as_mut().map(|schema| visible("output schema", schema)).transpose()?;
        clean_fields(&mut self.meta);
        Ok(self)
    }

    /// Whether a property of its input schema says that HTTP requests repeat it in a header
    /// (`x-mcp-header`).
    #[must_use]
    pub fn repeats_arguments(&self) -> bool {
        repeats_arguments(&self.input_schema)
    }

    /// Declares the wall-clock time that a call may need.
    pub fn declare_wall_time(&mut self, time: Duration) {
        // A time between two milliseconds is the longer one: none is not zero.
        let milliseconds = u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        self.meta.insert(TIMEOUT_MILLISECONDS.to_owned(), milliseconds.into());
    }
}

impl Tool {
    /// Checks the name of a definition and compiles its schemas, within what is left for
    /// those of its plugin.
    ///
    /// # Errors
    /// What breaks the contract.
    pub fn compile(definition: ToolDefinition, budget: &mut SchemaBudget) -> Result<Self, InvalidTool> {
        if !is_legal_name(&definition.name) {
            return Err(ToolProblem::Name.of(&definition.name));
        }
        let mut compile = |part: &'static str, schema: &SchemaDocument| {
            Schema::compile(schema, budget).map_err(|reason| ToolProblem::Schema { part, reason }.of(&definition.name))
        };
        let input = compile("input schema", &definition.input_schema)?;
        let output = definition.output_schema.as_ref().map(|schema| compile("output schema", schema)).transpose()?;
        let wall_time = match definition.meta.get(TIMEOUT_MILLISECONDS) {
            None => None,
            Some(declared) => match declared.as_u64() {
                Some(milliseconds) if milliseconds > 0 => Some(Duration::from_millis(milliseconds)),
                _ => return Err(ToolProblem::WallTime.of(&definition.name)),
            },
        };
        Ok(Self {
            compact: CompactSchemas::of(&definition),
            input,
            output,
            wall_time,
            repeats_arguments: definition.repeats_arguments(),
            definition,
        })
    }

    /// A tool whose definition has passed [`Tool::compile`] before, in this or
    /// another host, with what that made of it; its schemas are compiled when they are first used.
    #[must_use]
    pub fn checked_before(
        definition: ToolDefinition,
        compact: CompactSchemas,
        repeats_arguments: bool,
        limits: SchemaLimits,
    ) -> Self {
        Self {
            compact,
            input: Schema::checked_before(&definition.input_schema, limits),
            output: definition.output_schema.as_ref().map(|schema| Schema::checked_before(schema, limits)),
            wall_time: definition.meta.get(TIMEOUT_MILLISECONDS).and_then(Value::as_u64).map(Duration::from_millis),
            repeats_arguments,
            definition,
        }
    }
}

/// Whether a property names a header, at whatever depth `properties` leads to it. Schemas have
/// a bounded depth.
fn repeats_arguments(schema: &Map<String, Value>) -> bool {
    let Some(Value::Object(properties)) = schema.get("properties") else { return false };
    let mut schemas = properties.values().filter_map(Value::as_object);
    schemas.any(|schema| schema.contains_key("x-mcp-header") || repeats_arguments(schema))
}

/// Whether a tool or a prompt may be called so.
pub(crate) fn is_legal_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !name.contains("__")
}
