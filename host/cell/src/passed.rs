//! HTTP requests that one host passes on to another one, whole.

use std::{convert::Infallible, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use serde::{Deserialize, Serialize};
use wharf_core::{Error, TenantId, audit::Requester, service::PassedClient};

use crate::{SessionKey, wire};

/// The body of an answer.
pub type PassedBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Answers requests that other hosts pass on.
#[async_trait]
pub trait HttpDoor: Send + Sync + 'static {
    /// Answers one.
    async fn answer(&self, client: PassedClient, request: Request<Bytes>) -> Response<PassedBody>;

    /// Refuses one.
    fn refuse(&self, error: Error) -> Response<PassedBody>;
}

/// What is said of a request beside its body.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PassedHead {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    pub(crate) client: PassedClient,
    /// Who sent it: what its extensions have. Hosts of an earlier version say nothing.
    #[serde(default)]
    requester: Option<Arc<Requester>>,
    /// The session whose home is to answer; nothing where a handle names what it is about.
    pub(crate) home: Option<PassedHome>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PassedHome {
    pub(crate) tenant: TenantId,
    pub(crate) session: wharf_core::SessionId,
    pub(crate) keeps_files: bool,
    pub(crate) may_claim: bool,
}

impl PassedHome {
    pub(crate) fn key(&self) -> SessionKey {
        SessionKey { tenant: self.tenant.clone(), session: self.session.clone() }
    }
}

/// What belongs to the connection that a message came over, and to no other one, and what names
/// the client's secret.
const OF_CONNECTION: [HeaderName; 6] = [
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::AUTHORIZATION,
];

impl PassedHead {
    /// The body of the request to the other host.
    pub(crate) fn body(
        client: PassedClient,
        home: Option<PassedHome>,
        request: &Request<Bytes>,
    ) -> Result<Bytes, Error> {
        let headers = request.headers().iter().filter(|(name, _)| !OF_CONNECTION.contains(name));
        let headers = headers.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
        let head = Self {
            method: request.method().to_string(),
            target,
            headers: headers.collect(),
            client,
            requester: request.extensions().get().cloned(),
            home,
        };
        let mut body = serde_json::to_vec(&head).map_err(|_| wire::malformed())?;
        body.push(b'\n');
        body.extend_from_slice(request.body());
        Ok(body.into())
    }

    /// Reads a request from another host.
    pub(crate) fn read(body: &Bytes) -> Option<(Self, Request<Bytes>)> {
        let end = body.iter().position(|byte| *byte == b'\n')?;
        let head: Self = serde_json::from_slice(&body[..end]).ok()?;
        let mut request = Request::new(body.slice(end + 1..));
        *request.method_mut() = Method::from_bytes(head.method.as_bytes()).ok()?;
        *request.uri_mut() = head.target.parse().ok()?;
        for (name, value) in &head.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            request.headers_mut().append(name, HeaderValue::from_str(value).ok()?);
        }
        if let Some(requester) = &head.requester {
            request.extensions_mut().insert(Arc::clone(requester));
        }
        Some((head, request))
    }
}

/// Marks an answer of the door, to be told from one of the port itself.
pub(crate) const PASSED: HeaderName = HeaderName::from_static("wharf-passed");

/// An answer on its way to the other host.
pub(crate) fn marked<B>(mut response: Response<B>) -> Response<B> {
    OF_CONNECTION.iter().for_each(|name| _ = response.headers_mut().remove(name));
    response.headers_mut().insert(PASSED, HeaderValue::from_static("1"));
    response
}

/// The answer of the door, where this is one.
pub(crate) fn unmarked<B>(mut response: Response<B>) -> Result<Response<B>, StatusCode> {
    response.headers_mut().remove(wire::INCARNATION);
    match response.headers_mut().remove(PASSED) {
        Some(_) => Ok(response),
        None => Err(response.status()),
    }
}

/// A body that never fails, for answers that are made here.
pub(crate) fn infallible(never: Infallible) -> Box<dyn std::error::Error + Send + Sync> {
    match never {}
}
