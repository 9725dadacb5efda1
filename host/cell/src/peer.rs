//! Connections between hosts: HTTP/2, with a certificate on both sides.

mod call;
mod link;
mod look;
mod server;

pub(crate) use call::{PassedOn, PassedRequest, pass_on, pass_request};
pub(crate) use link::{Links, NotConnected, Sender};
pub(crate) use look::{Looked, look, look_closely, probe_by, tell};
pub(crate) use server::{Arrived, Arriving, PeerServer, Shown, listen};

use http::{HeaderMap, HeaderValue};

use crate::{Incarnation, wire};

/// The life that a message names.
fn incarnation_of(headers: &HeaderMap) -> Option<Incarnation> {
    let number = headers.get(wire::INCARNATION)?.to_str().ok()?;
    number.parse().ok().and_then(Incarnation::from_i64)
}

fn naming(incarnation: Incarnation) -> HeaderValue {
    HeaderValue::from(incarnation.number().get())
}
