//! An app that adds two tools of its own to a host, lists them beside those of
//! plugins, calls one, and removes it again.
//!
//! `cargo run -p wharf --example app_tools`

use std::{error::Error, io::Write, path::Path, sync::Arc};

use serde_json::json;
use tokio::sync::Mutex;
use wharf::{
    Answer, AppCall, AppTool, CallRequest, Code, Configuration, Content, Context, Host, MemoryStore, TenantId,
    ToolAction, ToolService, Viewer,
};

/// What the app itself keeps: notes of each session.
#[derive(Default)]
struct Notes(Mutex<Vec<(Context, String)>>);

/// A tool with a type of its own reaches what the app keeps.
struct AddNote(Arc<Notes>);

#[wharf::async_trait]
impl ToolAction for AddNote {
    async fn call(&self, call: AppCall) -> Result<Answer, wharf::Error> {
        let text = call.arguments["text"].as_str().unwrap_or_default();
        if text.trim().is_empty() {
            return Err(wharf::Error::new(Code::Invalid, "a note needs words; send them as `text`"));
        }
        let mut notes = self.0.0.lock().await;
        // The transport gives the context, never a model.
        notes.push((call.caller.context.clone(), text.to_owned()));
        let count = notes.iter().filter(|(context, _)| *context == call.caller.context).count();
        Ok(Answer { structured: Some(json!({ "notes": count })), ..Answer::default() })
    }
}

/// A closure does, too.
fn weather() -> AppTool {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string", "minLength": 1}},
        "required": ["city"],
        "additionalProperties": false,
    });
    AppTool::new("weather", "Says what the weather is like in a city.", schema, |call: AppCall| async move {
        call.progress(1.0, Some(1.0), Some("looking out of the window"))?;
        let city = call.arguments["city"].as_str().unwrap_or_default();
        Ok(Answer { content: vec![Content::text(format!("{city}: sunny"))], ..Answer::default() })
    })
}

/// Shows all of it, on a host without a data directory.
pub(crate) async fn show(out: &mut (dyn Write + Send)) -> Result<(), Box<dyn Error>> {
    // Without a data directory nothing compiled is kept, so the largest plugin is left out.
    let configuration = Configuration::parse("[plugin.content-store]\nenabled = false", Path::new("."))?;
    let host = Host::open_with(configuration, Arc::new(MemoryStore::default()), None).await?;

    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let add_note = AppTool::with_action("add_note", "Keeps a note.", schema, Arc::new(AddNote(Arc::default())))
        .with_output_schema(json!({"type": "object", "properties": {"notes": {"type": "integer"}}}));
    let add_note = host.register_tool(add_note)?;
    let weather = host.register_tool(weather())?;

    let tenant = TenantId::local();
    let tools = host.tools(Viewer::of_tenant(&tenant));
    let of_app = tools.iter().filter(|tool| tool.name.starts_with("app__")).count();
    writeln!(out, "{of_app} tools of the app, beside others such as:")?;
    for tool in tools.iter().filter(|tool| tool.name.starts_with("app__") || tool.name.ends_with("create_goal")) {
        writeln!(out, "  {}: {}", tool.name, tool.description.lines().next().unwrap_or_default())?;
    }

    let context = Context::new(TenantId::local(), "my-session".parse()?);
    let call = |tool: &str, arguments: serde_json::Value| {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        host.call(CallRequest::new(context.clone(), tool, arguments))
    };
    let answer = call(&weather, json!({"city": "Oslo"})).await?;
    writeln!(out, "{weather} answers: {}", answer.content[0].as_text().unwrap_or_default())?;
    for text in ["buy milk", "feed the cat"] {
        let answer = call(&add_note, json!({ "text": text })).await?;
        writeln!(out, "{add_note} answers: {}", answer.structured.unwrap_or_default())?;
    }
    // Arguments are checked before the app's code sees them.
    if let Err(refused) = call(&weather, json!({"town": "Oslo"})).await {
        writeln!(out, "refused: {}", refused.code)?;
    }

    host.unregister_tool(&weather);
    if let Err(gone) = call(&weather, json!({"city": "Oslo"})).await {
        writeln!(out, "removed: {}", gone.code)?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    show(&mut std::io::stdout()).await
}
