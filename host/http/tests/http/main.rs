//! What a client sees over HTTP, on real connections of the loopback.
#![cfg(unix)]

mod addresses;
mod client;
mod description;
mod doors;
mod events;
mod following;
mod many;
mod metrics;
mod shells;
mod strangers;
mod support;
mod terminals;
mod tokens;
