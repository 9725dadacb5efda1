//! Front ends, whose tools all hosts list and whose calls go to the host that has them.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use wharf_core::{
    Code, Error, TenantId,
    handle::Handle,
    service::{
        ChangedFrontEnds, ConnectTerms, FrontEndPlace, FrontEndShelf, FrontEndsVersion, HomeAnswer, HomeRequest,
        RemoteHome, ShelvedFrontEnd,
    },
    text::with_causes,
};

use super::{Cell, Membership};
use crate::{
    Incarnation, StoreUnavailable,
    peer::{self, NotConnected, PassedOn},
    roster::{Known, Peer},
    suspicion::Verdict,
    wire::{CallHead, Directed},
};

#[async_trait]
impl FrontEndShelf for Cell {
    async fn connect(&self, front_end: &ShelvedFrontEnd, terms: ConnectTerms) -> Result<FrontEndPlace, Error> {
        let host = self.incarnation();
        if front_end.id.incarnation().map(Incarnation::from) != Some(host) {
            return Ok(FrontEndPlace::HostDead);
        }
        self.shared.front_ends.connect(front_end, terms, host).await.map_err(unavailable)
    }

    async fn disconnect(&self, ids: &[Handle]) -> Result<(), Error> {
        self.shared.front_ends.disconnect(ids, self.incarnation()).await.map_err(unavailable)
    }

    async fn changed(&self, known: &[(TenantId, FrontEndsVersion)]) -> Result<ChangedFrontEnds, Error> {
        self.shared.front_ends.changed(known).await.map_err(unavailable)
    }

    fn changes(&self) -> watch::Receiver<i64> {
        self.shared.connected.subscribe()
    }

    async fn host_of(&self, id: &Handle) -> Result<Arc<dyn RemoteHome>, Error> {
        let incarnation = id.incarnation().map(Incarnation::from).ok_or_else(gone)?;
        match self.shared.suspicion.find(incarnation).await.map_err(unavailable)? {
            Known::Alive(peer) => Ok(Arc::new(HostOf { shared: Arc::clone(&self.shared), peer })),
            Known::Dead(_) | Known::Unknown => Err(gone()),
        }
    }
}

/// The host that a front end is connected at.
struct HostOf {
    shared: Arc<Membership>,
    peer: Peer,
}

#[async_trait]
impl RemoteHome for HostOf {
    fn host(&self) -> &str {
        &self.peer.host
    }

    async fn ask(&self, request: HomeRequest) -> Result<HomeAnswer, Error> {
        self.shared.in_call_time(&request, self.pass(&request), || self.silent(true)).await
    }
}

impl HostOf {
    /// Passes a call on, once.
    async fn pass(&self, request: &HomeRequest) -> Result<HomeAnswer, Error> {
        let Self { shared, peer } = self;
        let body = CallHead::body(request, Directed::ToHost)?;
        let sender = match shared.links.get(peer).await {
            Ok(sender) => sender,
            Err(NotConnected::Refused | NotConnected::Broken(_)) => return Err(self.ended(false).await),
            Err(NotConnected::Unclear(why)) => {
                tracing::debug!(host = %peer.host, why, "another host of the cell is not reached");
                return Err(self.silent(false));
            }
        };
        let passed = peer::pass_on(sender, peer, body, &request.caller.events, shared.settings.message_bytes).await;
        match passed {
            PassedOn::Ended(outcome) => outcome,
            PassedOn::Broken => Err(self.ended(true).await),
            PassedOn::Misdirected(_) => Err(gone()),
        }
    }

    /// What a call ends with whose connection broke, or was refused.
    async fn ended(&self, was_sent: bool) -> Error {
        let own = self.shared.standing.incarnation();
        match self.shared.suspicion.of(&self.peer, own).await {
            Verdict::Dead => gone(),
            Verdict::NotDead => self.silent(was_sent),
        }
    }

    fn silent(&self, was_sent: bool) -> Error {
        let ran = if was_sent { "the call may have run" } else { "nothing has run: try again" };
        let host = self.host();
        let told = format!("the host {host}, where the front end of this tool is connected, does not answer; {ran}");
        Error::retryable(Code::Unavailable, told)
    }
}

fn gone() -> Error {
    Error::retryable(
        Code::Gone,
        "the host where the front end of this tool was connected has ended; the tool is there again once its front \
         end has connected to another host",
    )
}

fn unavailable(error: StoreUnavailable) -> Error {
    tracing::debug!(error = with_causes(&error), "the front ends of the cell cannot be read or changed");
    Error::retryable(
        Code::Unavailable,
        "the database of the cell does not answer, so that front ends cannot be connected or found; try again later",
    )
}
