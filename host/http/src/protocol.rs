//! What serves the Model Context Protocol. The server is given a [`ProtocolService`], makes a
//! [`ProtocolEndpoint`] of it for each client, and hands that the client's requests. Nothing
//! here knows a message.

use std::convert::Infallible;

use axum::{body::Bytes, http};
use futures_util::future::BoxFuture;
use http_body_util::combinators::UnsyncBoxBody;
pub use wharf_core::service::ProtocolClient;
use wharf_core::{ContextClaims, Error, RequestShare, trace::TraceParent};

use crate::failure::HttpFailure;

/// Serves the protocol to the clients of a server.
pub trait ProtocolService: Send + Sync + 'static {
    /// The endpoint of one client, so that nothing of one is ever looked up for another.
    fn endpoint(&self, client: ProtocolClient) -> Box<dyn ProtocolEndpoint>;
}

/// The protocol as one client has it.
pub trait ProtocolEndpoint: Send + Sync {
    /// Answers a request. The endpoint reads the message before it returns its future, since
    /// the calling thread is prepared for a long one. Dropping the future takes a request back
    /// that no session keeps.
    fn respond(&self, request: ProtocolRequest) -> ProtocolAnswer;

    /// Whether nothing is open that outlives a request.
    fn is_unused(&self) -> bool;
}

/// The answer to a request, or why the endpoint does not take it up.
pub type ProtocolAnswer = BoxFuture<'static, Result<http::Response<ProtocolBody>, HttpFailure>>;

/// What an endpoint answers with.
pub type ProtocolBody = UnsyncBoxBody<Bytes, Infallible>;

/// A whole request of a client that has shown its token.
pub struct ProtocolRequest {
    /// As it came; its extensions have the [`Requester`](wharf_core::audit::Requester), in an `Arc`.
    pub request: http::Request<Bytes>,
    /// On whose behalf its headers say that it is.
    pub claims: Result<ContextClaims, Error>,
    /// The trace that its headers say it belongs to.
    pub trace: Option<TraceParent>,
    /// The memory that it takes, given back once it is answered.
    pub memory: RequestShare,
    /// What of that the values of its body take, in bytes.
    pub estimate_bytes: u64,
}
