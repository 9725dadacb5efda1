//! `cargo xtask demo`: a client session that a newcomer can follow.
//!
//! Owns the story and how it is printed. Every claim it makes is checked while
//! it runs: a demo that shows something else than it says fails.

mod cluster;
mod connect;
mod console;
mod library;
mod pages;
mod playbook;
mod workshop;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use lexopt::Arg;
use serde_json::{Value, json};

use crate::client::{Answer, Client, Conversation, PROTOCOL};
use crate::command::{self, say};
use crate::components;
use crate::packages;
use crate::toolchain::Choice;
use crate::workspace::Workspace;

const HELP: &str = "\
Builds what is missing, starts the host, and lets an MCP client plan a real piece
of work, keep this project's own documents and find things in them (in English and
in Korean), write down, find again and follow a playbook, build and test a small
program, and fill a form on a web site, each call in a fresh sandbox. Says at each step what the client sends and what comes back, and ends with
how to connect a client of your own.

Usage: cargo xtask demo [OPTIONS]

Options:
  --cluster     Another story: three hosts behind HAProxy, on PostgreSQL with a synchronous standby. One
                host is killed, one is drained and started again, and the database fails over, while an
                agent works. Takes half a minute once all is built
  -h, --help    This text

Everything it writes goes below target/demo. The first run compiles wasmtime and
takes minutes; later ones take seconds.
";

const FIRMWARE: Conversation =
    Conversation { session: "weather-station", assistant: "engineer", thread: "release-1.0" };
const GARDEN: Conversation = Conversation { session: "garden", assistant: "gardener", thread: "spring" };

/// Lines of an answer that are shown.
const SHOWN_LINES: usize = 14;
/// Letters of a line that are shown.
const SHOWN_LETTERS: usize = 120;

/// What the story needs to go on.
struct Stage {
    wharf: PathBuf,
    folder: PathBuf,
    client: Option<Client>,
}

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut is_of_cluster = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("cluster") => is_of_cluster = true,
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let workspace = Workspace::find()?;
    build(&workspace)?;
    if is_of_cluster { cluster::tell(&workspace) } else { tell(&workspace) }
}

/// Tells the story with the host that is built.
pub(crate) fn tell(workspace: &Workspace) -> Result<()> {
    let wharf = workspace.binary("debug", "wharf");
    let folder = workspace.target().join("demo");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    // An own one: the demo must not depend on what the user has configured.
    fs::write(folder.join("wharf.toml"), "# Every setting has its default.\n")?;
    let mut stage = Stage { wharf, folder, client: None };
    stage.connect()?;
    stage.plan()?;
    stage.keep_apart()?;
    stage.refuse()?;
    stage.fill_library(workspace)?;
    stage.search_library()?;
    stage.follow_playbook()?;
    stage.build_program()?;
    stage.follow_processes()?;
    stage.talk_to_programs()?;
    stage.follow_over_http()?;
    stage.use_a_site(workspace)?;
    stage.look_inside(workspace)?;
    stage.survive()?;
    connect::print(&stage.wharf);
    Ok(())
}

/// The command alone, with the features that it has in the workspace: as a package by itself
/// it may get others of shared dependencies, and the tests would then compile wasmtime again.
fn build(workspace: &Workspace) -> Result<()> {
    packages::ensure_browser()?;
    components::build(workspace, false, Choice::from_environment()?)?;
    say("Building the host (minutes on a fresh clone: wasmtime is large)");
    command::run(&mut command::building_programs(&workspace.root, &["--bin", "wharf"])?)
}

impl Stage {
    fn connect(&mut self) -> Result<()> {
        chapter("1. A client connects, as Claude Desktop or an editor would");
        prose("The host runs as a child process and speaks MCP on its standard input and output.");
        let hello = self.start()?;
        arrow(&format!("initialize, protocol {PROTOCOL}"));
        let name = hello["serverInfo"]["name"].as_str().unwrap_or("a server without a name");
        let version = hello["serverInfo"]["version"].as_str().unwrap_or_default();
        answer(&format!("{name} {version}"));
        arrow("tools/list");
        let listing = self.client()?.request("tools/list", &json!({}))?;
        let tools = listing["tools"].as_array().context("tools/list has no tools")?;
        for tool in tools {
            let description = tool["description"].as_str().unwrap_or_default();
            let first = description.split_inclusive(['.', '\n']).next().unwrap_or_default().trim_end();
            answer(&format!("{:<32} {first}", tool["name"].as_str().unwrap_or_default()));
        }
        Ok(())
    }

