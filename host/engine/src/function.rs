//! The functions of the contract that a plugin has, and how each is called.

use wasmtime::{
    AsContextMut, Store,
    component::{Component, Instance, InstancePre},
};
use wharf_contract::completion::Completed;
use wharf_core::{CallLimits, Code as ErrorCode, Error, QuotaFull};

use crate::{
    answer::write_refused,
    bindings::{
        exports::wharf::plugin::tools,
        offered::exports::wharf::plugin::{completion, prompts, resources},
        wharf::plugin::types,
    },
    error::{LoadError, reason},
    functions::{self, Functions},
    guest::Guest,
    isolation::AskedFunction,
    watch::crossing::{Crossing, crossing},
};

#[cfg(target_os = "linux")]
pub(crate) type Code = std::sync::Arc<crate::code::CodeFile>;
/// There are no workers.
#[cfg(not(target_os = "linux"))]
pub(crate) type Code = std::convert::Infallible;

crossing! {
    tools::Tool { name, description, input_schema, output_schema, meta };
    tools::Content { mime_type, data, meta };
    tools::Answer { content, structured, is_error, meta };
    types::Error { code, message, retryable };
    prompts::Argument { name, description, required, meta };
    prompts::Prompt { name, description, arguments, meta };
    prompts::Message { role, mime_type, data, meta };
    prompts::Answer { messages, description, meta };
    resources::Template { uri_template, name, description, mime_type, meta };
    resources::ResourceInfo { uri, name, description, mime_type, meta };
    resources::Part { uri, mime_type, data, meta };
    resources::Answer { parts, meta };
    completion::Completions { values, total, has_more, meta };
}

/// Linked code, and where in it the functions are.
pub(crate) struct LinkedPlugin {
    instances: InstancePre<Guest>,
    tools: ToolExports,
    prompts: Option<prompts::GuestIndices>,
    resources: Option<resources::GuestIndices>,
    completion: Option<completion::GuestIndices>,
    /// Its code, where workers run it.
    code: Option<Code>,
}

/// Where its tools are.
enum ToolExports {
    /// In the interface of the contract.
    Contract(tools::GuestIndices),
    /// Each is a function that the component exports.
    Functions(Functions),
}

impl LinkedPlugin {
    /// Finds the functions by their names. An exported interface has to be complete.
    /// `plain` says that each exported function is a tool. `code` is what workers get.
    pub(crate) fn find(instances: InstancePre<Guest>, plain: bool, code: Option<Code>) -> Result<Self, LoadError> {
        if plain {
            let tools = ToolExports::Functions(Functions::find(instances.component())?);
            return Ok(Self { instances, tools, prompts: None, resources: None, completion: None, code });
        }
        let exported = |name: &str| instances.component().get_export_index(None, name).is_some();
        let broken = |error: wasmtime::Error| LoadError::Offer(reason(&error));
        let tools = tools::GuestIndices::new(&instances).map_err(|error| LoadError::World(reason(&error)))?;
        let prompts = exported("wharf:plugin/prompts@0.1.5").then(|| prompts::GuestIndices::new(&instances));
        let resources = exported("wharf:plugin/resources@0.1.5").then(|| resources::GuestIndices::new(&instances));
        let completion = exported("wharf:plugin/completion@0.1.5").then(|| completion::GuestIndices::new(&instances));
        let (prompts, resources, completion) = (
            prompts.transpose().map_err(broken)?,
            resources.transpose().map_err(broken)?,
            completion.transpose().map_err(broken)?,
        );
        Ok(Self { instances, tools: ToolExports::Contract(tools), prompts, resources, completion, code })
    }

    /// Its code, where workers run it.
    pub(crate) fn code(&self) -> Option<&Code> {
        self.code.as_ref()
    }

    pub(crate) fn component(&self) -> &Component {
        self.instances.component()
    }

    /// The functions that are its tools, where it has none by the contract.
    pub(crate) fn functions(&self) -> Option<&Functions> {
        match &self.tools {
            ToolExports::Contract(_) => None,
            ToolExports::Functions(functions) => Some(functions),
        }
    }

