//! Asking another host whether it could use another configuration, or serve another plugin.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, Limited};
use tokio::time::timeout;

use super::{Links, post};
use crate::{Opinion, roster::Peer, wire::Considered};

/// Bytes of an answer.
const LARGEST: usize = 64 << 10;

/// What a host says of what it is asked about at `path`; nothing where it is not reached.
pub(crate) async fn consider(
    links: &Links,
    peer: &Peer,
    path: &'static str,
    about: Bytes,
    patience: Duration,
) -> Option<Opinion> {
    let asking = async {
        let mut sender = links.get(peer).await.ok()?;
        let response = sender.send_request(post(peer, path, about)?).await.ok()?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Some(Opinion::Unasked),
            _ => return None,
        }
        let body = Limited::new(response.into_body(), LARGEST).collect().await.ok()?.to_bytes();
        let Considered { refused } = serde_json::from_slice(&body).ok()?;
        Some(refused.map_or(Opinion::Usable, Opinion::Refused))
    };
    timeout(patience, asking).await.ok().flatten()
}
