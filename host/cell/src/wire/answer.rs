//! Answers, as they go from host to host.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wharf_core::{
    Answer, Content, Error,
    service::{
        HomeAnswer, InputRequired,
        offer::{Completions, PromptAnswer, PromptMessage, ResourceContent, ResourceDefinition, Role},
    },
};

use super::malformed;

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WireAnswer {
    Tool(WireToolAnswer),
    Prompt(WirePrompt),
    List(Vec<ResourceDefinition>),
    Read(Vec<WireResource>),
    Complete(Completions),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireToolAnswer {
    content: Vec<WirePart>,
    structured: Option<Value>,
    is_error: bool,
    input: Option<Value>,
    meta: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WirePrompt {
    description: Option<String>,
    messages: Vec<WireMessage>,
    input: Option<Value>,
    meta: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireMessage {
    role: String,
    part: WirePart,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireResource {
    uri: String,
    part: WirePart,
}

#[derive(Debug, Serialize, Deserialize)]
struct WirePart {
    mime_type: String,
    text: Option<String>,
    base64: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
}

impl WireAnswer {
    pub(super) fn of(answer: HomeAnswer) -> Self {
        match answer {
            HomeAnswer::Call(answer) => Self::Tool(WireToolAnswer::of(answer)),
            HomeAnswer::Prompt(answer) => Self::Prompt(WirePrompt::of(answer)),
            HomeAnswer::List(listed) => Self::List(listed),
            HomeAnswer::Read(parts) => {
                let part = |ResourceContent { uri, content, .. }| WireResource { uri, part: WirePart::of(content) };
                Self::Read(parts.into_iter().map(part).collect())
            }
            HomeAnswer::Complete(completions) => Self::Complete(completions),
        }
    }

    /// The answer.
    ///
    /// # Errors
    /// `internal` where it has no form of an answer.
    pub(crate) fn into_answer(self) -> Result<HomeAnswer, Error> {
        Ok(match self {
            Self::Tool(answer) => HomeAnswer::Call(answer.into_answer()?),
            Self::Prompt(answer) => HomeAnswer::Prompt(answer.into_answer()?),
            Self::List(listed) => HomeAnswer::List(listed),
            Self::Read(parts) => {
                let part = |WireResource { uri, part }| {
                    Ok(ResourceContent { uri, content: part.into_content()?, memory: Default::default() })
                };
                HomeAnswer::Read(parts.into_iter().map(part).collect::<Result<_, Error>>()?)
            }
            Self::Complete(completions) => HomeAnswer::Complete(completions),
        })
    }
}

impl WireToolAnswer {
    fn of(answer: Answer) -> Self {
        Self {
            content: answer.content.into_iter().map(WirePart::of).collect(),
            structured: answer.structured,
            is_error: answer.is_error,
            input: answer.input_required.map(|required| required.to_value()),
            meta: answer.meta,
        }
    }

    fn into_answer(self) -> Result<Answer, Error> {
        Ok(Answer {
            content: self.content.into_iter().map(WirePart::into_content).collect::<Result<_, _>>()?,
            structured: self.structured,
            is_error: self.is_error,
            input_required: self.input.as_ref().map(InputRequired::read).transpose()?,
            meta: self.meta,
            ..Answer::default()
        })
    }
}

impl WirePrompt {
    fn of(answer: PromptAnswer) -> Self {
        let message = |PromptMessage { role, content }| WireMessage {
            role: Role::as_str(role).to_owned(),
            part: WirePart::of(content),
        };
        Self {
            description: answer.description,
            messages: answer.messages.into_iter().map(message).collect(),
            input: answer.input_required.map(|required| required.to_value()),
            meta: answer.meta,
        }
    }

    fn into_answer(self) -> Result<PromptAnswer, Error> {
        let message = |WireMessage { role, part }| {
            let role = Role::find(&role).ok_or_else(malformed)?;
            Ok(PromptMessage { role, content: part.into_content()? })
        };
        Ok(PromptAnswer {
            description: self.description,
            messages: self.messages.into_iter().map(message).collect::<Result<_, Error>>()?,
            input_required: self.input.as_ref().map(InputRequired::read).transpose()?,
            meta: self.meta,
            ..PromptAnswer::default()
        })
    }
}

impl WirePart {
    fn of(Content { mime_type, data, meta }: Content) -> Self {
        let (text, base64) = match String::from_utf8(data) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
        };
        Self { mime_type, text, base64, meta }
    }

    fn into_content(self) -> Result<Content, Error> {
        let data = match (self.text, self.base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(base64)) => STANDARD.decode(base64).map_err(|_| malformed())?,
            (None, None) => return Err(malformed()),
        };
        Ok(Content { mime_type: self.mime_type, data, meta: self.meta })
    }
}
