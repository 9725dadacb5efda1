//! The protocol over HTTP, in both of its eras: the two crates that serve it, wired.
#![cfg(unix)]

mod calls;
#[path = "../../../http/tests/http/client.rs"]
mod client;
mod clients;
mod eras;
#[path = "../../../mcp/tests/protocol/named_tools.rs"]
mod named_tools;
mod protocol;
mod sessions;
#[path = "../../../http/tests/http/shells.rs"]
mod shells;
mod support;
mod tools;
