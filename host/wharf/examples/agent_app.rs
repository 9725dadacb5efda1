//! A small agent app: it loads a plugin while it runs, and lets a model work with
//! the plugin's tools beside one of its own. The model is scripted; a real one
//! implements [`Model`] by asking a service.
//!
//! `cargo xtask plugins && cargo run -p wharf --example agent_app target/plugins/components/planning.wasm`

use std::{error::Error, io::Write, path::Path, sync::Arc, time::Duration};

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use wharf::{
    Answer, AppCall, AppTool, CallRequest, Caller, Configuration, Content, Context, EventSink, Grants, Host, Level,
    PluginName, PluginSpec, StateGrant, TenantId, ToolDefinition, ToolService, Viewer,
};

/// What a model decides to do next.
enum Turn {
    /// To call a tool and see what it answers.
    Call { tool: String, arguments: Map<String, Value> },
    /// To end with these words.
    Say(String),
}

/// What decides: it is shown the tools that there are, and what it has done so far
/// with the outcome.
trait Model {
    fn next(&mut self, tools: &[ToolDefinition], done: &[(String, String)]) -> Turn;
}

/// A model that knows beforehand what it wants, and finds out which tool does it.
struct Scripted {
    wishes: Vec<(&'static str, Value)>,
}

impl Model for Scripted {
    fn next(&mut self, tools: &[ToolDefinition], done: &[(String, String)]) -> Turn {
        let Some((wanted, arguments)) = self.wishes.get(done.len()) else {
            let last = done.last().map_or("nothing", |(_, answer)| answer);
            return Turn::Say(format!("after {} calls the last answer is: {last}", done.len()));
        };
        let found = tools.iter().find(|tool| tool.name.split("__").nth(1) == Some(wanted));
        match found {
            Some(tool) => {
                Turn::Call { tool: tool.name.clone(), arguments: arguments.as_object().cloned().unwrap_or_default() }
            }
            None => Turn::Say(format!("I have no tool `{wanted}`, and say so instead of inventing one")),
        }
    }
}

/// Hands on what a tool tells while it works.
struct Told(mpsc::UnboundedSender<String>);

impl EventSink for Told {
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let total = total.map_or_else(|| "?".to_owned(), |total| total.to_string());
        let _ = self.0.send(format!("{done}/{total} {}", message.unwrap_or_default()));
    }

    fn message(&self, level: Level, data: Value) {
        let _ = self.0.send(format!("{level}: {data}"));
    }
}

/// One agent: the host that its tools are of, and on whose behalf it calls them.
struct Agent<'a> {
    name: &'static str,
    host: &'a Host,
    context: Context,
}

/// A model that never ends must not go on for ever.
const MOST_TURNS: usize = 20;

impl Agent<'_> {
    /// Lets the model work until it has said its last word.
    async fn run(&self, mut model: impl Model, out: &mut (dyn Write + Send)) -> Result<(), Box<dyn Error>> {
        let mut done = Vec::new();
        for _ in 0..MOST_TURNS {
            // Listed for each turn: plugins come and go.
            match model.next(&self.host.tools(Viewer::of_tenant(&self.context.tenant)), &done) {
                Turn::Say(words) => return Ok(writeln!(out, "{}: {words}", self.name)?),
                Turn::Call { tool, arguments } => {
                    writeln!(out, "{} calls {tool} {}", self.name, Value::from(arguments.clone()))?;
                    let answer = self.call(&tool, arguments, out).await?;
                    writeln!(out, "  = {answer}")?;
                    done.push((tool, answer));
                }
            }
        }
        Ok(writeln!(out, "{}: stopped after {MOST_TURNS} turns", self.name)?)
    }

    /// Calls a tool and shows what it tells meanwhile. An error is an answer, too:
    /// models can react to it.
    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        out: &mut (dyn Write + Send),
    ) -> Result<String, Box<dyn Error>> {
        let (sender, mut told) = mpsc::unbounded_channel();
        let mut caller = Caller::new(self.context.clone());
        caller.events = Some(Arc::new(Told(sender)));
        let mut calling = Box::pin(self.host.call(CallRequest::of(caller, tool, arguments)));
        let answered = loop {
            tokio::select! {
                biased;
                Some(event) = told.recv() => writeln!(out, "  ~ {event}")?,
                answered = &mut calling => break answered,
            }
        };
        while let Ok(event) = told.try_recv() {
            writeln!(out, "  ~ {event}")?;
        }
        Ok(match answered {
            Ok(answer) => shown(&answer),
            Err(error) => error.to_string(),
        })
    }
}

