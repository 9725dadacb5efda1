//! HTTP requests about what another host has.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use wharf_core::{
    Error, SessionId, TenantId,
    handle::Handle,
    service::{HomeHold, PassedClient},
};

use super::{
    Cell, Membership,
    routing::{Home, MayClaim, moving, unavailable, unreached},
};
use crate::{
    HttpDoor, Incarnation, PassedBody, SessionKey,
    passed::{PassedHead, PassedHome},
    peer::{self, PassedRequest},
    roster::{Known, Peer},
};

/// Where a request of a session is served.
pub enum RequestHome {
    /// On this host, for as long as this is held.
    Here(Box<dyn HomeHold>),
    /// On another one.
    Elsewhere(OtherHost),
}

/// Another host, and what is asked of it.
pub struct OtherHost {
    pub(super) shared: Arc<Membership>,
    pub(super) peer: Peer,
    pub(super) home: Option<PassedHome>,
}

impl Cell {
    /// Has this answer the requests that other hosts pass on; nobody does where it is none.
    pub fn answer_requests(&self, door: Option<Arc<dyn HttpDoor>>) {
        *self.shared.door.write() = door;
    }

    /// The other host that made a handle, where it lives as far as is known.
    ///
    /// # Errors
    /// `unavailable` where the host is not known, and the database does not answer.
    pub async fn maker_of(&self, handle: &Handle) -> Result<Option<OtherHost>, Error> {
        let Some(incarnation) = handle.incarnation().map(Incarnation::from) else { return Ok(None) };
        if incarnation == self.incarnation() {
            return Ok(None);
        }
        Ok(match self.shared.suspicion.find(incarnation).await.map_err(unavailable)? {
            Known::Alive(peer) => Some(OtherHost { shared: Arc::clone(&self.shared), peer, home: None }),
            Known::Dead(_) | Known::Unknown => None,
        })
    }

    /// The home of a session, which this host becomes where none is.
    ///
    /// # Errors
    /// As for a call.
    pub async fn home_of(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        keeps_files: bool,
    ) -> Result<RequestHome, Error> {
        let key = SessionKey { tenant: tenant.clone(), session: session.clone() };
        Ok(match self.shared.home_with_files(&key, keeps_files).await? {
            Home::Here(call) => RequestHome::Here(Box::new(call)),
            Home::At(peer, may_claim) => {
                let may_claim = may_claim == MayClaim::Yes;
                let SessionKey { tenant, session } = key;
                let home = Some(PassedHome { tenant, session, keeps_files, may_claim });
                RequestHome::Elsewhere(OtherHost { shared: Arc::clone(&self.shared), peer, home })
            }
        })
    }
}

impl OtherHost {
    /// Passes a request on, and hands its answer back as it comes.
    ///
    /// # Errors
    /// `gone` where that host has died, `unavailable` where it does not answer. A request is
    /// never sent twice.
    pub async fn pass(self, client: PassedClient, request: Request<Bytes>) -> Result<Response<PassedBody>, Error> {
        let Self { shared, peer, home } = self;
        let body = PassedHead::body(client, home.clone(), &request)?;
        let sender = shared.reach(&peer).await?;
        match peer::pass_request(sender, &peer, body).await {
            PassedRequest::Answered(response) => Ok(response.map(|body| body.map_err(Into::into).boxed_unsync())),
            PassedRequest::Refused(StatusCode::MISDIRECTED_REQUEST) => {
                if let Some(home) = &home {
                    shared.away.remove(&home.key());
                }
                Err(moving())
            }
            PassedRequest::Refused(_) => Err(unreached(&peer)),
            PassedRequest::Broken => Err(shared.without_answer(&peer, true).await),
        }
    }
}
