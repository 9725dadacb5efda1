//! What belongs to the request that is being answered, on its way through the
//! protocol crate and back: the crate calls [`super::sessions`] in the task of
//! the request, and has no place for any of this.

use std::{cell::RefCell, sync::Arc};

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::{in_flight::InFlight, refusal::EndpointRefusal, session::Begun};

tokio::task_local! {
    static ASKED: Asked;
}

/// One request.
pub(super) struct Asked {
    /// Its place; none where it is no request that something answers.
    pub(super) in_flight: Option<Arc<InFlight>>,
    /// Where it begins a connection, which is a session or a subscription:
    /// fires when that is over.
    pub(super) begins: Option<CancellationToken>,
    /// Those of the session that it begins.
    pub(super) places: RefCell<Option<[OwnedSemaphorePermit; 2]>>,
    pub(super) reply: RefCell<Option<Reply>>,
}

/// What a session answers, in place of what the protocol crate would.
pub(super) enum Reply {
    Json(Bytes),
    Stream(Begun),
    Refused(EndpointRefusal),
}

impl Asked {
    /// Answers within this request, and returns what a session answered.
    pub(super) async fn scope<T>(self, answering: impl Future<Output = T>) -> (T, Option<Reply>) {
        ASKED
            .scope(self, async {
                let answered = answering.await;
                (answered, ASKED.with(|asked| asked.reply.take()))
            })
            .await
    }
}

pub(super) fn reply(reply: Reply) {
    // Outside of a request, nobody is there to be told.
    let _ = ASKED.try_with(|asked| asked.reply.replace(Some(reply)));
}

pub(super) fn in_flight() -> Option<Arc<InFlight>> {
    ASKED.try_with(|asked| asked.in_flight.clone()).ok().flatten()
}

/// What fires when the connection is over that the request begins.
pub(super) fn begins() -> Option<CancellationToken> {
    ASKED.try_with(|asked| asked.begins.clone()).ok().flatten()
}

/// The places of the session that the request begins.
pub(super) fn places() -> Option<[OwnedSemaphorePermit; 2]> {
    ASKED.try_with(|asked| asked.places.take()).ok().flatten()
}
