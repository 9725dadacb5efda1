//! A small service of tools, which show what reached them.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use wharf::{
    Answer, CallRequest, Code, Content, Error, ToolDefinition,
    input::{InputMethod, InputRequest, InputRequired},
    mcp::ServerInfo,
};
use wharf_test_support::in_time;

use crate::named_tools::NamedTools;

/// What calls went through, and what lets them end.
pub(crate) struct Tools {
    definitions: Arc<[ToolDefinition]>,
    said: mpsc::UnboundedSender<String>,
    seen: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
    /// What the next call of `test__stubborn` waits for.
    pub(crate) release: Mutex<CancellationToken>,
    /// Says that the list has changed.
    pub(crate) changes: watch::Sender<u64>,
}

impl Default for Tools {
    fn default() -> Self {
        let names = [
            "other__echo",
            "test__ask",
            "test__echo",
            "test__large",
            "test__murmur",
            "test__stubborn",
            "test__talk",
            "test__wait",
        ];
        let (said, seen) = mpsc::unbounded_channel();
        Self {
            definitions: names.into_iter().map(definition).collect(),
            said,
            seen: seen.into(),
            release: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }
}

fn definition(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: format!("{name} for tests"),
        input_schema: json!({"type": "object"}).as_object().expect("an object").clone().into(),
        output_schema: None,
        meta: serde_json::Map::new(),
    }
}

pub(crate) fn info() -> ServerInfo {
    let mut info = ServerInfo::new("wharf", "1.2.3");
    (info.title, info.instructions) = ("Wharf".to_owned(), "Tools for tests.".to_owned());
    info
}

impl Tools {
    fn say(&self, what: impl Into<String>) {
        let _ = self.said.send(what.into());
    }

    /// Waits until a call says `what`.
    pub(crate) async fn until(&self, what: &str) {
        let mut seen = self.seen.lock().await;
        while in_time("in time", seen.recv()).await.expect("a service") != what {}
    }

    /// Lets every call of `test__stubborn` so far end.
    pub(crate) fn release(&self) {
        std::mem::take(&mut *self.release.lock().expect("not poisoned")).cancel();
    }
}

#[async_trait::async_trait]
impl NamedTools for Tools {
    fn list(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.definitions)
    }

    fn changed(&self) -> Option<watch::Receiver<u64>> {
        Some(self.changes.subscribe())
    }

    async fn run(&self, request: CallRequest) -> Result<Answer, Error> {
        match request.tool.as_str() {
            "test__echo" | "other__echo" => Ok(Answer {
                structured: Some(json!({
                    "arguments": request.arguments.values(),
                    "tenant": request.caller.context.tenant.as_str(),
                    "session": request.caller.context.session.as_str(),
                    "assistant": request.caller.context.assistant.as_ref().map(|id| id.as_str()),
                    "thread": request.caller.context.thread.as_ref().map(|id| id.as_str()),
                })),
                ..Answer::default()
            }),
            "test__ask" => {
                let mut answer = Answer::default();
                if request.input.is_empty() {
                    let roots = InputRequest { method: InputMethod::Roots, parameters: serde_json::Map::new() };
                    answer.input_required =
                        Some(InputRequired { requests: [("roots".to_owned(), roots)].into(), state: None });
                } else {
                    answer.content.push(Content::text(json!(request.input.responses).to_string()));
                }
                Ok(answer)
            }
            "test__large" => {
                let bytes = request.arguments.values()["bytes"].as_u64().expect("a number");
                let mut answer = Answer::default();
                answer.content.push(Content::text("x".repeat(usize::try_from(bytes).expect("small"))));
                Ok(answer)
            }
            "test__wait" => {
                self.say("started");
                request.caller.cancel.cancelled().await;
                self.say("cancelled");
                Err(Error::new(Code::Cancelled, "the client took the call back"))
            }
            "test__stubborn" => {
                let release = self.release.lock().expect("not poisoned").clone();
                self.say("started");
                tokio::select! {
                    () = release.cancelled() => {}
                    () = request.caller.cancel.cancelled() => self.say("cancelled"),
                }
                let mut answer = Answer::default();
                answer.content.push(Content::text("late"));
                Ok(answer)
            }
            "test__murmur" => {
                if let Some(events) = request.caller.events.clone() {
                    events.progress(1.0, None, None);
                }
                Ok(Answer::default())
            }
            "test__talk" => {
                let release = self.release.lock().expect("not poisoned").clone();
                if let Some(events) = request.caller.events.clone() {
                    events.progress(1.0, Some(2.0), Some("on the way"));
                }
                self.say("started");
                release.cancelled().await;
                let mut answer = Answer::default();
                answer.content.push(Content::text("said"));
                Ok(answer)
            }
            other => panic!("{other} panics"),
        }
    }
}
