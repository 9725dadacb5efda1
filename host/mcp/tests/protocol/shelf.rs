//! A small service of prompts, resources and completions, and of tools that ask for input.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use wharf_core::{
    Answer, AnswerShare, CallRequest, Code, Content, Context, ContextRules, Error, InputGiven, InputRequired,
    OfferService, ToolDefinition,
    service::{
        Arguments, Caller, InputMethod, InputRequest, Viewer,
        offer::{
            Change, CompletionOf, Completions, PromptAnswer, PromptArgument, PromptDefinition, PromptMessage,
            ResourceContent, ResourceDefinition, ResourceTemplate, Role,
        },
    },
};
use wharf_mcp::Served;

use crate::named_tools::{Named, NamedTools};
use crate::support::{Client, definition, modern};

/// Offers what a library has.
pub(crate) struct Shelf {
    tools: Arc<[ToolDefinition]>,
    pub(crate) prompts: Mutex<Arc<[PromptDefinition]>>,
    templates: Arc<[ResourceTemplate]>,
    has_resources: bool,
    pub(crate) changes: broadcast::Sender<Change>,
}

impl Shelf {
    /// With everything on it.
    pub(crate) fn new() -> Arc<Self> {
        Self::with(true, true)
    }

    /// With tools, and some of the rest.
    pub(crate) fn with(prompts: bool, resources: bool) -> Arc<Self> {
        let offered = [prompt("asking", &[]), prompt("greet", &[("who", true), ("how", false)]), prompt("show", &[])];
        let template = ResourceTemplate {
            uri_template: "test://template/{id}/data".into(),
            name: "data".into(),
            description: "data by id".into(),
            mime_type: Some("application/json".into()),
            meta: Map::new(),
        };
        Arc::new(Self {
            tools: ["dialogue", "endless", "insist"].map(definition).into(),
            prompts: Mutex::new(offered.into_iter().filter(|_| prompts).collect()),
            templates: [template].into_iter().filter(|_| resources).collect(),
            has_resources: resources,
            changes: broadcast::Sender::new(4),
        })
    }

    pub(crate) fn served(self: &Arc<Self>) -> Served {
        Served::new(Arc::new(Named(Arc::clone(self))), Some(Arc::clone(self) as Arc<dyn OfferService>))
    }

    pub(crate) fn connect(self: &Arc<Self>) -> Client {
        Client::connect_to_all(self.served(), ContextRules::local())
    }

    /// A client of the older era.
    pub(crate) async fn legacy(self: &Arc<Self>, capabilities: Value) -> Client {
        let mut client = self.connect();
        client.handshake_with(capabilities).await;
        client
    }

    pub(crate) fn say(&self, change: Change) {
        self.changes.send(change).expect("somebody hears it");
    }
}

pub(crate) fn prompt(name: &str, arguments: &[(&str, bool)]) -> PromptDefinition {
    let argument = |(name, required): &(&str, bool)| PromptArgument {
        name: (*name).into(),
        description: String::new(),
        required: *required,
    };
    PromptDefinition {
        name: format!("test__{name}"),
        description: format!("{name} for tests"),
        arguments: arguments.iter().map(argument).collect(),
        meta: json!({"title": name}).as_object().expect("an object").clone(),
    }
}

/// The context of a session of the tenant `local`.
pub(crate) fn session(name: &str) -> Context {
    Context::new(ContextRules::local().tenant, name.parse().expect("legal"))
}

/// The metadata of a client of the newer era that can do this.
pub(crate) fn able(capabilities: Value) -> Value {
    modern(json!({ "io.modelcontextprotocol/clientCapabilities": capabilities }))
}

/// A form with one field.
pub(crate) fn form(field: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": format!("{field}?"), "requestedSchema": schema}})
}

/// What a client answers to a form.
pub(crate) fn filled(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

fn required(requests: &Value, state: Option<String>) -> InputRequired {
    let requests = requests.as_object().cloned().unwrap_or_default().into_iter().map(|(name, request)| {
        let method = match request["method"].as_str() {
            Some("elicitation/create") => InputMethod::Elicitation,
            Some("sampling/createMessage") => InputMethod::Sampling,
            _ => InputMethod::Roots,
        };
        let parameters = request["params"].as_object().cloned().unwrap_or_default();
        (name, InputRequest { method, parameters })
    });
    InputRequired { requests: requests.collect::<BTreeMap<_, _>>(), state }
}

fn asks(requests: &Value, state: Option<String>) -> Answer {
    Answer { input_required: Some(required(requests, state)), ..Answer::default() }
}

fn given(input: InputGiven, rounds: usize) -> Answer {
    let structured = json!({"responses": input.responses, "state": input.state, "rounds": rounds});
    Answer { structured: Some(structured), ..Answer::default() }
}

#[async_trait::async_trait]
impl NamedTools for Shelf {
    fn list(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.tools)
    }

    async fn run(&self, request: CallRequest) -> Result<Answer, Error> {
        let CallRequest { tool, arguments, input, .. } = request;
        match tool.as_str() {
            // Asks for each of `rounds` in turn, and answers what it was given last.
            "test__dialogue" => {
                let done = input.state.as_deref().map_or(0, |state| state.parse().expect("its own state"));
                match arguments.values().get("rounds").and_then(|rounds| rounds.get(done)) {
                    Some(requests) => Ok(asks(requests, Some((done + 1).to_string()))),
                    None => Ok(given(input, done)),
                }
            }
            // Asks for a name until it has one, and keeps no state.
            "test__insist" => {
                match input.responses.get("user_name").and_then(|given| given["content"]["name"].as_str()) {
                    Some(name) => {
                        Ok(Answer { content: vec![Content::text(format!("Hello, {name}!"))], ..Answer::default() })
                    }
                    None => Ok(asks(&json!({"user_name": form("name")}), None)),
                }
            }
            "test__endless" => Ok(asks(&json!({"roots": {"method": "roots/list"}}), None)),
            other => panic!("{other} panics"),
        }
    }
}

