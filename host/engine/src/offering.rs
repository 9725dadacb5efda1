//! What a plugin offers beside tools: asked for, checked, converted.

use std::{mem, sync::Arc};

use serde_json::{Map, Value};
use wharf_contract::prompts as contract;
use wharf_core::{
    Claims, Code as ErrorCode, Content, Error, InputRequired,
    offer::{self, MAX_RESOURCES},
    service::offer::{
        Completions, PromptAnswer, PromptArgument, PromptDefinition, PromptMessage, ResourceContent,
        ResourceDefinition, ResourceTemplate, Role,
    },
    tool::{MAX_META_BYTES, check_size},
};

use crate::{
    bindings::offered::exports::wharf::plugin::{completion, prompts, resources},
    call::{self, Invocation},
    error::LoadError,
    function::{Completing, Function, Returned},
    load::{Plugin, unusable},
};

impl Plugin {
    /// Its prompts, in the order in which it lists them.
    #[must_use]
    pub fn prompts(&self) -> &[PromptDefinition] {
        &self.loaded.offered.prompts
    }

    /// Its templates of resources, in the order in which it lists them.
    #[must_use]
    pub fn templates(&self) -> &[ResourceTemplate] {
        &self.loaded.offered.templates
    }

    /// Which addresses are its own; none where it has no resources.
    #[must_use]
    pub fn claims(&self) -> &Arc<Claims> {
        &self.loaded.offered.claims
    }

    /// Whether it completes words.
    #[must_use]
    pub fn completes(&self) -> bool {
        self.loaded.offered.completes
    }

    /// Makes a prompt, named by [`Invocation::tool`]. The caller has checked that the
    /// arguments are those which it takes. Dropping the future ends the call.
    ///
    /// # Errors
    /// Whatever the plugin answers or the call ends with; see the contract.
    pub async fn prompt(&self, mut invocation: Invocation) -> Result<PromptAnswer, Error> {
        let (name, arguments) = (invocation.tool.clone(), mem::take(&mut invocation.arguments));
        let limits = Arc::clone(&invocation.limits);
        let function = Function::GetPrompt { name: &name, arguments: &arguments };
        let Returned::Prompt(answer) = self.run(invocation, None, function).await? else {
            return Err(other_question());
        };
        let answer = answer.map_err(call::guest_error)?;
        check_size(prompt_bytes(&answer), answer.messages.len(), &limits)?;
        let mut meta = call::object(answer.meta.as_deref())?;
        let input_required = InputRequired::take(&mut meta)?;
        let messages = answer.messages.into_iter().map(message).collect::<Result<_, _>>()?;
        PromptAnswer { description: answer.description, messages, input_required, meta }.checked()
    }

    /// What can be read in the context of the call, ordered by address.
    ///
    /// # Errors
    /// As [`Plugin::prompt`].
    pub async fn resources(&self, invocation: Invocation) -> Result<Vec<ResourceDefinition>, Error> {
        let limits = Arc::clone(&invocation.limits);
        let Returned::Resources(listed) = self.run(invocation, None, Function::ListResources).await? else {
            return Err(other_question());
        };
        let listed = listed.map_err(call::guest_error)?;
        check_size(listed.iter().map(listing_bytes).sum(), 0, &limits)?;
        // One too many is enough to be told so.
        let listed = listed.into_iter().take(MAX_RESOURCES + 1).map(resource).collect::<Result<_, _>>()?;
        offer::checked_listing(listed, self.claims())
    }

    /// Reads the resource of this address, which is one of the plugin's claims.
    ///
    /// # Errors
    /// As [`Plugin::prompt`].
    pub async fn read_resource(&self, invocation: Invocation, uri: &str) -> Result<Vec<ResourceContent>, Error> {
        let limits = Arc::clone(&invocation.limits);
        let Returned::Read(read) = self.run(invocation, None, Function::ReadResource { uri }).await? else {
            return Err(other_question());
        };
        let read = read.map_err(call::guest_error)?;
        let bytes = |part: &resources::Part| {
            (part.uri.len() + part.mime_type.len() + part.data.len() + part.meta.as_ref().map_or(0, String::len)) as u64
        };
        let meta = read.meta.as_ref().map_or(0, String::len) as u64;
        check_size(read.parts.iter().map(bytes).sum::<u64>() + meta, read.parts.len(), &limits)?;
        offer::checked_parts(read.parts.into_iter().map(part).collect::<Result<_, _>>()?, self.claims())
    }

    /// Completes a word; with nothing where the plugin completes none.
    ///
    /// # Errors
    /// As [`Plugin::prompt`].
    pub async fn complete(&self, invocation: Invocation, completing: &Completing) -> Result<Completions, Error> {
        if !self.completes() {
            return Ok(Completions::default());
        }
        let limits = Arc::clone(&invocation.limits);
        let Returned::Completions(completed) = self.run(invocation, None, Function::Complete(completing)).await? else {
            return Err(other_question());
        };
        let completion::Completions { values, total, has_more, meta: _ } = completed.map_err(call::guest_error)?;
        check_size(values.iter().map(|value| value.len() as u64).sum(), 0, &limits)?;
        Ok(offer::completions(values, total, has_more))
    }
}

fn other_question() -> Error {
    unusable("the plugin answered another question")
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

fn prompt_bytes(answer: &prompts::Answer) -> u64 {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let message = |message: &prompts::Message| message.data.len() + message.mime_type.len() + length(&message.meta);
    let messages: usize = answer.messages.iter().map(message).sum();
    (messages + length(&answer.description) + length(&answer.meta)) as u64
}

fn message(message: prompts::Message) -> Result<PromptMessage, Error> {
    let role = match contract::Role::find(&message.role) {
        Some(contract::Role::User) => Role::User,
        Some(contract::Role::Assistant) => Role::Assistant,
        None => return Err(broken("a message of its prompt is of neither `user` nor `assistant`")),
    };
    let meta = call::object(message.meta.as_deref())?;
    Ok(PromptMessage { role, content: Content { mime_type: message.mime_type, data: message.data, meta } })
}

fn listing_bytes(listed: &resources::ResourceInfo) -> u64 {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let texts = listed.uri.len() + listed.name.len() + listed.description.len();
    (texts + length(&listed.mime_type) + length(&listed.meta)) as u64
}

fn resource(listed: resources::ResourceInfo) -> Result<ResourceDefinition, Error> {
    let meta = call::object(listed.meta.as_deref())?;
    let resources::ResourceInfo { uri, name, description, mime_type, meta: _ } = listed;
    Ok(ResourceDefinition { uri, name, description, mime_type, meta })
}

fn part(part: resources::Part) -> Result<ResourceContent, Error> {
    let meta = call::object(part.meta.as_deref())?;
    Ok(ResourceContent { uri: part.uri, content: Content { mime_type: part.mime_type, data: part.data, meta } })
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::Internal, format!("the plugin broke its contract: {what}"))
}
