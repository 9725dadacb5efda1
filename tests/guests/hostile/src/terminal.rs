//! Attacks through terminals: every function of the interface, with whatever
//! arguments a test thinks of.

use serde_json::{Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::terminal::{self, Info, Input, Launch, Piece, Turn, TurnOptions};
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::{Attack, error, found, number, text, texts};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new(
        "start_terminal",
        "Starts a program, or the shell.",
        &[
            ("program?", "string"),
            ("arguments?", "array"),
            ("directory?", "string"),
            ("environment?", "object"),
            ("columns?", "integer"),
            ("rows?", "integer"),
            ("preset?", "string"),
            ("options?", "string"),
        ],
        start_terminal,
    ),
    Attack::new(
        "ask_terminal",
        "Calls one function with an id and arguments as they stand, once or several times.",
        &[
            ("function", "string"),
            ("id?", "string"),
            ("times?", "integer"),
            ("text?", "string"),
            ("submit?", "boolean"),
            ("keys?", "array"),
            ("preset?", "string"),
            ("prompts?", "array"),
            ("inactivity?", "integer"),
            ("limit?", "integer"),
            ("options?", "string"),
            ("turn?", "integer"),
            ("from?", "integer"),
            ("bytes?", "integer"),
            ("milliseconds?", "integer"),
            ("view?", "string"),
            ("lines?", "integer"),
            ("columns?", "integer"),
            ("rows?", "integer"),
        ],
        ask_terminal,
    ),
];

fn small<T: TryFrom<u64>>(arguments: &Value, name: &str, largest: T) -> T {
    T::try_from(number(arguments, name)).unwrap_or(largest)
}

fn optional(arguments: &Value, name: &str) -> Option<String> {
    arguments[name].as_str().map(str::to_owned)
}

fn start_terminal(arguments: &Value) -> Result<Answer, Error> {
    let environment = arguments["environment"].as_object().into_iter().flatten();
    let launch = Launch {
        directory: text(arguments, "directory").to_owned(),
        environment: environment
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect(),
        columns: small(arguments, "columns", u16::MAX),
        rows: small(arguments, "rows", u16::MAX),
        preset: optional(arguments, "preset"),
        options: optional(arguments, "options"),
    };
    let started = match arguments["program"].as_str() {
        Some(program) => terminal::start(program, &texts(arguments, "arguments"), &launch),
        None => terminal::start_shell(&launch),
    };
    found(started.map(|started| json!({ "terminal": shown(&started.terminal), "replaced": started.replaced })))
}

fn ask_terminal(arguments: &Value) -> Result<Answer, Error> {
    for _ in 1..number(arguments, "times") {
        if let Err(error) = asked(arguments)? {
            return found(Err(error));
        }
    }
    found(asked(arguments)?)
}

fn asked(arguments: &Value) -> Result<Result<Value, Error>, Error> {
    let id = text(arguments, "id");
    let (turn, from) = (number(arguments, "turn"), number(arguments, "from"));
    let (bytes, milliseconds) = (small(arguments, "bytes", u32::MAX), number(arguments, "milliseconds"));
    let (columns, rows) = (small(arguments, "columns", u16::MAX), small(arguments, "rows", u16::MAX));
    Ok(match text(arguments, "function") {
        "status" => terminal::status().map(Value::from),
        "list" => terminal::list().map(|listed| listed.iter().map(shown).collect()),
        "get" => terminal::get(id).map(|info| shown(&info)),
        "send" => terminal::send(id, &input(arguments), &options(arguments)).map(|turn| turned(&turn)),
        "follow" => terminal::follow(id, turn, from, bytes, milliseconds)
            .map(|followed| json!({ "piece": cut(&followed.piece), "turn": turned(&followed.turn) })),
        "send-and-cancel" => terminal::send(id, &input(arguments), &options(arguments))
            .and_then(|turn| terminal::cancel(id, turn.number))
            .map(|()| Value::Null),
        "cancel" => terminal::cancel(id, turn).map(|()| Value::Null),
        "press" => terminal::press(id, &texts(arguments, "keys")).map(|()| Value::Null),
        "screen" => terminal::screen(id, small(arguments, "lines", u32::MAX)).map(|view| {
            json!({
                "columns": view.columns, "rows": view.rows, "lines": view.lines, "history": view.history,
                "cursor": [view.cursor_column, view.cursor_row], "visible": view.cursor_visible,
                "alternate": view.alternate,
            })
        }),
        "read" => terminal::read(id, text(arguments, "view"), from, bytes, milliseconds).map(|piece| cut(&piece)),
        "resize" => terminal::resize(id, columns, rows).map(|()| Value::Null),
        "close" => terminal::close(id, milliseconds).map(|info| shown(&info)),
        other => return Err(error("invalid", other)),
    })
}

fn input(arguments: &Value) -> Input {
    Input {
        text: text(arguments, "text").to_owned(),
        submit: arguments["submit"].as_bool().unwrap_or_default(),
        keys: texts(arguments, "keys"),
    }
}

fn options(arguments: &Value) -> TurnOptions {
    TurnOptions {
        preset: optional(arguments, "preset"),
        prompts: texts(arguments, "prompts"),
        inactivity_milliseconds: arguments["inactivity"].as_u64(),
        time_limit_milliseconds: arguments["limit"].as_u64(),
        options: optional(arguments, "options"),
    }
}

/// Long pieces by their length alone: an answer has a limit of its own.
fn cut(piece: &Piece) -> Value {
    let data = (piece.data.len() <= 64 << 10).then(|| String::from_utf8_lossy(&piece.data).into_owned());
    json!({
        "start": piece.start, "next": piece.next, "evicted": piece.evicted_before, "end": piece.end,
        "data": data, "bytes": piece.data.len(),
    })
}

fn turned(turn: &Turn) -> Value {
    let complete = turn.complete.as_ref().map(|complete| {
        json!({
            "layer": complete.layer, "reason": complete.reason, "confidence": complete.confidence,
            "code": complete.exit_code, "idle": complete.idle_milliseconds, "elapsed": complete.elapsed_milliseconds,
        })
    });
    json!({
        "number": turn.number, "start": turn.start, "end": turn.end, "complete": complete, "cancelled": turn.cancelled,
    })
}

fn shown(info: &Info) -> Value {
    let outcome = info.outcome.as_ref().map(|outcome| {
        json!({ "kind": outcome.kind, "code": outcome.code, "signal": outcome.signal, "reason": outcome.reason })
    });
    json!({
        "id": info.id, "command": info.command, "profile": info.profile, "preset": info.preset,
        "status": info.status, "pid": info.pid, "columns": info.columns, "rows": info.rows, "outcome": outcome,
        "restarts": info.restarts, "because": info.restarted_because, "turn": info.turn.as_ref().map(turned),
        "text": info.text.bytes, "text_evicted": info.text.evicted_before, "raw": info.raw.bytes,
        "raw_evicted": info.raw.evicted_before, "alternate": info.alternate_screen, "recording": info.recording,
        "stream": info.stream, "meta": info.meta,
    })
}
