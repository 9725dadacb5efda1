//! What other hosts have, where several hosts serve as one: a request about it is passed on whole,
//! and its answer comes back as it is sent.
//!
//! The other host is told which client a request is of, and never the token.

use std::sync::Arc;

use async_trait::async_trait;
use axum::{
    BoxError,
    body::{Body, Bytes},
    http::{Request, Response},
    response::IntoResponse,
};
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use wharf_core::{
    Error, SessionId, TenantId,
    handle::Handle,
    service::{HomeHold, PassedClient},
};

use crate::failure::HttpFailure;

/// Knows which host has what a request is about.
#[async_trait]
pub trait Elsewhere: Send + Sync + 'static {
    /// Requests that other hosts pass on enter here from now on.
    fn open(&self, passed: PassedRequests);

    /// They do no more.
    fn close(&self);

    /// The other host that made a handle, where it lives.
    ///
    /// # Errors
    /// `unavailable` where that cannot be found out now.
    async fn of_handle(&self, handle: &Handle) -> Result<Option<Box<dyn OtherHost>>, Error>;

    /// The other host that has a session of the protocol of 2025-11-25; nothing where it is here,
    /// as one is from now on whose host has ended.
    ///
    /// # Errors
    /// `unavailable` where that cannot be found out now.
    async fn of_protocol_session(&self, id: &Handle) -> Result<Option<Box<dyn OtherHost>>, Error>;

    /// The home of a session, which is claimed for this host where no host has it.
    ///
    /// # Errors
    /// `unavailable`, `gone`: as for a call.
    async fn of_session(&self, tenant: &TenantId, session: &SessionId, keeps_files: bool) -> Result<HttpHome, Error>;
}

/// Where a request of a session is served.
pub enum HttpHome {
    /// On this host, for as long as this is held.
    Here(Box<dyn HomeHold>),
    /// On another one.
    Elsewhere(Box<dyn OtherHost>),
}

/// Another host.
#[async_trait]
pub trait OtherHost: Send + Sync {
    /// Passes a request on, and hands its answer back as it comes.
    ///
    /// # Errors
    /// `gone` where that host has died, `unavailable` where it does not answer.
    async fn pass(
        self: Box<Self>,
        client: PassedClient,
        request: Request<Bytes>,
    ) -> Result<Response<PassedBody>, Error>;
}

/// The body of an answer that comes from another host, or goes to one.
pub type PassedBody = UnsyncBoxBody<Bytes, BoxError>;

/// Where requests enter that another host has passed on.
#[derive(Clone)]
pub struct PassedRequests(pub(crate) Arc<AnswerPassed>);

/// Answers a request of a client whose token the other host has checked.
pub(crate) type AnswerPassed = dyn Fn(PassedClient, Request<Bytes>) -> BoxFuture<'static, Response<Body>> + Send + Sync;

impl PassedRequests {
    /// Answers a request of a client whose token the other host has checked.
    pub async fn answer(&self, client: PassedClient, request: Request<Bytes>) -> Response<PassedBody> {
        unnamed((self.0)(client, request).await)
    }

    /// The answer that an error is.
    #[must_use]
    pub fn refuse(error: Error) -> Response<PassedBody> {
        unnamed(HttpFailure::from(error).into_response())
    }
}

fn unnamed(response: Response<Body>) -> Response<PassedBody> {
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}
