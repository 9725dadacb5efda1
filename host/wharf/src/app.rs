//! Tools of the embedding app: native code that is listed and called as the
//! tools of plugins are.
//!
//! Owns what the app says of a tool, what its code is handed, and how that code
//! runs. Knows nothing of plugins or of callers. Native code is trusted with the process:
//! the rules here keep mistakes from spreading; they do not keep an attacker out.

mod call;
mod run;

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use wharf_core::{
    Answer, Error, InvalidTool, PluginName, SchemaBudget, SchemaDocument, Tool, ToolDefinition, ToolProblem,
    tool::{MAX_META_BYTES, MAX_SCHEMA_BYTES, MAX_TOOLS, json_bytes},
};

use crate::tool_name::full_name;
pub use call::AppCall;

/// The code of a tool, where it is more than a closure; implemented with
/// [`async_trait`](crate::async_trait).
///
/// It runs on the runtime that the call came on. Code that blocks keeps a
/// worker of it, and cannot be stopped: `tokio::task::spawn_blocking` is for
/// that.
#[async_trait::async_trait]
pub trait ToolAction: Send + Sync + 'static {
    /// Does it. The arguments conform to the schema of the tool. Dropped where
    /// the call ends first.
    ///
    /// # Errors
    /// What the client is told: code, and what to do about it.
    async fn call(&self, call: AppCall) -> Result<Answer, Error>;
}

struct Closure<F>(F);

#[async_trait::async_trait]
impl<F, R> ToolAction for Closure<F>
where
    F: Fn(AppCall) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Answer, Error>> + Send,
{
    async fn call(&self, call: AppCall) -> Result<Answer, Error> {
        (self.0)(call).await
    }
}

/// A tool of the embedding app, for [`Host::register_tool`].
///
/// [`Host::register_tool`]: crate::Host::register_tool
pub struct AppTool {
    name: String,
    description: String,
    input_schema: Value,
    output_schema: Option<Value>,
    meta: Map<String, Value>,
    time_limit: Option<Duration>,
    action: Arc<dyn ToolAction>,
}

impl std::fmt::Debug for AppTool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AppTool").field("name", &self.name).finish_non_exhaustive()
    }
}

impl AppTool {
    /// A tool that is an async closure. The rules are those of plugins' tools:
    /// the name is 1 to 64 characters of `[A-Za-z0-9_-]` without two
    /// underscores in a row, the description is for the model that chooses, and
    /// the schema of the arguments (JSON Schema 2020-12) is an object's.
    #[must_use]
    pub fn new<F, R>(name: impl Into<String>, description: impl Into<String>, input_schema: Value, run: F) -> Self
    where
        F: Fn(AppCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Answer, Error>> + Send + 'static,
    {
        Self::with_action(name, description, input_schema, Arc::new(Closure(run)))
    }

    /// A tool with code that has a type of its own.
    #[must_use]
    pub fn with_action(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        action: Arc<dyn ToolAction>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            output_schema: None,
            meta: Map::new(),
            time_limit: None,
            action,
        }
    }

    /// Every answer that is no error has a structured part that conforms to
    /// this JSON Schema of an object.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Further fields for the client: `title` (a text), `annotations` (the
    /// protocol's hints, such as `readOnlyHint`), and others of its own.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = meta;
        self
    }

    /// How long a call may take, instead of `wall_time_milliseconds`; at most
    /// `wall_time_ceiling_milliseconds`. Whole milliseconds, rounded up.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Checks all of it, as that of a plugin is.
    pub(crate) fn check(self, budget: &mut SchemaBudget) -> Result<Registered, InvalidTool> {
        let schema = |part, schema| object(&self.name, part, schema, MAX_SCHEMA_BYTES).map(SchemaDocument::from);
        let input_schema = schema("input schema", self.input_schema)?;
        let output_schema = self.output_schema.map(|output| schema("output schema", output)).transpose()?;
        let meta = object(&self.name, "`meta`", Value::Object(self.meta), MAX_META_BYTES)?;
        let (name, description) = (self.name, self.description);
        let mut definition = ToolDefinition { name, description, input_schema, output_schema, meta }.cleaned()?;
        if let Some(limit) = self.time_limit {
            definition.declare_wall_time(limit);
        }
        Ok(Registered { tool: Tool::compile(definition, budget)?, action: self.action })
    }
}

fn object(tool: &str, part: &'static str, value: Value, limit: usize) -> Result<Map<String, Value>, InvalidTool> {
    if json_bytes(&value) > limit as u64 {
        return Err(ToolProblem::TooLong { part, limit }.of(tool));
    }
    match value {
        Value::Object(members) => Ok(members),
        other => Err(ToolProblem::NoObject { part, found: other.to_string() }.of(tool)),
    }
}

/// A tool that was checked.
pub(crate) struct Registered {
    pub(crate) tool: Tool,
    action: Arc<dyn ToolAction>,
}

impl Registered {
    /// Under which it is listed.
    pub(crate) fn full_name(&self) -> String {
        full_name(&PluginName::app(), &self.tool.definition.name)
    }
}

impl std::fmt::Debug for Registered {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Registered").field("name", &self.tool.definition.name).finish_non_exhaustive()
    }
}

/// Why a tool of the app is not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Its definition breaks a rule.
    #[error(transparent)]
    Invalid(#[from] InvalidTool),
    /// Another tool of the app has this name.
    #[error("the app has a tool `{name}` already; unregister that one first, or choose another name")]
    Taken {
        /// Its full name.
        name: String,
    },
    /// The app has as many as it may.
    #[error("the app has {MAX_TOOLS} tools, and no further one is listed; unregister one that is not needed")]
    TooMany,
}
