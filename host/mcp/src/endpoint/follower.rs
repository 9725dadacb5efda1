//! A client that reads one stream of a session, as server-sent events.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use wharf_core::Share;

use super::{
    answer::{EndpointResponse, HEARTBEAT, event, events},
    session::{OpenedStream, event_id},
};

/// How soon a client should come back, in milliseconds.
const RETRY: u32 = 1_000;

/// A stream of a session on its way to the client.
pub(super) struct SessionStreamFollower {
    pub(super) stream: OpenedStream,
    pub(super) heartbeat: Duration,
    /// Whether the client may be told first where to go on.
    pub(super) primes: bool,
    /// Ends what is followed only until the host stops.
    pub(super) until: Option<CancellationToken>,
    pub(super) _permit: Option<Share>,
}

impl SessionStreamFollower {
    pub(super) fn into_response(self) -> EndpointResponse {
        events(unfold(self, |mut follower| async move {
            let frame = follower.next().await?;
            Some((frame, follower))
        }))
    }

    async fn next(&mut self) -> Option<Bytes> {
        let OpenedStream { number, reader } = &mut self.stream;
        if std::mem::take(&mut self.primes) {
            let id = event_id(*number, reader.last());
            return Some(Bytes::from(format!("id: {id}\nretry: {RETRY}\ndata: \n\n")));
        }
        let stopped = async {
            match &self.until {
                Some(until) => until.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            read = timeout(self.heartbeat, reader.next()) => match read {
                Err(_) => Some(Bytes::from_static(HEARTBEAT)),
                Ok(message) => message.map(|message| event(Some(event_id(*number, message.number)), &message.json)),
            },
            () = stopped => None,
        }
    }
}
