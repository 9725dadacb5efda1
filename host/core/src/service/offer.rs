//! What plugins offer beside tools: prompts, resources, and words that complete an
//! argument. A transport serves them; every request is made on behalf of a context.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::{
    Events,
    input::{InputGiven, InputRequired},
};
use crate::{Content, Context, Error, PluginName, TenantId, trace::TraceParent};

/// A prompt as a client sees it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PromptDefinition {
    /// Under the same rules as the name of a tool.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// In the order in which a person is asked for them.
    pub arguments: Vec<PromptArgument>,
    /// Further protocol fields: title, icons.
    pub meta: Map<String, Value>,
}

/// What a prompt takes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PromptArgument {
    /// Unique within the prompt.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether there is no prompt without it.
    pub required: bool,
}

/// What a prompt comes to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PromptAnswer {
    /// What it is, where that is known only now.
    pub description: Option<String>,
    /// In order.
    pub messages: Vec<PromptMessage>,
    /// What it needs first; then there are no messages.
    pub input_required: Option<InputRequired>,
    /// Further protocol fields.
    pub meta: Map<String, Value>,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceDefinition {
    /// Names it; absolute.
    pub uri: String,
    /// For a person.
    pub name: String,
    /// What it is; may be empty.
    pub description: String,
    /// What it has, where that is known.
    pub mime_type: Option<String>,
    /// Further protocol fields: title, size, annotations, icons.
    pub meta: Map<String, Value>,
}

/// A family of resources.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ResourceTemplate {
    /// RFC 6570, of level 1: `{name}` stands for one part of a path.
    pub uri_template: String,
    /// For a person.
    pub name: String,
    /// What they are; may be empty.
    pub description: String,
    /// What they have, where all have the same.
    pub mime_type: Option<String>,
    /// Further protocol fields.
    pub meta: Map<String, Value>,
}

/// What was read: one resource, or several that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceContent {
    /// Which one.
    pub uri: String,
    /// What it has.
    pub content: Content,
}

/// On whose behalf something is asked for, and how.
#[derive(Clone)]
pub struct Asking {
    /// On whose behalf.
    pub context: Context,
    /// What came with the request besides, for the plugin to read.
    pub request_meta: Map<String, Value>,
    /// What was given to an earlier round.
    pub input: InputGiven,
    /// Ends the work when it fires.
    pub cancel: CancellationToken,
    /// Who listens.
    pub events: Events,
    /// The span that it belongs to, where somebody said one.
    pub trace: Option<TraceParent>,
    /// The program that asks, as it calls itself; see [`AuditSubject::client`](crate::audit::AuditSubject::client).
    pub client: Option<Arc<str>>,
}

impl std::fmt::Debug for Asking {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Asking").field("context", &self.context).finish_non_exhaustive()
    }
}

/// What words are to be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompletionOf {
    /// An argument of a prompt.
    Prompt(String),
    /// A variable of a template of resources.
    Template(String),
}

/// Words that complete what was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completions {
    /// The best first, at most 100.
    pub values: Vec<String>,
    /// How many there are in all, where that is known.
    pub total: Option<u32>,
    /// Whether there are more.
    pub has_more: bool,
}

/// What has changed, and whom that concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The list of tools is said to have changed; [`ToolService::changes`] tells where it has.
    ///
    /// [`ToolService::changes`]: crate::ToolService::changes
    Tools(Reach),
    /// The list of prompts.
    Prompts(Reach),
    /// The list of resources.
    Resources(Reach),
    /// One resource, as this owner sees it.
    Resource {
        /// For whom: sessions of the same tenant see the change of their own.
        context: Context,
        /// Which one.
        uri: String,
        /// Whose it is.
        plugin: PluginName,
    },
}

/// Whom the change of a list concerns; everybody by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach {
    /// Where a plugin told it in a call: the clients of this tenant alone.
    pub tenant: Option<TenantId>,
    /// Who may use one of these plugins; whoever there is where absent.
    pub plugins: Option<Arc<[PluginName]>>,
}

