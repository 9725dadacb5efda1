//! Puts the HTTP server and the cell together, for requests about what another host has. Neither
//! crate knows the other.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use wharf_cell::{Cell, HttpDoor, PassedBody, RequestHome};
use wharf_core::{Error, SessionId, TenantId, handle::Handle, service::PassedClient};
use wharf_http::{Elsewhere, HttpHome, OtherHost, PassedRequests};

/// What the hosts of a cluster have, for the HTTP server of one.
pub(crate) struct ClusterElsewhere(pub(crate) Cell);

#[async_trait]
impl Elsewhere for ClusterElsewhere {
    fn open(&self, passed: PassedRequests) {
        self.0.answer_requests(Some(Arc::new(Door(passed))));
    }

    fn close(&self) {
        self.0.answer_requests(None);
    }

    async fn of_handle(&self, handle: &Handle) -> Result<Option<Box<dyn OtherHost>>, Error> {
        let maker = self.0.maker_of(handle).await?;
        Ok(maker.map(|other| Box::new(Other(other)) as Box<dyn OtherHost>))
    }

    async fn of_protocol_session(&self, id: &Handle) -> Result<Option<Box<dyn OtherHost>>, Error> {
        let other = self.0.host_of_session(id).await?;
        Ok(other.map(|other| Box::new(Other(other)) as Box<dyn OtherHost>))
    }

    async fn of_session(&self, tenant: &TenantId, session: &SessionId, keeps_files: bool) -> Result<HttpHome, Error> {
        Ok(match self.0.home_of(tenant, session, keeps_files).await? {
            RequestHome::Here(hold) => HttpHome::Here(hold),
            RequestHome::Elsewhere(other) => HttpHome::Elsewhere(Box::new(Other(other))),
        })
    }
}

struct Other(wharf_cell::OtherHost);

#[async_trait]
impl OtherHost for Other {
    async fn pass(
        self: Box<Self>,
        client: PassedClient,
        request: Request<Bytes>,
    ) -> Result<Response<PassedBody>, Error> {
        self.0.pass(client, request).await
    }
}

struct Door(PassedRequests);

#[async_trait]
impl HttpDoor for Door {
    async fn answer(&self, client: PassedClient, request: Request<Bytes>) -> Response<PassedBody> {
        self.0.answer(client, request).await
    }

    fn refuse(&self, error: Error) -> Response<PassedBody> {
        PassedRequests::refuse(error)
    }
}
