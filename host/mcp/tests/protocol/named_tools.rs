//! Tools that a test calls by their names, as a service.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::watch;
use wharf_core::{
    Answer, CallRequest, Code, Error, InputGiven, TenantId, ToolDefinition, ToolService,
    service::{Arguments, CallableTool, Caller, Viewer},
};

/// What a test serves. The plugin of a tool is what its name begins with.
#[async_trait::async_trait]
pub(crate) trait NamedTools: Send + Sync + 'static {
    fn list(&self) -> Arc<[ToolDefinition]>;

    fn changed(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    async fn run(&self, request: CallRequest) -> Result<Answer, Error>;
}

/// The service that they make.
pub(crate) struct Named<T>(pub(crate) Arc<T>);

struct Found<T> {
    tools: Arc<T>,
    name: String,
    repeated_arguments: Option<Arc<Map<String, Value>>>,
}

fn is_seen(viewer: Viewer<'_>, name: &str) -> bool {
    name.split_once("__").is_some_and(|(plugin, _)| viewer.allows(plugin))
}

impl<T: NamedTools> ToolService for Named<T> {
    fn tools(&self, viewer: Viewer<'_>) -> Arc<[ToolDefinition]> {
        self.0.list().iter().filter(|tool| is_seen(viewer, &tool.name)).cloned().collect()
    }

    fn callable(&self, viewer: Viewer<'_>, name: &str) -> Option<Arc<dyn CallableTool>> {
        self.tools(viewer).iter().find(|tool| tool.name == name).map(|tool| self.found(tool))
    }

    fn changes(&self, _: &TenantId) -> Option<watch::Receiver<u64>> {
        self.0.changed()
    }

    fn find(&self, caller: &Arc<Caller>, name: &str) -> Result<Arc<dyn CallableTool>, Error> {
        let unknown = || {
            let tools = self.tools(caller.viewer());
            let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            Error::new(Code::NotFound, format!("there is no tool {name:?}; there are: {}", names.join(", ")))
        };
        self.callable(caller.viewer(), name).ok_or_else(unknown)
    }
}

impl<T: NamedTools> Named<T> {
    fn found(&self, tool: &ToolDefinition) -> Arc<dyn CallableTool> {
        let repeats = Value::from((*tool.input_schema).clone()).to_string().contains("x-mcp-header");
        let repeated_arguments = repeats.then(|| Arc::clone(tool.input_schema.object()));
        Arc::new(Found { tools: Arc::clone(&self.0), name: tool.name.clone(), repeated_arguments })
    }
}

#[async_trait::async_trait]
impl<T: NamedTools> CallableTool for Found<T> {
    fn repeated_arguments(&self) -> Option<Arc<Map<String, Value>>> {
        self.repeated_arguments.clone()
    }

    async fn call(&self, caller: Arc<Caller>, arguments: Arguments, input: InputGiven) -> Result<Answer, Error> {
        let mut request = CallRequest::of(caller, self.name.as_str(), arguments.into_values());
        request.input = input;
        self.tools.run(request).await
    }
}