    fn plan(&mut self) -> Result<()> {
        chapter("2. An agent plans a piece of work");
        prose("Each call runs in a fresh WebAssembly instance that owns nothing: no files, no network, no memory of");
        prose("earlier calls. What it keeps, it keeps through an interface that the operator granted. The app names");
        prose("the conversation beside the arguments, where the model cannot write:");
        prose(&format!("session {}, assistant {}, thread {}", FIRMWARE.session, FIRMWARE.assistant, FIRMWARE.thread));
        let goal = "Ship release 1.0 of the weather station's firmware";
        self.call(FIRMWARE, "planning__create_goal", &json!({ "goal": goal }))?;
        for name in ["Fix the drift of the rain gauge", "Measure battery life over 48 hours", "Write the release notes"]
        {
            self.call(FIRMWARE, "planning__add_todo", &json!({ "name": name }))?;
        }
        let done = json!({ "id": 1, "completed": true, "summary": "The gauge lost a pulse at wake-up: now latched." });
        self.call(FIRMWARE, "planning__mark_todo", &done)?;
        let memo = json!({ "memo": "The test board is in the lab, shelf 3." });
        self.call(FIRMWARE, "planning__add_memo", &memo)?;
        let state = self.call(FIRMWARE, "planning__get_current_state", &json!({}))?;
        must(state.text.contains("firmware"), "the plan holds its goal")
    }

    fn keep_apart(&mut self) -> Result<()> {
        chapter("3. Another conversation on the same connection sees nothing of it");
        prose(&format!("session {}, assistant {}, thread {}", GARDEN.session, GARDEN.assistant, GARDEN.thread));
        let state = self.call(GARDEN, "planning__get_current_state", &json!({}))?;
        must(!state.text.contains("firmware"), "two sessions do not see each other")?;
        self.call(GARDEN, "planning__create_goal", &json!({ "goal": "Plant tomatoes before the first of May" }))?;
        prose("Now the model is tricked into asking for the other session. The forged field is dropped before the");
        prose("tool sees it, and the answer is still this conversation's own:");
        let forged = json!({ "__sessionId": FIRMWARE.session, "__threadId": FIRMWARE.thread });
        let state = self.call(GARDEN, "planning__get_current_state", &forged)?;
        must(!state.text.contains("firmware"), "a model cannot choose its context")
    }

    fn refuse(&mut self) -> Result<()> {
        chapter("4. What is wrong or too much is refused, and the host lives on");
        prose("Arguments are checked against the tool's schema before anything runs:");
        let missing = self.call(FIRMWARE, "planning__add_todo", &json!({ "nmae": "a slip of the keyboard" }))?;
        must(missing.is_error, "arguments that break the schema are refused")?;
        prose("The tool's own errors tell the model how to go on:");
        let unknown = json!({ "id": 99, "completed": true });
        let unknown = self.call(FIRMWARE, "planning__mark_todo", &unknown)?;
        must(unknown.is_error, "an id that does not exist is refused")?;
        prose("A memo of two megabytes is more than anybody granted:");
        let flood = "flood ".repeat(350_000);
        let flood = self.call(FIRMWARE, "planning__add_memo", &json!({ "memo": flood }))?;
        must(flood.is_error, "a flood is refused")?;
        self.deny()
    }

