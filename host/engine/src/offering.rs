//! Calls of prompts, resources and completions, and the checks of their answers.

use std::sync::Arc;

use wharf_core::{
    AnswerReader, AnswerShare, Code as ErrorCode, Error, InputRequired,
    offer::{self, MAX_RESOURCES},
    service::offer::{Completions, PromptAnswer, PromptMessage, ResourceContent, ResourceDefinition, Role},
    tool::check_size,
};

use crate::{
    answer,
    bindings::offered::exports::wharf::plugin::{completion, prompts, resources},
    call::Call,
    function::{Completing, GetPrompt, ListResources, ReadResource},
    plugin::Plugin,
};

impl Plugin {
    /// Makes a prompt. `arguments` is the JSON text of an object: the caller has checked
    /// that it has what the prompt takes. Dropping the future ends the call.
    ///
    /// # Errors
    /// Whatever the plugin answers or the call ends with; see the contract.
    pub async fn prompt(&self, call: Call, name: &str, arguments: &str) -> Result<PromptAnswer, Error> {
        let policy = Arc::clone(&call.policy);
        let mut reader = self.reader(&call);
        let (answer, _) = self.run(call, None, GetPrompt { name, arguments }).await?;
        let answer = answer.map_err(answer::guest_error)?;
        check_size(prompt_bytes(&answer), answer.messages.len(), &policy.limits)?;
        let mut meta = answer::object(answer.meta.as_deref(), &mut reader)?;
        let input_required = InputRequired::take(&mut meta)?;
        let message = |said| message(said, &mut reader);
        let messages = answer.messages.into_iter().map(message).collect::<Result<_, _>>()?;
        let memory = reader.finish();
        PromptAnswer { description: answer.description, messages, input_required, meta, memory }.checked()
    }

    /// What can be read in the context of the call, ordered by address.
    ///
    /// # Errors
    /// As [`Plugin::prompt`].
    pub async fn resources(&self, call: Call) -> Result<Vec<ResourceDefinition>, Error> {
        let policy = Arc::clone(&call.policy);
        let mut reader = self.reader(&call);
        let (listed, _) = self.run(call, None, ListResources).await?;
        let listed = listed.map_err(answer::guest_error)?;
        check_size(listed.iter().map(listing_bytes).sum(), 0, &policy.limits)?;
        // One too many is enough to be told so.
        let listed = listed.into_iter().take(MAX_RESOURCES + 1).map(|listed| resource(listed, &mut reader));
        let mut listed = listed.collect::<Result<Vec<_>, _>>()?;
        let memory = reader.finish();
        listed.iter_mut().for_each(|resource| resource.memory = memory.clone());
        offer::checked_listing(listed, self.claims())
    }

    /// Reads the resource of this address, which is one of the plugin's claims.
    ///
    /// # Errors
    /// As [`Plugin::prompt`].
    pub async fn read_resource(&self, call: Call, uri: &str) -> Result<Vec<ResourceContent>, Error> {
        let policy = Arc::clone(&call.policy);
        let mut reader = self.reader(&call);
        let (read, _) = self.run(call, None, ReadResource { uri }).await?;
        let read = read.map_err(answer::guest_error)?;
        let bytes = |part: &resources::Part| {
            (part.uri.len() + part.mime_type.len() + part.data.len() + part.meta.as_ref().map_or(0, String::len)) as u64
        };
        let meta = read.meta.as_ref().map_or(0, String::len) as u64;
        check_size(read.parts.iter().map(bytes).sum::<u64>() + meta, read.parts.len(), &policy.limits)?;
        let parts = read.parts.into_iter().map(|read| part(read, &mut reader));
        let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
        let memory = reader.finish();
        parts.iter_mut().for_each(|part| part.memory = memory.clone());
        offer::checked_parts(parts, self.claims())
    }

    /// Completes a word; with nothing where the plugin completes none.
    ///
    /// # Errors
    /// As [`Plugin::prompt`].
    pub async fn complete(&self, call: Call, completing: &Completing) -> Result<Completions, Error> {
        if !self.completes() {
            return Ok(Completions::default());
        }
        let policy = Arc::clone(&call.policy);
        let (completed, _) = self.run(call, None, completing).await?;
        let completion::Completions { values, total, has_more, meta: _ } = completed.map_err(answer::guest_error)?;
        check_size(values.iter().map(|value| value.len() as u64).sum(), 0, &policy.limits)?;
        Ok(offer::completions(values, total, has_more))
    }
}

fn prompt_bytes(answer: &prompts::Answer) -> u64 {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let message = |message: &prompts::Message| message.data.len() + message.mime_type.len() + length(&message.meta);
    let messages: usize = answer.messages.iter().map(message).sum();
    (messages + length(&answer.description) + length(&answer.meta)) as u64
}

fn message(message: prompts::Message, reader: &mut AnswerReader) -> Result<PromptMessage, Error> {
    let role = Role::find(&message.role)
        .ok_or_else(|| broken("a message of its prompt is of neither `user` nor `assistant`"))?;
    let content = answer::content(message.mime_type, message.data, message.meta.as_deref(), reader)?;
    Ok(PromptMessage { role, content })
}

fn listing_bytes(listed: &resources::ResourceInfo) -> u64 {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let texts = listed.uri.len() + listed.name.len() + listed.description.len();
    (texts + length(&listed.mime_type) + length(&listed.meta)) as u64
}

/// The list's share is put beside each once all are read.
fn resource(listed: resources::ResourceInfo, reader: &mut AnswerReader) -> Result<ResourceDefinition, Error> {
    let meta = answer::object(listed.meta.as_deref(), reader)?;
    let resources::ResourceInfo { uri, name, description, mime_type, meta: _ } = listed;
    Ok(ResourceDefinition { uri, name, description, mime_type, meta, memory: AnswerShare::default() })
}

fn part(part: resources::Part, reader: &mut AnswerReader) -> Result<ResourceContent, Error> {
    let content = answer::content(part.mime_type, part.data, part.meta.as_deref(), reader)?;
    Ok(ResourceContent { uri: part.uri, content, memory: AnswerShare::default() })
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::Internal, format!("the plugin broke its contract: {what}"))
}
