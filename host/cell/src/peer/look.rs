//! A look at another host: does the life that is meant still listen there?

use std::time::Duration;

use http::{Method, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use tokio::time::timeout;

use super::{Links, NotConnected, incarnation_of, link::Sender, naming};
use crate::{
    PeerAddress,
    roster::Peer,
    wire::{ALIVE, INCARNATION, PROBE, ProbeRequest, Sight},
};

/// Bytes of what a look brings back.
const LARGEST: usize = 4 << 10;

/// Looks at a host over a connection of its own, so that a broken one tells nothing.
pub(crate) async fn look(links: &Links, peer: &Peer, patience: Duration) -> Sight {
    let sender = match links.connect(peer).await {
        Ok(sender) => sender,
        Err(NotConnected::Refused) => return Sight::Ended,
        Err(NotConnected::Unclear(_)) => return Sight::Unclear,
    };
    timeout(patience, ask(sender, peer)).await.unwrap_or(Sight::Unclear)
}

async fn ask(mut sender: Sender, peer: &Peer) -> Sight {
    let request = Request::builder().method(Method::GET).uri(uri(&peer.address, ALIVE)).body(Full::default());
    let Ok(request) = request else { return Sight::Unclear };
    let Ok(response) = sender.send_request(request).await else { return Sight::Unclear };
    match incarnation_of(response.headers()) {
        Some(found) if found == peer.incarnation => Sight::Alive,
        // Who listens there now has the address, and proves by its certificate that it is of the cell.
        Some(_) => Sight::Ended,
        None => Sight::Unclear,
    }
}

/// Has another host look at a third one.
pub(crate) async fn probe_by(links: &Links, witness: &Peer, suspect: &Peer, patience: Duration) -> Sight {
    let asking = async {
        let mut sender = links.get(witness).await.ok()?;
        let probe = ProbeRequest { incarnation: suspect.incarnation };
        let request = Request::builder()
            .method(Method::POST)
            .uri(uri(&witness.address, PROBE))
            .header(INCARNATION, naming(witness.incarnation))
            .body(Full::from(serde_json::to_vec(&probe).ok()?))
            .ok()?;
        let response = sender.send_request(request).await.ok()?;
        let body = Limited::new(response.into_body(), LARGEST).collect().await.ok()?.to_bytes();
        serde_json::from_slice(&body).ok()
    };
    timeout(patience, asking).await.ok().flatten().unwrap_or(Sight::Unclear)
}

pub(super) fn uri(address: &PeerAddress, path: &str) -> String {
    format!("https://{address}{path}")
}