    /// The same tool under an operator who granted nothing.
    fn deny(&self) -> Result<()> {
        prose("And where an operator grants this plugin nothing, its tools are not even there:");
        let configuration = self.folder.join("nothing-granted.toml");
        let text = "[plugin.planning]\ngrants = {}\n";
        fs::write(&configuration, text)?;
        text.lines().for_each(|line| println!("     wharf.toml | {line}"));
        self.refused_call(&configuration, "planning__create_goal", r#"{"goal":"Take over the host"}"#)
    }

    /// A call from the command line that has to fail, and why it does.
    fn refused_call(&self, configuration: &Path, tool: &str, arguments: &str) -> Result<()> {
        println!("     $ wharf call {tool} '{arguments}'");
        let mut call = Command::new(&self.wharf);
        call.args(["call", tool, arguments]);
        call.arg("--config").arg(configuration).arg("--data").arg(self.folder.join("data"));
        let output = call.output().context("cannot start wharf")?;
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        let lines = told.lines().map(str::trim).filter(|line| !line.is_empty());
        for (index, line) in lines.enumerate() {
            answer(&format!("{}{line}", if index == 0 { "refused: " } else { "" }));
        }
        must(!output.status.success(), "what is not granted is denied")
    }

    fn look_inside(&mut self, workspace: &Workspace) -> Result<()> {
        chapter("13. What the sandbox can reach is written in the component, not promised");
        let component = workspace.components().join("planning.wasm");
        println!("     $ wharf inspect {}", workspace.shown(&component));
        let report = command::capture(Command::new(&self.wharf).arg("inspect").arg(&component))?;
        for line in report.lines() {
            println!("       {}", shortened(line));
        }
        Ok(())
    }

    fn survive(&mut self) -> Result<()> {
        chapter("14. The host is killed (kill -9) and started again: everything is still there");
        let running = self.leave_running()?;
        self.client.take().context("the client is connected")?.kill()?;
        self.start()?;
        let state = self.call(FIRMWARE, "planning__get_current_state", &json!({}))?;
        must(state.text.contains("firmware"), "state outlives the host")?;
        let found =
            self.call(library::READER, "content-store__search_content", &json!({ "query": "harbour", "top_n": 1 }))?;
        must(found.text.contains("**"), "what was kept is found after a kill")?;
        self.find_again(&running)?;
        self.client.take().context("the client is connected")?.close()
    }

    fn start(&mut self) -> Result<Value> {
        let log = File::options().create(true).append(true).open(self.folder.join("wharf.log"))?;
        let mut server = Command::new(&self.wharf);
        server.args(["serve", "--stdio", "--data"]).arg(self.folder.join("data"));
        server.arg("--config").arg(self.folder.join("wharf.toml")).stderr(Stdio::from(log));
        let (client, hello) = Client::start(&mut server)?;
        self.client = Some(client);
        Ok(hello)
    }

    fn client(&mut self) -> Result<&mut Client> {
        self.client.as_mut().context("the client is connected")
    }

    fn call(&mut self, conversation: Conversation, tool: &str, arguments: &Value) -> Result<Answer> {
        self.call_shown(conversation, tool, arguments, &arguments.to_string())
    }

    /// The same with the arguments shown as `shown`.
    fn call_shown(&mut self, conversation: Conversation, tool: &str, arguments: &Value, shown: &str) -> Result<Answer> {
        arrow(&format!("{tool} {}", shortened(shown)));
        let given = self.client()?.call(conversation, tool, arguments)?;
        let lines: Vec<_> = given.text.lines().collect();
        let mark = if given.is_error { "refused: " } else { "" };
        for (index, line) in lines.iter().take(SHOWN_LINES).enumerate() {
            answer(&format!("{}{}", if index == 0 { mark } else { "" }, shortened(line)));
        }
        if lines.len() > SHOWN_LINES {
            answer(&format!("… {} more lines", lines.len() - SHOWN_LINES));
        }
        Ok(given)
    }
}

fn must(holds: bool, claim: &str) -> Result<()> {
    if !holds {
        bail!("the demo claims that {claim}, and that did not hold");
    }
    Ok(())
}

fn chapter(title: &str) {
    println!("\n{title}");
}

fn prose(text: &str) {
    println!("   {text}");
}

fn arrow(text: &str) {
    println!("     client -> {text}");
}

fn answer(text: &str) {
    println!("     host   <- {text}");
}

fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(SHOWN_LETTERS).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}
