//! Tools of the embedding app, beside those of plugins.

mod calls;
mod clients;
mod endings;
mod example;
mod listing;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use wharf::{Answer, AppCall, AppTool, Content};
use wharf_tests::in_time;

/// A schema that takes every object.
fn anything() -> Value {
    json!({"type": "object"})
}

fn says(text: &str) -> Answer {
    Answer { content: vec![Content::text(text)], ..Answer::default() }
}

/// A tool that answers with this text.
fn saying(name: &str, text: &'static str) -> AppTool {
    AppTool::new(name, "For tests.", anything(), move |_: AppCall| async move { Ok(says(text)) })
}

/// A tool that answers with what reached it.
fn reporting(name: &str) -> AppTool {
    AppTool::new(name, "Reports.", anything(), |call: AppCall| async move {
        Ok(Answer {
            structured: Some(json!({
                "arguments": call.arguments,
                "tenant": call.caller.context.tenant.as_str(),
                "session": call.caller.context.session.as_str(),
                "assistant": call.caller.context.assistant.as_ref().map(|id| id.as_str()),
                "thread": call.caller.context.thread.as_ref().map(|id| id.as_str()),
                "meta": call.caller.meta,
                "capabilities": call.caller.capabilities,
            })),
            ..Answer::default()
        })
    })
}

/// What a [`waiting`] tool goes through.
struct Wait {
    release: Arc<Notify>,
    /// `began` once it runs, `dropped` once its future is gone.
    seen: mpsc::UnboundedReceiver<&'static str>,
}

impl Wait {
    async fn until(&mut self, what: &str) {
        let said = async { while self.seen.recv().await.expect("the tool is there") != what {} };
        in_time(what, said).await;
    }
}

/// Says that it was dropped.
struct Told(mpsc::UnboundedSender<&'static str>);

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

/// A tool that answers `text` once it is let go.
fn waiting(name: &str, text: &'static str) -> (AppTool, Wait) {
    let (sender, seen) = mpsc::unbounded_channel();
    let release = Arc::new(Notify::new());
    let wait = Wait { release: Arc::clone(&release), seen };
    let tool = AppTool::new(name, "Waits.", anything(), move |_: AppCall| {
        let (release, sender) = (Arc::clone(&release), sender.clone());
        async move {
            let told = Told(sender);
            let _ = told.0.send("began");
            release.notified().await;
            Ok(says(text))
        }
    });
    (tool, wait)
}