    /// The most bytes that its values may take while they are copied to the host.
    pub(crate) fn most_copied_bytes(&self, limits: &CallLimits) -> u64 {
        let answer = match &self.tools {
            ToolExports::Contract(_) => limits.output_bytes,
            ToolExports::Functions(_) => functions::value_bytes(limits),
        };
        limits.host_call_bytes.max(answer)
    }

    pub(crate) fn has_prompts(&self) -> bool {
        self.prompts.is_some()
    }

    pub(crate) fn has_resources(&self) -> bool {
        self.resources.is_some()
    }

    pub(crate) fn has_completion(&self) -> bool {
        self.completion.is_some()
    }

    /// Makes an instance in a store that is fresh as well.
    pub(crate) async fn instantiate<'s>(&'s self, store: &'s mut Store<Guest>) -> wasmtime::Result<PluginInstance<'s>> {
        let instance = self.instances.instantiate_async(&mut *store).await?;
        Ok(PluginInstance { plugin: self, instance, store })
    }
}

/// An instance of a plugin, for one call.
pub(crate) struct PluginInstance<'s> {
    plugin: &'s LinkedPlugin,
    instance: Instance,
    store: &'s mut Store<Guest>,
}

impl PluginInstance<'_> {
    /// What all its memories hold.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.store.data().limiter.memory_bytes()
    }

    fn tools(&mut self) -> wasmtime::Result<tools::Guest> {
        match &self.plugin.tools {
            ToolExports::Contract(tools) => tools.load(self.store.as_context_mut(), &self.instance),
            ToolExports::Functions(_) => Err(absent("tools")),
        }
    }

    fn prompts(&mut self) -> wasmtime::Result<prompts::Guest> {
        let prompts = self.plugin.prompts.as_ref().ok_or_else(|| absent("prompts"))?;
        prompts.load(self.store.as_context_mut(), &self.instance)
    }

    fn resources(&mut self) -> wasmtime::Result<resources::Guest> {
        let resources = self.plugin.resources.as_ref().ok_or_else(|| absent("resources"))?;
        resources.load(self.store.as_context_mut(), &self.instance)
    }

    fn completion(&mut self) -> wasmtime::Result<completion::Guest> {
        let completion = self.plugin.completion.as_ref().ok_or_else(|| absent("completion"))?;
        completion.load(self.store.as_context_mut(), &self.instance)
    }
}

fn absent(what: &str) -> wasmtime::Error {
    wasmtime::format_err!("the component does not export `{what}`")
}

/// One function of a plugin, with its arguments.
pub(crate) trait GuestFunction: Send {
    type Returned: Crossing + Send;

    /// The same for a worker.
    fn asked(&self) -> AskedFunction;

    /// Its name among calls that contend for the same state; empty if it takes no turns.
    fn name(&self) -> &str {
        ""
    }

    /// Calls it.
    fn call(self, instance: PluginInstance<'_>) -> impl Future<Output = wasmtime::Result<Self::Returned>> + Send;

    /// Names the limit that refused a write of a failed call: from WASI the guest has a number
    /// at most, and from a stream not even that. A call that succeeded all the same keeps
    /// its answer.
    fn with_reason(returned: Self::Returned, _full: &QuotaFull) -> Self::Returned {
        returned
    }
}

pub(crate) struct ListTools;

impl GuestFunction for ListTools {
    type Returned = Vec<tools::Tool>;

    fn asked(&self) -> AskedFunction {
        AskedFunction::ListTools
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        instance.tools()?.call_list_tools(instance.store).await
    }
}

pub(crate) struct CallTool<'f> {
    pub(crate) name: &'f str,
    /// JSON text of an object.
    pub(crate) arguments: &'f str,
}

impl GuestFunction for CallTool<'_> {
    type Returned = Result<tools::Answer, types::Error>;

    fn asked(&self) -> AskedFunction {
        AskedFunction::CallTool((self.name.to_owned(), self.arguments.to_owned()))
    }

    fn name(&self) -> &str {
        self.name
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        if let Some(functions) = instance.plugin.functions() {
            return functions.call(self.name, self.arguments, instance.instance, instance.store).await;
        }
        instance.tools()?.call_call_tool(instance.store, self.name, self.arguments).await
    }

    fn with_reason(returned: Self::Returned, full: &QuotaFull) -> Self::Returned {
        match returned {
            Err(error) => Err(write_refused(full, &error.message)),
            Ok(answer) if answer.is_error => {
                let texts = answer.content.iter().filter(|part| part.mime_type == "text/plain");
                let said = texts.map(|part| String::from_utf8_lossy(&part.data)).collect::<Vec<_>>().join("\n");
                Err(write_refused(full, &said))
            }
            Ok(answer) => Ok(answer),
        }
    }
}

