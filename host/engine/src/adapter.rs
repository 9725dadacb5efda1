//! One thin adapter for each WIT interface: checks the grant, asks the room, converts.
//! What calls it has counted it (see `watch`).

pub(crate) mod caller;
pub(crate) mod clocks;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod http;
pub(crate) mod log;
pub(crate) mod process;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod terminal;
pub(crate) mod webview;
pub(crate) mod workspace;

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use wasmtime::component::{HasSelf, Linker};
use wharf_core::{Code, Error, text};

use crate::{bindings::wharf::plugin as wit, failure::Failure, guest::Guest, watch};

/// Longest message of an error that crosses the wall.
pub(crate) const MAX_MESSAGE_BYTES: usize = 4 << 10;

impl From<Error> for wit::types::Error {
    fn from(error: Error) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            message: text::cut(&error.message, MAX_MESSAGE_BYTES).to_owned(),
            retryable: error.retryable,
        }
    }
}

/// A time as the contract writes it: RFC 3339 in UTC.
fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The JSON text of what a room says of itself.
fn json_text(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::new(Code::Internal, error.to_string()))
}

/// Links everything that any plugin may import; what a plugin is not granted
/// answers `denied` when it is used.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    clocks::link(linker)?;
    files::link(linker)?;
    http::link(linker)?;
    watch::watched(linker, Guest::view, link_own)
}

/// Links the interfaces of the contract.
fn link_own(linker: &mut watch::component::Linker<Guest>) -> wasmtime::Result<()> {
    wit::caller::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::log::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::settings::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::types::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::state::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::events::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::process::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::terminal::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::webview::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    wit::workspace::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    Ok(())
}

impl watch::Refusal for wit::types::Error {
    fn code(&self) -> Code {
        // The host wrote the word; those that are unknown are a defect.
        Code::from_guest(&self.code)
    }
}

impl wit::types::Host for Guest {
    /// The one place where what a guest is told becomes its own error.
    fn convert_error(&mut self, failure: Failure) -> wasmtime::Result<wit::types::Error> {
        match failure {
            Failure::Refused(error) => Ok(error.into()),
            Failure::Trap(error) => Err(error),
        }
    }
}
