//! Connections between hosts: HTTP/2, with a certificate on both sides.

mod call;
mod consider;
mod link;
mod look;
mod sender;
mod server;
mod tell;

pub(crate) use call::{PassedOn, PassedRequest, pass_on, pass_request};
pub(crate) use consider::consider;
pub(crate) use link::{Links, NotConnected};
pub(crate) use look::{Looked, look, look_closely, probe_by};
#[cfg(test)]
pub(crate) use sender::NoAnswer;
pub(crate) use sender::Sender;
pub(crate) use server::{Arrived, Arriving, PeerServer, Shown, listen};
pub(crate) use tell::tell;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body_util::Full;

use crate::{Incarnation, PeerAddress, roster::Peer, wire};

/// The life that a message names.
fn incarnation_of(headers: &HeaderMap) -> Option<Incarnation> {
    let number = headers.get(wire::INCARNATION)?.to_str().ok()?;
    number.parse().ok().and_then(Incarnation::from_i64)
}

fn naming(incarnation: Incarnation) -> HeaderValue {
    HeaderValue::from(incarnation.number().get())
}

fn uri(address: &PeerAddress, path: &str) -> String {
    format!("https://{address}{path}")
}

/// A request that is meant for this life of a host; nothing where it has no form.
fn post(peer: &Peer, path: &str, body: Bytes) -> Option<Request<Full<Bytes>>> {
    let request = Request::builder().method(Method::POST).uri(uri(&peer.address, path));
    request.header(wire::INCARNATION, naming(peer.incarnation)).body(Full::from(body)).ok()
}