pub(crate) struct ListPrompts;

impl GuestFunction for ListPrompts {
    type Returned = Vec<prompts::Prompt>;

    fn asked(&self) -> AskedFunction {
        AskedFunction::ListPrompts
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        instance.prompts()?.call_list_prompts(instance.store).await
    }
}

pub(crate) struct GetPrompt<'f> {
    pub(crate) name: &'f str,
    /// JSON text of an object.
    pub(crate) arguments: &'f str,
}

impl GuestFunction for GetPrompt<'_> {
    type Returned = Result<prompts::Answer, types::Error>;

    fn asked(&self) -> AskedFunction {
        AskedFunction::GetPrompt((self.name.to_owned(), self.arguments.to_owned()))
    }

    fn name(&self) -> &str {
        self.name
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        instance.prompts()?.call_get_prompt(instance.store, self.name, self.arguments).await
    }

    fn with_reason(returned: Self::Returned, full: &QuotaFull) -> Self::Returned {
        returned.map_err(|error| write_refused(full, &error.message))
    }
}

/// Lists the beginnings of the addresses that are the plugin's own.
pub(crate) struct ListClaims;

impl GuestFunction for ListClaims {
    type Returned = Vec<String>;

    fn asked(&self) -> AskedFunction {
        AskedFunction::ListClaims
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        instance.resources()?.call_claims(instance.store).await
    }
}

pub(crate) struct ListTemplates;

impl GuestFunction for ListTemplates {
    type Returned = Vec<resources::Template>;

    fn asked(&self) -> AskedFunction {
        AskedFunction::ListTemplates
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        instance.resources()?.call_list_templates(instance.store).await
    }
}

pub(crate) struct ListResources;

impl GuestFunction for ListResources {
    type Returned = Result<Vec<resources::ResourceInfo>, types::Error>;

    fn asked(&self) -> AskedFunction {
        AskedFunction::ListResources
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        instance.resources()?.call_list_resources(instance.store).await
    }
}

pub(crate) struct ReadResource<'f> {
    pub(crate) uri: &'f str,
}

impl GuestFunction for ReadResource<'_> {
    type Returned = Result<resources::Answer, types::Error>;

    fn asked(&self) -> AskedFunction {
        AskedFunction::ReadResource(self.uri.to_owned())
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        instance.resources()?.call_read_resource(instance.store, self.uri).await
    }

    fn with_reason(returned: Self::Returned, full: &QuotaFull) -> Self::Returned {
        returned.map_err(|error| write_refused(full, &error.message))
    }
}

/// A word to complete, as the contract has it.
#[derive(Debug, Clone)]
pub struct Completing {
    /// What has the argument.
    pub kind: Completed,
    /// The plugin's own name of the prompt, or the template's address.
    pub name: String,
    /// The argument or variable.
    pub argument: String,
    /// The beginning that was typed.
    pub typed: String,
    /// JSON text of an object: the arguments that are filled already.
    pub others: String,
}

impl Completing {
    /// As it crossed to a worker.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_crossed(
        (kind, name, argument, typed, others): (String, String, String, String, String),
    ) -> Result<Self, Error> {
        let kind =
            kind.parse().map_err(|_| Error::new(ErrorCode::Invalid, "what is to be completed has no such kind"))?;
        Ok(Self { kind, name, argument, typed, others })
    }
}

impl GuestFunction for &Completing {
    type Returned = Result<completion::Completions, types::Error>;

    fn asked(&self) -> AskedFunction {
        let Completing { kind, name, argument, typed, others } = (*self).clone();
        AskedFunction::Complete((kind.as_str().to_owned(), name, argument, typed, others))
    }

    async fn call(self, mut instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        let Completing { kind, name, argument, typed, others } = self;
        instance.completion()?.call_complete(instance.store, kind.as_str(), name, argument, typed, others).await
    }
}
