//! `wharf call`: one call, from a shell.

use std::{io::Read, path::PathBuf, process::ExitCode, str::FromStr, time::Duration};

use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use serde_json::{Map, Value, json};
use wharf::{Answer, AssistantId, CallRequest, Code, Context, Error, TenantId, ThreadId, input::InputRequired};

use crate::{
    exit::{FAILED, Misused},
    global::{Global, runtime},
    print::print_json,
    session::SessionChoice,
};

/// Call one tool and print its answer
///
/// Exit code 0 where the tool answered, 1 where it answered with an error, asks
/// for input or the call failed. Processes that the tool started end with this command.
///
/// Example: keep a document and find something in it
///
///   wharf call content-store__add_content '{"name": "report.pdf"}' --base64 document=report.pdf
///
///   wharf call content-store__search_content '{"query": "harbour lights"}'
#[derive(Debug, Args)]
pub(super) struct CallArguments {
    /// Full name, such as planning__create_goal
    tool: String,

    /// Arguments as a JSON object; `-` reads them from standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,

    /// An argument that is the text of a file
    #[arg(long, value_name = "NAME=FILE")]
    text: Vec<FileArgument>,

    /// An argument that is a file's bytes in base64
    #[arg(long, value_name = "NAME=FILE")]
    base64: Vec<FileArgument>,

    /// Session of the call; `new` for one that nobody had before, which is then printed
    #[arg(long, value_name = "NAME", default_value = "default")]
    session: SessionChoice,

    /// Assistant of the call
    #[arg(long, value_name = "NAME")]
    assistant: Option<AssistantId>,

    /// Thread of the call
    #[arg(long, value_name = "NAME")]
    thread: Option<ThreadId>,

    /// Print the whole answer as a JSON object
    #[arg(long)]
    json: bool,
}

/// An argument whose value is in a file.
#[derive(Debug, Clone)]
struct FileArgument {
    name: String,
    file: PathBuf,
}

impl FromStr for FileArgument {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written.split_once('=') {
            Some((name, file)) if !name.is_empty() && !file.is_empty() => {
                Ok(Self { name: name.to_owned(), file: file.into() })
            }
            _ => Err("write it like `document=report.pdf`".to_owned()),
        }
    }
}

impl FileArgument {
    fn read(&self) -> Result<Vec<u8>> {
        std::fs::read(&self.file).with_context(|| format!("cannot read {}", self.file.display()))
    }
}

/// What processes may take to end by themselves once the tool has answered.
const GRACE: Duration = Duration::from_secs(1);

impl CallArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let arguments = self.arguments()?;
        let session = self.session.id()?;
        if matches!(self.session, SessionChoice::New) {
            eprintln!("the session is {session}");
        }
        let context = Context {
            assistant: self.assistant.clone(),
            thread: self.thread.clone(),
            ..Context::new(TenantId::local(), session)
        };
        let request = CallRequest::new(context, self.tool.clone(), arguments);
        let configuration = global.configuration()?;
        let answered = runtime()?.block_on(async {
            let host = global.open(configuration).await?;
            let calling = global.progress().step(format!("calling {}", self.tool));
            let answered = host.call(request).await;
            drop(calling);
            let running = host.running();
            if running > 0 {
                eprintln!("{running} process(es) or page(s) that it started end with this command; `wharf serve` would keep them");
            }
            host.shut_down(GRACE).await;
            anyhow::Ok(answered)
        })?;
        match answered {
            Ok(answer) => self.print(&answer),
            Err(error) => self.print_failure(&error),
        }
    }

    fn arguments(&self) -> Result<Map<String, Value>> {
        let mut text = self.arguments.clone().into_bytes();
        if text == b"-" {
            text.clear();
            std::io::stdin().read_to_end(&mut text).context("cannot read the arguments from standard input")?;
        }
        let mut arguments: Map<String, Value> = serde_json::from_slice(&text).map_err(|error| {
            Misused(format!("the arguments are no JSON object; write them like '{{\"NAME\": \"value\"}}': {error}"))
        })?;
        for argument in &self.text {
            let text = String::from_utf8(argument.read()?).map_err(|_| {
                Misused(format!("{} is not UTF-8; `--base64` takes any bytes", argument.file.display()))
            })?;
            arguments.insert(argument.name.clone(), text.into());
        }
        for argument in &self.base64 {
            arguments.insert(argument.name.clone(), STANDARD.encode(argument.read()?).into());
        }
        Ok(arguments)
    }

    fn print(&self, answer: &Answer) -> Result<ExitCode> {
        if let Some(asked) = &answer.input_required {
            return self.print_question(asked);
        }
        if self.json {
            let content: Vec<_> = answer
                .content
                .iter()
                .map(|part| match part.as_text() {
                    Some(text) => json!({"mimeType": part.mime_type, "text": text}),
                    None => json!({"mimeType": part.mime_type, "bytes": part.data.len()}),
                })
                .collect();
            print_json(&json!({"content": content, "structured": answer.structured, "isError": answer.is_error}))?;
        } else {
            for part in &answer.content {
                match part.as_text() {
                    Some(text) => println!("{text}"),
                    None => println!("[{}, {} bytes]", part.mime_type, part.data.len()),
                }
            }
        }
        Ok(if answer.is_error { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
    }

    /// What the tool asks for before it answers. Nobody can be asked here.
    fn print_question(&self, asked: &InputRequired) -> Result<ExitCode> {
        if self.json {
            let requests: Map<_, _> = asked
                .requests
                .iter()
                .map(|(name, request)| {
                    (name.clone(), json!({"method": request.method.as_str(), "params": request.parameters}))
                })
                .collect();
            print_json(&json!({"inputRequired": {"requests": requests, "state": asked.state}}))?;
        } else {
            eprintln!("error: the tool asks for input before it answers, which a client of the protocol can give:");
            for (name, request) in &asked.requests {
                let message = request.parameters.get("message").and_then(Value::as_str).unwrap_or_default();
                eprintln!(
                    "  {}",
                    format!("{name}, {}: {message}", request.method.as_str()).trim_end_matches([' ', ':'])
                );
            }
        }
        Ok(ExitCode::from(FAILED))
    }

    fn print_failure(&self, error: &Error) -> Result<ExitCode> {
        if self.json {
            print_json(&json!({
                "error": {"code": error.code.as_str(), "message": error.message, "retryable": error.retryable},
            }))?;
        } else {
            eprintln!("error: {} ({})", error.message, error.code);
        }
        // What a tool itself does not find is in no list of tools.
        if error.code == Code::NotFound && error.message.contains(&format!("no tool `{}`", self.tool)) {
            eprintln!("`wharf tools` lists them");
        }
        Ok(ExitCode::from(FAILED))
    }
}