/// What a model reads of an answer: its first line, here.
fn shown(answer: &Answer) -> String {
    let text = answer.content.iter().find_map(Content::as_text).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// A tool of the app itself, which tells how far it has come.
fn estimate() -> AppTool {
    let schema = json!({
        "type": "object",
        "properties": {"steps": {"type": "integer", "minimum": 1, "maximum": 3}},
        "required": ["steps"],
        "additionalProperties": false,
    });
    AppTool::new("estimate", "Says how long some steps of work take.", schema, |call: AppCall| async move {
        let steps = call.arguments["steps"].as_u64().unwrap_or_default();
        for step in 1..=steps {
            call.progress(step as f64, Some(steps as f64), Some("thinking about a step"))?;
        }
        Ok(Answer { content: vec![Content::text(format!("{} hours", steps * 2))], ..Answer::default() })
    })
}

/// A host without the plugins that are part of the binary, and without a trace on
/// disk.
async fn host() -> Result<Host, Box<dyn Error>> {
    let off = wharf::bundled_names().map(|name| format!("[plugin.{name}]\nenabled = false\n"));
    let configuration = Configuration::parse(&off.collect::<String>(), Path::new("."))?;
    Ok(Host::builder(configuration).open().await?)
}

/// The plugin that is loaded: it may keep state, and nothing else.
fn plans(component: &[u8]) -> Result<PluginSpec, Box<dyn Error>> {
    let grants = Grants { state: Some(StateGrant::with_reason("keeps the plans")), ..Grants::default() };
    Ok(PluginSpec::new("plans".parse()?, component.to_vec()).with_grants(grants))
}

/// Shows all of it.
pub(crate) async fn show(component: &[u8], out: &mut (dyn Write + Send)) -> Result<(), Box<dyn Error>> {
    let (first, second) = (host().await?, host().await?);
    let context = Context {
        assistant: Some("painter".parse()?),
        thread: Some("fences".parse()?),
        ..Context::new(TenantId::local(), "my-session".parse()?)
    };
    let ada = Agent { name: "ada", host: &first, context: context.clone() };
    let bob = Agent { name: "bob", host: &second, context };
    let tools = |host: &Host| host.tools(Viewer::of_tenant(&ada.context.tenant)).len();
    writeln!(out, "two hosts, {} and {} tools", tools(&first), tools(&second))?;

    let work = || Scripted {
        wishes: vec![
            ("create_goal", json!({"goal": "Paint the fence"})),
            ("add_todo", json!({"name": "Buy paint"})),
            ("estimate", json!({"steps": 2})),
        ],
    };
    ada.run(work(), out).await?;

    let loaded = first.load_plugin(plans(component)?).await?;
    let estimate = first.register_tool(estimate())?;
    writeln!(out, "loaded {} with {} tools, registered {estimate}", loaded.plugin.name(), loaded.plugin.tools().len())?;
    ada.run(work(), out).await?;

    // The same plugin in the same process, and nothing of what the first one keeps.
    second.load_plugin(plans(component)?).await?;
    let look = || Scripted { wishes: vec![("list_goals", json!({}))] };
    ada.run(look(), out).await?;
    bob.run(look(), out).await?;

    let plans: PluginName = "plans".parse()?;
    first.unload_plugin(&plans)?;
    first.unregister_tool(&estimate);
    writeln!(out, "unloaded {plans}: {} and {} tools", tools(&first), tools(&second))?;
    ada.run(look(), out).await?;
    for host in [first, second] {
        host.shut_down(Duration::from_secs(1)).await;
    }
    Ok(writeln!(out, "shut down")?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("say which component to load, such as planning.wasm")?;
    show(&std::fs::read(path)?, &mut std::io::stdout()).await
}
