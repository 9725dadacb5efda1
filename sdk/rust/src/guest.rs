//! Every [`Plugin`] as the exports that the contract asks for. Wasm only.

mod offers;

use crate::bindings::exports::wharf::plugin::tools;
use crate::bindings::wharf::plugin::types;
use crate::{Answer, Call, Plugin};

impl<P: Plugin> tools::Guest for P {
    fn list_tools() -> Vec<tools::Tool> {
        let definitions = P::definitions().into_iter();
        definitions
            .map(|definition| tools::Tool {
                name: definition.name.to_owned(),
                description: definition.description.to_owned(),
                input_schema: definition.input_schema,
                output_schema: definition.output_schema,
                meta: Some(definition.details.to_meta()),
            })
            .collect()
    }

    fn call_tool(name: String, arguments: String) -> Result<tools::Answer, types::Error> {
        match P::run(&Call::from_host(), &name, &arguments) {
            Some(result) => Ok(result.unwrap_or_else(Answer::from).into()),
            None => Err(types::Error {
                code: "not-found".to_owned(),
                message: format!("this plugin has no tool `{name}`"),
                retryable: false,
            }),
        }
    }
}

impl From<Answer> for tools::Answer {
    fn from(answer: Answer) -> Self {
        let content = answer.content.into_iter();
        let content = content.map(|part| tools::Content {
            mime_type: part.mime_type.into_owned(),
            data: part.data,
            meta: part.meta,
        });
        Self { content: content.collect(), structured: answer.structured, is_error: answer.is_error, meta: answer.meta }
    }
}
