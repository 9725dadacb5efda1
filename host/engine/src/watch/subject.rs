//! The subject of a host call, in one name: never its data.
//!
//! The audit hears no subject of a function that the table below does not name: a new one
//! leaks nothing until somebody has decided about it.

use std::any::Any;

use wasmtime::component::{Resource, ResourceTable};
use wharf_core::{Origin, audit::shown};

use super::{crossing::Crossing, weight::Weight};
use crate::bucket::{Bucket, CompareAndSwap, KeyValueBucket};

/// Longest parameters of an operation that are looked into for an address.
const MAX_PARAMETERS_BYTES: usize = 64 << 10;

/// What `navigate` takes.
#[derive(serde::Deserialize)]
struct Navigate {
    url: String,
}

/// The parameters of a host call.
pub(crate) trait Parameters: Weight + Crossing {
    /// The parameter at this place.
    fn at(&self, index: usize) -> Option<&dyn Any>;
}

macro_rules! parameters {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Weight + Crossing + 'static),*> Parameters for ($($name,)*) {
            fn at(&self, index: usize) -> Option<&dyn Any> {
                match index {
                    $($index => Some(&self.$index),)*
                    _ => None,
                }
            }
        }
    };
}

super::tuples::for_tuples!(parameters);

/// The subject of a call, where it has one that is no data.
pub(super) fn of(table: &ResourceTable, function: &str, parameters: &impl Parameters) -> Option<Box<str>> {
    let text = |index| parameters.at(index)?.downcast_ref::<String>().map(String::as_str);
    match function {
        // The text of a command may hold a secret.
        "process.spawn-shell" | "terminal.start-shell" => Some("shell".into()),
        "state.bucket.open" => Some(shown(&format!("{}/{}", text(0)?, text(1)?))),
        "webview.perform" => operation(text(1)?, text(2)?),
        // A program, the id of a process, a terminal, a page, a request or a
        // stream, the level of a message, or the name of a bucket or a setting.
        "process.spawn"
        | "process.poll"
        | "process.wait"
        | "process.read"
        | "process.head"
        | "process.tail"
        | "process.write"
        | "process.close-input"
        | "process.signal"
        | "process.stop"
        | "terminal.start"
        | "terminal.get"
        | "terminal.send"
        | "terminal.follow"
        | "terminal.cancel"
        | "terminal.press"
        | "terminal.screen"
        | "terminal.read"
        | "terminal.resize"
        | "terminal.close"
        | "webview.get"
        | "webview.close"
        | "webview.execute-script"
        | "webview.poll"
        | "webview.wait"
        | "webview.acknowledge"
        | "webview.cancel"
        | "webview.read-result"
        | "webview.answer-dialog"
        | "webview.entries"
        | "events.message"
        | "events.status"
        | "events.say"
        | "events.advance"
        | "events.complete"
        | "events.changed"
        | "events.updated"
        | "log.write"
        | "state.keyvalue.open"
        | "settings.config.get" => text(0).map(shown),
        _ => bucket(table, parameters),
    }
}

/// The bucket that a call on a handle is about.
fn bucket(table: &ResourceTable, parameters: &impl Parameters) -> Option<Box<str>> {
    let handle = parameters.at(0)?;
    let bucket = if let Some(handle) = handle.downcast_ref::<Resource<Bucket>>() {
        table.get(handle).ok()?
    } else if let Some(handle) = handle.downcast_ref::<Resource<KeyValueBucket>>() {
        &table.get(handle).ok()?.bucket
    } else {
        &table.get(handle.downcast_ref::<Resource<CompareAndSwap>>()?).ok()?.bucket
    };
    let scope = &bucket.scope;
    Some(shown(&format!("{}/{}", scope.kind.as_str(), scope.bucket)))
}

/// An operation of a page, and the origin that it leads to.
fn operation(operation: &str, parameters: &str) -> Option<Box<str>> {
    if operation == "navigate"
        && parameters.len() <= MAX_PARAMETERS_BYTES
        && let Ok(Navigate { url }) = serde_json::from_str(parameters)
        && let Some(origin) = Origin::of_text(&url)
    {
        // A path or a query may hold a secret.
        return Some(shown(&format!("navigate {origin}")));
    }
    Some(shown(operation))
}
