//! What a plugin offers beside tools, as the exports of the contract.

use wharf_contract::completion::Completed;
use wharf_contract::tools;

use crate::bindings::completion::exports::wharf::plugin::completion;
use crate::bindings::prompts::exports::wharf::plugin::prompts;
use crate::bindings::resources::exports::wharf::plugin::resources;
use crate::bindings::wharf::plugin::types;
use crate::completion::{Completion, CompletionOf, Typed};
use crate::resource::Resources;
use crate::{Call, Prompts, ToolError};

impl<P: Prompts> prompts::Guest for P {
    fn list_prompts() -> Vec<prompts::Prompt> {
        let argument = |argument: crate::PromptArgument| prompts::Argument {
            name: argument.name,
            description: argument.description,
            required: argument.required,
            meta: None,
        };
        let definitions = P::prompts().into_iter();
        definitions
            .map(|definition| prompts::Prompt {
                name: definition.name.to_owned(),
                description: definition.description.to_owned(),
                arguments: definition.arguments.into_iter().map(argument).collect(),
                meta: definition.title.map(|title| serde_json::json!({ (tools::TITLE): title }).to_string()),
            })
            .collect()
    }

    fn get_prompt(name: String, arguments: String) -> Result<prompts::Answer, types::Error> {
        let made = P::make(&Call::from_host(), &name, &arguments);
        let reply = made.unwrap_or_else(|| Err(ToolError::not_found(format!("this plugin has no prompt `{name}`"))))?;
        let messages = reply.messages.into_iter().map(|(role, content)| prompts::Message {
            role: role.as_str().to_owned(),
            mime_type: content.mime_type.into_owned(),
            data: content.data,
            meta: content.meta,
        });
        Ok(prompts::Answer { messages: messages.collect(), description: reply.description, meta: reply.meta })
    }
}

impl<P: Resources> resources::Guest for P {
    fn claims() -> Vec<String> {
        P::CLAIMS.iter().map(|claim| (*claim).to_owned()).collect()
    }

    fn list_templates() -> Vec<resources::Template> {
        let templates = P::templates().into_iter();
        templates
            .map(|template| resources::Template {
                uri_template: template.uri_template,
                name: template.name,
                description: template.description,
                mime_type: template.mime_type,
                meta: Some(serde_json::Value::Object(template.meta).to_string()),
            })
            .collect()
    }

    fn list_resources() -> Result<Vec<resources::ResourceInfo>, types::Error> {
        let listed = <P as Resources>::list(&Call::from_host())?.into_iter();
        let listed = listed.map(|resource| resources::ResourceInfo {
            uri: resource.uri,
            name: resource.name,
            description: resource.description,
            mime_type: resource.mime_type,
            meta: Some(serde_json::Value::Object(resource.meta).to_string()),
        });
        Ok(listed.collect())
    }

    fn read_resource(uri: String) -> Result<resources::Answer, types::Error> {
        let parts = <P as Resources>::read(&Call::from_host(), &uri)?.into_iter();
        let parts = parts.map(|part| resources::Part {
            uri: part.uri,
            mime_type: part.content.mime_type.into_owned(),
            data: part.content.data,
            meta: part.content.meta,
        });
        Ok(resources::Answer { parts: parts.collect(), meta: None })
    }
}

impl<P: Completion> completion::Guest for P {
    fn complete(
        kind: String,
        name: String,
        argument: String,
        typed: String,
        others: String,
    ) -> Result<completion::Completions, types::Error> {
        let of = match Completed::find(&kind) {
            Some(Completed::Prompt) => CompletionOf::Prompt(&name),
            Some(Completed::Template) => CompletionOf::Template(&name),
            // A kind of a later contract: nothing is known of it.
            None => {
                return Ok(completion::Completions { values: Vec::new(), total: None, has_more: false, meta: None });
            }
        };
        // The host promises an object.
        let others = serde_json::from_str(&others).unwrap_or_default();
        let typed = Typed { of, argument: &argument, text: &typed, others };
        let found = <P as Completion>::complete(&Call::from_host(), &typed)?;
        Ok(completion::Completions { values: found.values, total: found.total, has_more: found.has_more, meta: None })
    }
}

impl From<ToolError> for types::Error {
    fn from(error: ToolError) -> Self {
        Self { code: error.code.as_str().to_owned(), message: error.message, retryable: error.retryable }
    }
}
