//! Attacks on the operator's log and on the client's stream.

use std::io::Write;

use serde_json::{Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::types::Error;
use wharf_sdk::bindings::wharf::plugin::{events, log};

use crate::attack::{Attack, error, found, length, number, refusal, report, text};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new("log_lines", "Logs so many lines.", &[("count", "integer")], log_lines),
    Attack::new("log", "Logs one line, as it stands.", &[("level", "string"), ("message", "string")], log_line),
    Attack::new("log_bytes", "Logs one line of so many bytes.", &[("bytes", "integer")], log_bytes),
    Attack::new("stdout", "Writes a text to standard output, as it stands.", &[("text", "string")], stdout),
    Attack::new("stderr", "Writes a text to standard error, as it stands.", &[("text", "string")], stderr),
    Attack::new(
        "stdout_bytes",
        "Writes so many bytes without a line's end to standard output.",
        &[("bytes", "integer")],
        stdout_bytes,
    ),
    Attack::new(
        "stdout_lines",
        "Writes so many answers of the protocol to standard output.",
        &[("count", "integer")],
        stdout_lines,
    ),
    Attack::new("stdin", "Reads standard input to its end.", &[], stdin),
    Attack::new("progress", "Sends so many progresses.", &[("count", "integer")], progress),
    Attack::new(
        "progress_values",
        "Sends two progresses with these numbers; a text `NaN` or `inf` is one too.",
        &[("first", "string"), ("second", "string")],
        progress_values,
    ),
    Attack::new(
        "progress_message",
        "Sends one progress with this message.",
        &[("message", "string")],
        progress_message,
    ),
    Attack::new("message", "Sends so many messages.", &[("count", "integer")], message),
    Attack::new(
        "message_data",
        "Sends one message, as it stands.",
        &[("level", "string"), ("data", "string")],
        message_data,
    ),
    Attack::new("open_stream", "Opens a stream.", &[("title", "string"), ("options?", "string")], open_stream),
    Attack::new(
        "tell_stream",
        "Calls one function of a stream, once or several times; a text `NaN` is a percentage, too.",
        &[
            ("function", "string"),
            ("stream", "string"),
            ("text?", "string"),
            ("percent?", "string"),
            ("times?", "integer"),
        ],
        tell_stream,
    ),
];

fn open_stream(arguments: &Value) -> Result<Answer, Error> {
    found(events::open_stream(text(arguments, "title"), arguments["options"].as_str()).map(Value::from))
}

fn tell_stream(arguments: &Value) -> Result<Answer, Error> {
    let (stream, said) = (text(arguments, "stream"), text(arguments, "text"));
    let percent = arguments["percent"].as_str().map(|percent| percent.parse().unwrap_or(f64::NAN));
    let times = number(arguments, "times").max(1);
    for told in 0..times {
        let answer = match text(arguments, "function") {
            "status" => events::status(stream, said),
            "say" => events::say(stream, said),
            "advance" => events::advance(stream, said, percent),
            "complete" => events::complete(stream),
            other => return Err(error("invalid", other)),
        };
        if let Err(error) = answer {
            return report(&json!({ "told": told, "refused": refusal(&error) }));
        }
    }
    report(&json!({ "ok": times }))
}

fn log_lines(arguments: &Value) -> Result<Answer, Error> {
    for index in 0..number(arguments, "count") {
        log::write("info", &format!("line {index}"));
    }
    report(&json!({ "logged": number(arguments, "count") }))
}

fn log_line(arguments: &Value) -> Result<Answer, Error> {
    log::write(text(arguments, "level"), text(arguments, "message"));
    report(&json!({ "logged": 1 }))
}

fn log_bytes(arguments: &Value) -> Result<Answer, Error> {
    log::write("info", &"x".repeat(length(arguments, "bytes")));
    report(&json!({ "logged": 1 }))
}

fn written(result: std::io::Result<()>) -> Result<Answer, Error> {
    report(&json!({ "failed": result.err().map(|error| error.to_string()) }))
}

fn write_to(mut stream: impl Write, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

fn stdout(arguments: &Value) -> Result<Answer, Error> {
    written(write_to(std::io::stdout(), text(arguments, "text").as_bytes()))
}

fn stderr(arguments: &Value) -> Result<Answer, Error> {
    written(write_to(std::io::stderr(), text(arguments, "text").as_bytes()))
}

fn stdout_bytes(arguments: &Value) -> Result<Answer, Error> {
    let piece = [b'x'; 4_096];
    let mut left = length(arguments, "bytes");
    while left > 0 {
        let bytes = left.min(piece.len());
        if let Err(error) = write_to(std::io::stdout(), &piece[..bytes]) {
            return written(Err(error));
        }
        left -= bytes;
    }
    written(Ok(()))
}

fn stdout_lines(arguments: &Value) -> Result<Answer, Error> {
    for id in 0..number(arguments, "count") {
        let forged =
            json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": "forged" }] } });
        if let Err(error) = write_to(std::io::stdout(), format!("{forged}\n").as_bytes()) {
            return written(Err(error));
        }
    }
    written(Ok(()))
}

fn stdin(_arguments: &Value) -> Result<Answer, Error> {
    let read = std::io::read_to_string(std::io::stdin());
    report(&json!({ "read": read.as_ref().ok(), "failed": read.as_ref().err().map(ToString::to_string) }))
}

fn progress(arguments: &Value) -> Result<Answer, Error> {
    let mut done = 0.0;
    for sent in 0..number(arguments, "count") {
        done += 1.0;
        if let Err(error) = events::progress(done, None, Some("on the way")) {
            return report(&json!({ "sent": sent, "refused": refusal(&error) }));
        }
    }
    report(&json!({ "sent": number(arguments, "count") }))
}

fn progress_values(arguments: &Value) -> Result<Answer, Error> {
    let send = |name| {
        let value = text(arguments, name).parse().unwrap_or(f64::NAN);
        events::progress(value, None, None).map_or_else(|error| error.code, |()| "ok".to_owned())
    };
    report(&json!({ "first": send("first"), "second": send("second") }))
}

fn progress_message(arguments: &Value) -> Result<Answer, Error> {
    events::progress(1.0, None, Some(text(arguments, "message")))?;
    report(&json!({ "sent": 1 }))
}

fn message(arguments: &Value) -> Result<Answer, Error> {
    for sent in 0..number(arguments, "count") {
        if let Err(error) = events::message("info", "\"hello\"") {
            return report(&json!({ "sent": sent, "refused": refusal(&error) }));
        }
    }
    report(&json!({ "sent": number(arguments, "count") }))
}

fn message_data(arguments: &Value) -> Result<Answer, Error> {
    events::message(text(arguments, "level"), text(arguments, "data"))?;
    report(&json!({ "sent": 1 }))
}