impl Reach {
    /// Those that a call of a plugin may tell something.
    #[must_use]
    pub fn of_call(context: &Context, plugin: &PluginName) -> Self {
        Self { tenant: Some(context.tenant.clone()), plugins: Some([plugin.clone()].into()) }
    }

    /// Those who may use one of these plugins.
    #[must_use]
    pub fn of_plugins(plugins: impl IntoIterator<Item = PluginName>) -> Self {
        Self { tenant: None, plugins: Some(plugins.into_iter().collect()) }
    }

    /// Whether it concerns a client of this tenant that may use these plugins; all of
    /// them where absent.
    #[must_use]
    pub fn concerns(&self, tenant: &TenantId, may_use: Option<&MayUse>) -> bool {
        let of_tenant = self.tenant.as_ref().is_none_or(|told| told == tenant);
        let of_plugin = match (&self.plugins, may_use) {
            (Some(plugins), Some(may_use)) => plugins.iter().any(|plugin| may_use.allows(plugin)),
            _ => true,
        };
        of_tenant && of_plugin
    }
}

/// Which plugins somebody may use.
#[derive(Clone)]
pub struct MayUse(Arc<dyn Fn(&PluginName) -> bool + Send + Sync>);

impl MayUse {
    /// Those for which this is true.
    pub fn new(allows: impl Fn(&PluginName) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(allows))
    }

    /// Whether this one is among them.
    #[must_use]
    pub fn allows(&self, plugin: &PluginName) -> bool {
        (self.0)(plugin)
    }
}

impl std::fmt::Debug for MayUse {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MayUse")
    }
}

/// Prompts, resources and completions of all plugins.
#[async_trait::async_trait]
pub trait OfferService: Send + Sync + 'static {
    /// Every prompt under its full name, ordered by it. Cheap.
    fn prompts(&self) -> Arc<[PromptDefinition]>;

    /// Every template, in a fixed order. Cheap.
    fn templates(&self) -> Arc<[ResourceTemplate]>;

    /// Whether any plugin offers resources; where none does, they are not announced.
    fn has_resources(&self) -> bool;

    /// What has changed from now on. Who lags is told so by the receiver, and
    /// has to take everything for changed.
    fn changes(&self) -> broadcast::Receiver<Change>;

    /// The same of these plugins alone: all others are as if they were not there, and
    /// none of them is asked for anything. Whom a change concerns, [`Reach`] says.
    fn of_plugins(self: Arc<Self>, may_use: MayUse) -> Arc<dyn OfferService>;

    /// Makes a prompt of its arguments.
    ///
    /// # Errors
    /// `not-found` for an unknown prompt; `invalid` where a required argument is
    /// missing, or one is unknown; and whatever the call itself ends with.
    async fn prompt(&self, name: &str, arguments: Map<String, Value>, asking: Asking) -> Result<PromptAnswer, Error>;

    /// What can be read in this context, of all plugins, ordered by address.
    ///
    /// # Errors
    /// Whatever the call ends with. What one plugin fails at, or is too slow for, does
    /// not keep those of the others from being listed.
    async fn resources(&self, asking: Asking) -> Result<Vec<ResourceDefinition>, Error>;

    /// Reads one.
    ///
    /// # Errors
    /// `not-found` where no plugin knows it, and whatever the call ends with.
    async fn read_resource(&self, uri: &str, asking: Asking) -> Result<Vec<ResourceContent>, Error>;

    /// Completes `typed`, the beginning of an argument; `others` are those that have
    /// been filled already.
    ///
    /// # Errors
    /// `not-found` for an unknown prompt or template, and whatever the call ends with.
    /// No completions where the plugin offers none.
    async fn complete(
        &self,
        of: CompletionOf,
        argument: &str,
        typed: &str,
        others: Map<String, Value>,
        asking: Asking,
    ) -> Result<Completions, Error>;
}
