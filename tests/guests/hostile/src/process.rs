//! Attacks through processes and the files of the session.

use serde_json::{Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::process::{self, Condition, Info, Launch, Position};
use wharf_sdk::bindings::wharf::plugin::types::Error;
use wharf_sdk::bindings::wharf::plugin::workspace;

use crate::attack::{Attack, error, found, number, report, text, texts};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new(
        "start_process",
        "Starts a program, or a text for the shell.",
        &[
            ("program?", "string"),
            ("shell?", "string"),
            ("arguments?", "array"),
            ("directory?", "string"),
            ("environment?", "object"),
            ("options?", "string"),
            ("input?", "boolean"),
            ("lifetime?", "integer"),
            ("silence?", "integer"),
        ],
        start_process,
    ),
    Attack::new(
        "start_many",
        "Starts a program so often, and programs of as many names as often.",
        &[("program", "string"), ("count", "integer"), ("names", "integer")],
        start_many,
    ),
    Attack::new(
        "ask_process",
        "Calls one function with an id and a number.",
        &[("function", "string"), ("id", "string"), ("number?", "integer"), ("text?", "string")],
        ask_process,
    ),
    Attack::new("ask_workspace", "Calls one function.", &[("function", "string")], ask_workspace),
    Attack::new("make_directory", "Makes a directory.", &[("path", "string")], make_directory),
    Attack::new("write_much", "Writes many bytes to a file.", &[("path", "string"), ("bytes", "integer")], write_much),
    Attack::new("rename_file", "Renames a file.", &[("path", "string"), ("to", "string")], rename_file),
    Attack::new("remove_file", "Removes a file.", &[("path", "string")], remove_file),
];

fn start_process(arguments: &Value) -> Result<Answer, Error> {
    let environment = arguments["environment"].as_object().into_iter().flatten();
    let launch = Launch {
        directory: text(arguments, "directory").to_owned(),
        environment: environment
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect(),
        input: arguments["input"].as_bool().unwrap_or_default(),
        lifetime_milliseconds: arguments["lifetime"].as_u64(),
        silence_milliseconds: arguments["silence"].as_u64(),
        options: arguments["options"].as_str().map(str::to_owned),
    };
    let started = match arguments["shell"].as_str() {
        Some(command) => process::spawn_shell(command, &launch),
        None => process::spawn(text(arguments, "program"), &texts(arguments, "arguments"), &launch),
    };
    found(started.map(|id| json!({ "id": id })))
}

fn start_many(arguments: &Value) -> Result<Answer, Error> {
    let launch = Launch {
        directory: String::new(),
        environment: Vec::new(),
        input: false,
        lifetime_milliseconds: None,
        silence_milliseconds: None,
        options: None,
    };
    let program = text(arguments, "program");
    let same = (0..number(arguments, "count")).map(|_| program.to_owned());
    let names = (0..number(arguments, "names")).map(|name| format!("{program}-{name}"));
    let started = same.chain(names).filter(|program| process::spawn(program, &[], &launch).is_ok()).count();
    report(&json!({ "started": started }))
}

fn ask_process(arguments: &Value) -> Result<Answer, Error> {
    let (id, number) = (text(arguments, "id"), number(arguments, "number"));
    let small = u32::try_from(number).unwrap_or(u32::MAX);
    let place = || Position { stream: "stdout".to_owned(), cursor: number };
    let answer = match text(arguments, "function") {
        "status" => process::status().map(Value::from),
        "list" => process::list().map(|listed| listed.iter().map(shown).collect()),
        "poll" => process::poll(id, small, small).map(|polled| {
            let stdout = String::from_utf8_lossy(&polled.stdout.data).into_owned();
            let stderr = String::from_utf8_lossy(&polled.stderr.data).into_owned();
            let advice = polled.advice.map(|advice| json!({ "polls": advice.polls, "text": advice.text }));
            json!({ "process": shown(&polled.process), "stdout": stdout, "stderr": stderr, "advice": advice })
        }),
        "wait" => {
            let pattern =
                arguments["text"].as_str().map(|pattern| (Position { cursor: 0, ..place() }, pattern.to_owned()));
            let condition = Condition { output: None, exit: pattern.is_none(), pattern, idle_milliseconds: None };
            process::wait(id, &condition, number)
                .map(|waited| json!({ "reason": waited.reason, "process": shown(&waited.process) }))
        }
        "read" => process::read(id, &place(), u32::MAX).map(|piece| json!(piece.data.len())),
        "head" => process::head(id, "stdout", small, u32::MAX).map(|piece| json!(piece.data.len())),
        "tail" => process::tail(id, "stdout", small, u32::MAX).map(|piece| json!(piece.data.len())),
        "tail-of" => process::tail(id, text(arguments, "text"), 1, 1).map(|piece| json!(piece.data.len())),
        "write" => process::write(id, b"hostile", number).map(Value::from),
        "close-input" => process::close_input(id).map(|()| Value::Null),
        "signal" => process::signal(id, text(arguments, "text")).map(|()| Value::Null),
        "stop" => process::stop(id, number).map(|info| shown(&info)),
        other => return Err(error("invalid", other)),
    };
    found(answer)
}

fn ask_workspace(arguments: &Value) -> Result<Answer, Error> {
    let directory = |directory: workspace::Directory| {
        json!({
            "path": directory.path, "shown": directory.shown, "exists": directory.exists,
            "writable": directory.writable,
        })
    };
    let answer = match text(arguments, "function") {
        "files" => workspace::files().map(directory),
        "create" => workspace::create().map(directory),
        "exchange" => workspace::exchange()
            .map(|folders| folders.into_iter().map(|(name, folder)| json!([name, directory(folder)])).collect()),
        "usage" => workspace::measure().map(|usage| json!({ "bytes": usage.bytes, "entries": usage.entries })),
        other => return Err(error("invalid", other)),
    };
    found(answer)
}

fn shown(info: &Info) -> Value {
    let outcome = info.outcome.as_ref().map(|outcome| {
        json!({ "kind": outcome.kind, "code": outcome.code, "signal": outcome.signal, "reason": outcome.reason })
    });
    json!({
        "id": info.id, "command": info.command, "status": info.status, "pid": info.pid, "outcome": outcome,
        "stdout": info.stdout.bytes, "evicted": info.stdout.evicted_before, "open": info.stdout.open,
        "descendants": info.descendants, "meta": info.meta,
    })
}

fn reached(result: std::io::Result<()>) -> Result<Answer, Error> {
    match result {
        Ok(()) => report(&json!({ "reached": true })),
        Err(error) => report(&json!({ "reached": false, "error": error.to_string() })),
    }
}

fn make_directory(arguments: &Value) -> Result<Answer, Error> {
    reached(std::fs::create_dir(text(arguments, "path")))
}

fn write_much(arguments: &Value) -> Result<Answer, Error> {
    use std::io::Write as _;
    let chunk = vec![b'x'; 1 << 20];
    let mut left = number(arguments, "bytes");
    reached(std::fs::File::create(text(arguments, "path")).and_then(|mut file| {
        while left > 0 {
            let next = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
            file.write_all(&chunk[..next])?;
            left -= next as u64;
        }
        Ok(())
    }))
}

fn rename_file(arguments: &Value) -> Result<Answer, Error> {
    reached(std::fs::rename(text(arguments, "path"), text(arguments, "to")))
}

fn remove_file(arguments: &Value) -> Result<Answer, Error> {
    reached(std::fs::remove_file(text(arguments, "path")))
}
