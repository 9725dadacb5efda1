//! Telling another host of changes.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use super::{Links, post};
use crate::{roster::Peer, wire::NOTICES};

/// Tells another host. Where it is not reached, its own count says that it missed something.
pub(crate) async fn tell(links: &Links, peer: &Peer, batch: Bytes, patience: Duration) {
    let telling = async {
        let mut sender = links.get(peer).await.ok()?;
        sender.send_request(post(peer, NOTICES, batch)?).await.ok()
    };
    if timeout(patience, telling).await.ok().flatten().is_none() {
        tracing::debug!(host = %peer.host, "a host was not told of changes");
    }
}
