//! The functions of a plugin: which of them it has, and how each is called.

use wasmtime::{
    AsContextMut, Store,
    component::{Instance, InstancePre},
};

use crate::{
    bindings::{
        exports::wharf::plugin::tools,
        offered::exports::wharf::plugin::{completion, prompts, resources},
        wharf::plugin::types,
    },
    error::{LoadError, reason},
    guest::Guest,
};
use wharf_contract::completion::Completed;

/// Linked code, and where in it the functions are.
pub(crate) struct Code {
    pub(crate) linked: InstancePre<Guest>,
    tools: tools::GuestIndices,
    prompts: Option<prompts::GuestIndices>,
    resources: Option<resources::GuestIndices>,
    completion: Option<completion::GuestIndices>,
}

/// Which function is called.
pub(crate) enum Function<'f> {
    ListTools,
    CallTool { name: &'f str, arguments: &'f str },
    ListPrompts,
    GetPrompt { name: &'f str, arguments: &'f str },
    Claims,
    ListTemplates,
    ListResources,
    ReadResource { uri: &'f str },
    Complete(&'f Completing),
}

/// What is to be completed, as the contract has it.
#[derive(Debug, Clone)]
pub struct Completing {
    /// What has the argument.
    pub kind: Completed,
    /// The plugin's own name of the prompt, or the template's address.
    pub name: String,
    /// The argument or variable.
    pub argument: String,
    /// What there is of it.
    pub typed: String,
    /// JSON text of an object: what is filled already.
    pub others: String,
}

/// What it returned.
pub(crate) enum Returned {
    Tools(Vec<tools::Tool>),
    Answer(Result<tools::Answer, types::Error>),
    Prompts(Vec<prompts::Prompt>),
    Prompt(Result<prompts::Answer, types::Error>),
    Claims(Vec<String>),
    Templates(Vec<resources::Template>),
    Resources(Result<Vec<resources::ResourceInfo>, types::Error>),
    Read(Result<resources::Answer, types::Error>),
    Completions(Result<completion::Completions, types::Error>),
}

impl Code {
    /// Finds the functions by their names. What is exported has to be whole.
    pub(crate) fn find(linked: InstancePre<Guest>) -> Result<Self, LoadError> {
        let exported = |name: &str| linked.component().get_export_index(None, name).is_some();
        let broken = |error: wasmtime::Error| LoadError::Offer(reason(&error));
        let tools = tools::GuestIndices::new(&linked).map_err(|error| LoadError::World(reason(&error)))?;
        let prompts = exported("wharf:plugin/prompts@0.1.5").then(|| prompts::GuestIndices::new(&linked));
        let resources = exported("wharf:plugin/resources@0.1.5").then(|| resources::GuestIndices::new(&linked));
        let completion = exported("wharf:plugin/completion@0.1.5").then(|| completion::GuestIndices::new(&linked));
        let (prompts, resources, completion) = (
            prompts.transpose().map_err(broken)?,
            resources.transpose().map_err(broken)?,
            completion.transpose().map_err(broken)?,
        );
        Ok(Self { linked, tools, prompts, resources, completion })
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
}

impl Function<'_> {
    /// Calls it in a fresh instance.
    pub(crate) async fn call(self, code: &Code, store: &mut Store<Guest>) -> wasmtime::Result<Returned> {
        let instance = code.linked.instantiate_async(&mut *store).await?;
        match self {
            Self::ListTools => {
                let tools = code.tools.load(store.as_context_mut(), &instance)?;
                tools.call_list_tools(store).await.map(Returned::Tools)
            }
            Self::CallTool { name, arguments } => {
                let tools = code.tools.load(store.as_context_mut(), &instance)?;
                tools.call_call_tool(store, name, arguments).await.map(Returned::Answer)
            }
            Self::ListPrompts => {
                let prompts = prompts_of(code, store, &instance)?;
                prompts.call_list_prompts(store).await.map(Returned::Prompts)
            }
            Self::GetPrompt { name, arguments } => {
                let prompts = prompts_of(code, store, &instance)?;
                prompts.call_get_prompt(store, name, arguments).await.map(Returned::Prompt)
            }
            Self::Claims => {
                let resources = resources_of(code, store, &instance)?;
                resources.call_claims(store).await.map(Returned::Claims)
            }
            Self::ListTemplates => {
                let resources = resources_of(code, store, &instance)?;
                resources.call_list_templates(store).await.map(Returned::Templates)
            }
            Self::ListResources => {
                let resources = resources_of(code, store, &instance)?;
                resources.call_list_resources(store).await.map(Returned::Resources)
            }
            Self::ReadResource { uri } => {
                let resources = resources_of(code, store, &instance)?;
                resources.call_read_resource(store, uri).await.map(Returned::Read)
            }
            Self::Complete(Completing { kind, name, argument, typed, others }) => {
                let completion = code.completion.as_ref().ok_or_else(|| absent("completion"))?;
                let completion = completion.load(store.as_context_mut(), &instance)?;
                completion
                    .call_complete(store, kind.as_str(), name, argument, typed, others)
                    .await
                    .map(Returned::Completions)
            }
        }
    }
}

fn prompts_of(code: &Code, store: &mut Store<Guest>, instance: &Instance) -> wasmtime::Result<prompts::Guest> {
    code.prompts.as_ref().ok_or_else(|| absent("prompts"))?.load(store, instance)
}

fn resources_of(code: &Code, store: &mut Store<Guest>, instance: &Instance) -> wasmtime::Result<resources::Guest> {
    code.resources.as_ref().ok_or_else(|| absent("resources"))?.load(store, instance)
}

fn absent(what: &str) -> wasmtime::Error {
    wasmtime::format_err!("the component does not export `{what}`")
}
