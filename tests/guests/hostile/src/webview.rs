//! Attacks through web pages: every function of the interface, with whatever
//! arguments a test thinks of.

use serde_json::{Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::types::Error;
use wharf_sdk::bindings::wharf::plugin::webview::{self, Dialog, Outcome, PageInfo, PageOptions, ScriptOptions};

use crate::attack::{Attack, error, found, number, text};

/// Longer results are told by their length alone: an answer has a limit of its own.
const SHOWN: usize = 64 << 10;

pub(crate) const ATTACKS: &[Attack] = &[Attack::new(
    "ask_page",
    "Calls one function with an id and arguments as they stand, once or several times.",
    &[
        ("function", "string"),
        ("id?", "string"),
        ("times?", "integer"),
        ("width?", "integer"),
        ("height?", "integer"),
        ("dialogs?", "string"),
        ("options?", "string"),
        ("script?", "string"),
        ("padding?", "integer"),
        ("world?", "string"),
        ("operation?", "string"),
        ("parameters?", "string"),
        ("milliseconds?", "integer"),
        ("patience?", "integer"),
        ("bytes?", "integer"),
        ("from?", "integer"),
        ("accept?", "boolean"),
        ("text?", "string"),
        ("log?", "string"),
        ("after?", "integer"),
        ("max?", "integer"),
    ],
    ask_page,
)];

fn small(arguments: &Value, name: &str) -> u32 {
    u32::try_from(number(arguments, name)).unwrap_or(u32::MAX)
}

fn optional(arguments: &Value, name: &str) -> Option<String> {
    arguments[name].as_str().map(str::to_owned)
}

fn ask_page(arguments: &Value) -> Result<Answer, Error> {
    for _ in 1..number(arguments, "times") {
        if let Err(error) = asked(arguments)? {
            return found(Err(error));
        }
    }
    found(asked(arguments)?)
}

fn asked(arguments: &Value) -> Result<Result<Value, Error>, Error> {
    let id = text(arguments, "id");
    let milliseconds = number(arguments, "milliseconds");
    Ok(match text(arguments, "function") {
        "status" => webview::status().map(Value::from),
        "open" => webview::open(&PageOptions {
            width: small(arguments, "width"),
            height: small(arguments, "height"),
            dialogs: text(arguments, "dialogs").to_owned(),
            options: optional(arguments, "options"),
        })
        .map(|info| shown(&info)),
        "list" => webview::list().map(|listed| listed.iter().map(shown).collect()),
        "get" => webview::get(id).map(|info| shown(&info)),
        "close" => webview::close(id).map(|()| Value::Null),
        "execute" => execute(arguments).map(Value::from),
        "perform" => perform(arguments).map(Value::from),
        // The whole way in one call.
        "run" => execute(arguments).and_then(|request| waited(&request, arguments)),
        "carry-out" => perform(arguments).and_then(|request| waited(&request, arguments)),
        "poll" => webview::poll(id).map(|outcome| told(&outcome)),
        "wait" => webview::wait(id, milliseconds).map(|outcome| told(&outcome)),
        "acknowledge" => webview::acknowledge(id).map(|()| Value::Null),
        "cancel" => webview::cancel(id).map(|()| Value::Null),
        "read-result" => webview::read_result(id, number(arguments, "from"), small(arguments, "bytes")).map(|piece| {
            json!({ "start": piece.start, "next": piece.next, "of": piece.bytes, "data": cut(&piece.data),
                    "bytes": piece.data.len() })
        }),
        "answer-dialog" => {
            let accept = arguments["accept"].as_bool().unwrap_or_default();
            webview::answer_dialog(id, accept, optional(arguments, "text").as_deref()).map(|()| Value::Null)
        }
        "entries" => {
            let page =
                webview::entries(id, text(arguments, "log"), number(arguments, "after"), small(arguments, "max"));
            page.map(|page| {
                let entries: Value = serde_json::from_str(&page.entries).unwrap_or_default();
                json!({ "entries": entries, "next": page.next, "lost": page.lost })
            })
        }
        other => return Err(error("invalid", other)),
    })
}

fn execute(arguments: &Value) -> Result<String, Error> {
    let padding = usize::try_from(number(arguments, "padding")).unwrap_or_default();
    let script = text(arguments, "script").to_owned() + &" ".repeat(padding);
    let options = ScriptOptions {
        world: text(arguments, "world").to_owned(),
        milliseconds: number(arguments, "milliseconds"),
        max_bytes: small(arguments, "bytes"),
        options: optional(arguments, "options"),
    };
    webview::execute_script(text(arguments, "id"), &script, &options)
}

fn perform(arguments: &Value) -> Result<String, Error> {
    let padding = usize::try_from(number(arguments, "padding")).unwrap_or_default();
    let parameters = text(arguments, "parameters").to_owned() + &" ".repeat(padding);
    let (id, operation) = (text(arguments, "id"), text(arguments, "operation"));
    webview::perform(id, operation, &parameters, number(arguments, "milliseconds"))
}

fn waited(request: &str, arguments: &Value) -> Result<Value, Error> {
    let patience = arguments["patience"].as_u64().unwrap_or(20_000);
    let mut outcome = told(&webview::wait(request, patience)?);
    outcome["request"] = request.into();
    Ok(outcome)
}

fn cut(data: &[u8]) -> Option<String> {
    (data.len() <= SHOWN).then(|| String::from_utf8_lossy(data).into_owned())
}

fn asks(dialog: &Dialog) -> Value {
    json!({ "kind": dialog.kind, "message": dialog.message, "default": dialog.default_text })
}

fn told(outcome: &Outcome) -> Value {
    json!({
        "state": outcome.state, "elapsed": outcome.elapsed_milliseconds, "kind": outcome.kind,
        "message": outcome.message, "type": outcome.mime_type, "data": cut(&outcome.data),
        "begins": outcome.data.iter().take(4).collect::<Vec<_>>(), "sent": outcome.data.len(),
        "bytes": outcome.bytes, "truncated": outcome.truncated, "dialog": outcome.dialog.as_ref().map(asks),
        "advice": outcome.advice, "meta": outcome.meta,
    })
}

fn shown(info: &PageInfo) -> Value {
    json!({
        "id": info.id, "status": info.status, "url": info.url, "title": info.title, "width": info.width,
        "height": info.height, "dialog": info.dialog.as_ref().map(asks), "pending": info.pending,
        "because": info.closed_because, "meta": info.meta,
    })
}