#[async_trait::async_trait]
impl OfferService for Shelf {
    fn prompts(&self, _: Viewer<'_>) -> Arc<[PromptDefinition]> {
        Arc::clone(&self.prompts.lock().expect("not poisoned"))
    }

    fn has_prompt(&self, viewer: Viewer<'_>, name: &str) -> bool {
        self.prompts(viewer).iter().any(|prompt| prompt.name == name)
    }

    fn templates(&self, _: Viewer<'_>) -> Arc<[ResourceTemplate]> {
        Arc::clone(&self.templates)
    }

    fn has_resources(&self, _: Viewer<'_>) -> bool {
        self.has_resources
    }

    fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    async fn prompt(
        &self,
        caller: &Arc<Caller>,
        name: &str,
        arguments: &Arguments,
        input: InputGiven,
    ) -> Result<PromptAnswer, Error> {
        let arguments = arguments.values();
        let says = |text: String| PromptMessage { role: Role::User, content: Content::text(text) };
        match name {
            "test__greet" => {
                let Some(who) = arguments.get("who").and_then(Value::as_str) else {
                    return Err(Error::new(Code::Invalid, "the argument `who` is missing"));
                };
                if let Some(events) = &caller.events {
                    events.progress(1.0, None, None);
                }
                let picture = Content { mime_type: "image/png".into(), data: vec![1, 2], meta: Map::new() };
                let messages = vec![
                    says(format!("Greet {who} of {}.", caller.context.session)),
                    PromptMessage { role: Role::Assistant, content: picture },
                ];
                Ok(PromptAnswer { description: Some("a greeting".into()), messages, ..PromptAnswer::default() })
            }
            "test__asking" => match input.responses.get("user_context") {
                Some(given) => {
                    let told = format!("{} as {:?}", given["content"]["context"], input.state);
                    Ok(PromptAnswer { messages: vec![says(told)], ..PromptAnswer::default() })
                }
                None => {
                    let required = required(&json!({"user_context": form("context")}), Some("kept".into()));
                    Ok(PromptAnswer { input_required: Some(required), ..PromptAnswer::default() })
                }
            },
            "test__show" => Ok(PromptAnswer {
                messages: vec![says(json!({"meta": caller.meta, "capabilities": caller.capabilities}).to_string())],
                ..Default::default()
            }),
            _ => Err(Error::new(Code::NotFound, format!("there is no prompt {name:?}; there is test__greet"))),
        }
    }

    async fn resources(&self, caller: &Arc<Caller>) -> Result<Vec<ResourceDefinition>, Error> {
        let resource = |uri: String, mime_type: &str| ResourceDefinition {
            name: uri.clone(),
            uri,
            description: String::new(),
            mime_type: Some(mime_type.into()),
            meta: Map::new(),
            memory: AnswerShare::default(),
        };
        let own = format!("test://session/{}", caller.context.session);
        Ok(vec![resource("test://binary".into(), "image/png"), resource(own, "text/plain")])
    }

    async fn read_resource(&self, caller: &Arc<Caller>, uri: &str) -> Result<Vec<ResourceContent>, Error> {
        let content = match uri {
            "test://binary" => Content { mime_type: "image/png".into(), data: vec![1, 2], meta: Map::new() },
            "test://busy" => return Err(Error::retryable(Code::Limit, "too many readers")),
            "test://panic" => panic!("{uri} panics"),
            "test://waits" => {
                caller.cancel.cancelled().await;
                return Err(Error::new(Code::Cancelled, "taken back"));
            }
            uri if uri == format!("test://session/{}", caller.context.session) => Content::text("yours"),
            _ => return Err(Error::new(Code::NotFound, "no plugin knows it")),
        };
        Ok(vec![ResourceContent { uri: uri.into(), content, memory: AnswerShare::default() }])
    }

    async fn complete(
        &self,
        caller: &Arc<Caller>,
        of: CompletionOf,
        argument: &str,
        typed: &str,
        others: Map<String, Value>,
    ) -> Result<Completions, Error> {
        match of {
            CompletionOf::Prompt(name) if !self.has_prompt(caller.viewer(), &name) => {
                Err(Error::new(Code::NotFound, "there is no such prompt"))
            }
            CompletionOf::Prompt(_) if argument == "who" => {
                let known = ["albert", "alice", "bob"].into_iter().filter(|name| name.starts_with(typed));
                let values = known.map(str::to_owned).chain(others.keys().cloned()).collect();
                Ok(Completions { values, total: Some(2), has_more: false })
            }
            CompletionOf::Template(uri) if uri == "test://template/{id}/data" => {
                Ok(Completions { values: vec![format!("{typed}23")], total: None, has_more: true })
            }
            CompletionOf::Template(_) => Err(Error::new(Code::NotFound, "there is no such template")),
            CompletionOf::Prompt(_) => Ok(Completions::default()),
        }
    }
}
