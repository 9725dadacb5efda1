//! Attacks by HTTP requests: any method, server, path, headers and body, by the
//! imports of WASI themselves.

use serde_json::{Value, json};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest,
    RequestOptions, Scheme,
};
use wasip2::io::streams::StreamError;
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::{Attack, length, number, report, text, texts};

/// Longer bodies are told by their length alone: an answer has a limit of its own.
const SHOWN: usize = 64 << 10;
/// What one write of WASI takes.
const WRITE: usize = 4096;

pub(crate) const ATTACKS: &[Attack] = &[Attack::new(
    "ask_http",
    "Sends a request as it stands, several one after the other, or several at once.",
    &[
        ("method?", "string"),
        ("scheme?", "string"),
        ("authority?", "string"),
        ("path?", "string"),
        ("headers?", "array"),
        ("body?", "string"),
        ("padding?", "integer"),
        ("abandon?", "boolean"),
        ("times?", "integer"),
        ("silent?", "integer"),
        ("patience?", "integer"),
    ],
    ask_http,
)];

fn ask_http(arguments: &Value) -> Result<Answer, Error> {
    // In flight while the last one is sent.
    let mut held = Vec::new();
    for _ in 0..number(arguments, "silent") {
        match begin(arguments, "/silence") {
            Ok(future) => held.push(future),
            Err(refused) => return report(&json!({ "refused": refused })),
        }
    }
    for _ in 1..number(arguments, "times") {
        if let Err(refused) = ask(arguments) {
            return report(&json!({ "refused": refused }));
        }
    }
    report(&ask(arguments).unwrap_or_else(|refused| json!({ "refused": refused })))
}

fn ask(arguments: &Value) -> Result<Value, String> {
    let path = arguments["path"].as_str().unwrap_or("/");
    let future = begin(arguments, path)?;
    future.subscribe().block();
    match future.get() {
        Some(Ok(Ok(response))) => Ok(read(response)),
        Some(Ok(Err(code))) => Err(words(code)),
        Some(Err(())) | None => Err("it is not there though it is ready".to_owned()),
    }
}

/// The host's words, where it has some.
fn words(code: ErrorCode) -> String {
    match code {
        ErrorCode::InternalError(Some(words)) => words,
        code => format!("{code:?}"),
    }
}

fn begin(arguments: &Value, path: &str) -> Result<FutureIncomingResponse, String> {
    let headers = Fields::new();
    for header in texts(arguments, "headers") {
        let (name, value) = header.split_once(':').unwrap_or((&header, ""));
        headers.append(name, value.trim_start_matches(' ').as_bytes()).map_err(|error| format!("header: {error:?}"))?;
    }
    let request = OutgoingRequest::new(headers);
    let method = match text(arguments, "method") {
        "" | "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        other => Method::Other(other.to_owned()),
    };
    let scheme = match text(arguments, "scheme") {
        "" | "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    };
    request.set_method(&method).map_err(|()| "method".to_owned())?;
    request.set_scheme(Some(&scheme)).map_err(|()| "scheme".to_owned())?;
    request.set_authority(arguments["authority"].as_str()).map_err(|()| "authority".to_owned())?;
    request.set_path_with_query(Some(path)).map_err(|()| "path".to_owned())?;
    let options = RequestOptions::new();
    if let Some(milliseconds) = arguments["patience"].as_u64() {
        let patience = Some(milliseconds.saturating_mul(1_000_000));
        options.set_connect_timeout(patience).map_err(|()| "patience".to_owned())?;
        options.set_first_byte_timeout(patience).map_err(|()| "patience".to_owned())?;
        options.set_between_bytes_timeout(patience).map_err(|()| "patience".to_owned())?;
    }
    let mut content = text(arguments, "body").as_bytes().to_vec();
    content.resize(content.len().max(length(arguments, "padding")), b'x');
    if content.is_empty() {
        return handle(request, Some(options)).map_err(words);
    }
    let body = request.body().map_err(|()| "body".to_owned())?;
    let future = handle(request, Some(options)).map_err(words)?;
    let written = write(&body, &content);
    if arguments["abandon"] == true {
        drop(body);
    } else if written.is_ok() {
        OutgoingBody::finish(body, None).map_err(words)?;
    }
    // The answer says why it could not be written.
    Ok(future)
}

fn write(body: &OutgoingBody, content: &[u8]) -> Result<(), StreamError> {
    let Ok(stream) = body.write() else { return Ok(()) };
    content.chunks(WRITE).try_for_each(|chunk| stream.blocking_write_and_flush(chunk))
}

fn read(response: IncomingResponse) -> Value {
    let status = response.status();
    let headers: Vec<String> = response
        .headers()
        .entries()
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
        .collect();
    let (mut content, mut broken) = (Vec::new(), None);
    if let Ok(body) = response.consume() {
        if let Ok(stream) = body.stream() {
            loop {
                match stream.blocking_read(SHOWN as u64) {
                    Ok(piece) => content.extend(piece),
                    Err(StreamError::Closed) => break,
                    Err(StreamError::LastOperationFailed(error)) => {
                        broken = Some(error.to_debug_string());
                        break;
                    }
                }
            }
        }
        drop(IncomingBody::finish(body));
    }
    let shown = if content.len() <= SHOWN { String::from_utf8_lossy(&content).into_owned() } else { String::new() };
    json!({ "status": status, "headers": headers, "bytes": content.len(), "body": shown, "broken": broken })
}
