//! What plugins offer beside tools: prompts, resources, and words that complete an
//! argument. A transport serves them; every request is made on behalf of a context.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::broadcast;
pub use wharf_contract::prompts::Role;

use super::{
    Arguments, Audience, Caller, Viewer,
    input::{InputGiven, InputRequired},
};
use crate::{AnswerShare, Content, Context, Error, PluginName};

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

/// The result of a prompt.
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
    /// What its JSON takes of the account of answers.
    pub memory: AnswerShare,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    /// What the JSON of the whole list takes of the account of answers.
    #[serde(skip)]
    pub memory: AnswerShare,
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
    /// What the JSON of all that was read takes of the account of answers.
    pub memory: AnswerShare,
}

/// What words are to be completed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CompletionOf {
    /// An argument of a prompt.
    Prompt(String),
    /// A variable of a template of resources.
    Template(String),
}

/// Words that complete what was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
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
    Tools(Audience),
    /// The list of prompts.
    Prompts(Audience),
    /// The list of resources.
    Resources(Audience),
    /// Perhaps everything: changes were told that were not heard here.
    Missed(Audience),
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

/// Prompts, resources and completions of plugins. Each query names the viewer: plugins that
/// the viewer may not use seem not to exist, and are asked for nothing.
#[async_trait::async_trait]
pub trait OfferService: Send + Sync + 'static {
    /// Every prompt under its full name, ordered by it. Cheap.
    fn prompts(&self, viewer: Viewer<'_>) -> Arc<[PromptDefinition]>;

    /// Whether the viewer sees a prompt of this full name. Cheap.
    fn has_prompt(&self, viewer: Viewer<'_>, name: &str) -> bool;

    /// Every template, in a fixed order. Cheap.
    fn templates(&self, viewer: Viewer<'_>) -> Arc<[ResourceTemplate]>;

    /// Whether any plugin offers resources; where none does, they are not announced.
    fn has_resources(&self, viewer: Viewer<'_>) -> bool;

    /// Whether a plugin that this viewer may use is still made ready, so that nobody knows yet
    /// what it offers.
    fn is_incomplete(&self, _viewer: Viewer<'_>) -> bool {
        false
    }

    /// What has changed from now on, and whom that concerns. A receiver that lags is told so,
    /// and has to take everything for changed.
    fn changes(&self) -> broadcast::Receiver<Change>;

    /// Makes a prompt of its arguments. `input` is what was given to an earlier round.
    ///
    /// # Errors
    /// `not-found` for an unknown prompt; `invalid` where a required argument is
    /// missing, or one is unknown; and whatever the call itself ends with.
    async fn prompt(
        &self,
        caller: &Arc<Caller>,
        name: &str,
        arguments: &Arguments,
        input: InputGiven,
    ) -> Result<PromptAnswer, Error>;

    /// What can be read in this context, of all plugins, ordered by address.
    ///
    /// # Errors
    /// Whatever the call ends with. What one plugin fails at, or is too slow for, does
    /// not keep those of the others from being listed.
    async fn resources(&self, caller: &Arc<Caller>) -> Result<Vec<ResourceDefinition>, Error>;

    /// Reads one.
    ///
    /// # Errors
    /// `not-found` where no plugin knows it, and whatever the call ends with.
    async fn read_resource(&self, caller: &Arc<Caller>, uri: &str) -> Result<Vec<ResourceContent>, Error>;

    /// Completes `typed`, the beginning of an argument; `others` are those that have
    /// been filled already.
    ///
    /// # Errors
    /// `not-found` for an unknown prompt or template, and whatever the call ends with.
    /// No completions where the plugin offers none.
    async fn complete(
        &self,
        caller: &Arc<Caller>,
        of: CompletionOf,
        argument: &str,
        typed: &str,
        others: Map<String, Value>,
    ) -> Result<Completions, Error>;
}
