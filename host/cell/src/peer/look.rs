//! A look at another host: does the life that is meant still listen there?

use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method, Request, header::DATE};
use http_body_util::{BodyExt as _, Full, Limited};
use tokio::time::{Instant, sleep, timeout};
use wharf_core::{Digest, text::with_causes};

use super::{Links, NotConnected, Sender, incarnation_of, post, uri};
use crate::{
    roster::Peer,
    wire::{ALIVE, CONFIGURED, PROBE, ProbeRequest, Sight},
};

/// From one look to the next at a host that seems just to end.
const ENDING: Duration = Duration::from_millis(20);
/// Bytes of what a look brings back.
const LARGEST: usize = 4 << 10;

/// Looks at a host over a connection of its own, so that a broken one tells nothing.
pub(crate) async fn look(links: &Links, peer: &Peer, patience: Duration) -> Sight {
    look_closely(links, peer, patience).await.map_or(Sight::Unclear, |looked| looked.sight)
}

/// What a look found, where it can be told.
pub(crate) struct Looked {
    pub(crate) sight: Sight,
    /// How long the way there took, without the question and its answer.
    pub(crate) connecting: Duration,
    /// What the clock there says, in whole seconds.
    pub(crate) clock: Option<SystemTime>,
    /// The settings of all hosts that it has started with, where it said so.
    pub(crate) configured: Option<Digest>,
}

/// The same, with what else is found, or why nothing can be told.
pub(crate) async fn look_closely(links: &Links, peer: &Peer, patience: Duration) -> Result<Looked, String> {
    let began = Instant::now();
    let sender = loop {
        match links.connect(peer).await {
            Ok(sender) => break sender,
            Err(NotConnected::Refused) => {
                return Ok(Looked { sight: Sight::Ended, connecting: began.elapsed(), clock: None, configured: None });
            }
            // A process that ends takes connections for a moment yet: which of its sockets the system
            // closes first is not said.
            Err(NotConnected::Broken(_)) if began.elapsed() < patience => sleep(ENDING).await,
            Err(NotConnected::Broken(why) | NotConnected::Unclear(why)) => return Err(why),
        }
    };
    let connecting = began.elapsed();
    let asking = timeout(patience, ask(sender, peer)).await;
    let said = asking.map_err(|_| "it takes connections and does not answer".to_owned())??;
    let text = |name| said.get(name).and_then(|value| value.to_str().ok());
    let sight = match incarnation_of(&said) {
        Some(found) if found == peer.incarnation => Sight::Alive,
        // Who listens there now has the address, and proves by its certificate that it is of the cell.
        Some(_) => Sight::Ended,
        None => return Err("what answers there is no host of a cluster".to_owned()),
    };
    let clock = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
    let configured = text(CONFIGURED).and_then(|digest| digest.parse().ok());
    Ok(Looked { sight, connecting, clock, configured })
}

/// What the host that listens there says of itself.
async fn ask(mut sender: Sender, peer: &Peer) -> Result<HeaderMap, String> {
    let request = Request::builder().method(Method::GET).uri(uri(&peer.address, ALIVE)).body(Full::default());
    let request = request.map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(|error| with_causes(&error))?;
    Ok(response.into_parts().0.headers)
}

/// Has another host look at a third one.
pub(crate) async fn probe_by(links: &Links, witness: &Peer, suspect: &Peer, patience: Duration) -> Sight {
    let asking = async {
        let mut sender = links.get(witness).await.ok()?;
        let probe = ProbeRequest { incarnation: suspect.incarnation };
        let request = post(witness, PROBE, serde_json::to_vec(&probe).ok()?.into())?;
        let response = sender.send_request(request).await.ok()?;
        let body = Limited::new(response.into_body(), LARGEST).collect().await.ok()?.to_bytes();
        serde_json::from_slice(&body).ok()
    };
    timeout(patience, asking).await.ok().flatten().unwrap_or(Sight::Unclear)
}
