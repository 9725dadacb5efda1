//! Sends HTTP requests of plugins, each on a connection of its own, so that none can hide
//! behind another. A redirect is an answer like any other: following it is another
//! request, which needs a grant of its own.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body::Body;
use hyper::{Request, Response, body::Incoming, client::conn::http1, header::CONTENT_LENGTH};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    time::{Instant, timeout_at},
};
use tokio_util::task::AbortOnDropHandle;
use wharf_core::{Code, Error, RequestLimits, TenantId, grant::GrantedRequest, origin::Scheme};

use crate::{
    answer::{AnswerBody, AnswerTerms},
    body::{BodyFailure, SentBody},
    connector::NameOverrides,
    head::{self, named},
    mask::SecretMask,
    meter::RequestMeter,
    permits::{InFlightPermit, InFlightRequests},
    stand_in::{ChosenStandIns, ServerStandIns},
    tls::TlsClient,
};

/// The smallest buffer into which hyper reads a head.
const LEAST_BUFFER_BYTES: u64 = 8 << 10;

/// The plugin's own timeouts; the limits shorten longer ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestTimeouts {
    /// For the connection.
    pub connect: Option<Duration>,
    /// For the head of the answer.
    pub first_byte: Option<Duration>,
    /// For the next bytes of the answer.
    pub between_bytes: Option<Duration>,
}

/// A granted request.
pub struct OutgoingRequest<B> {
    /// The proof of the grant, with method and address of the request.
    pub granted: GrantedRequest,
    /// Headers and body.
    pub request: Request<B>,
    /// Its place among the requests in flight.
    pub permit: InFlightPermit,
    /// The plugin's own timeouts.
    pub timeouts: RequestTimeouts,
    /// When the request ends in any case.
    pub until: Instant,
    /// Counts its bytes and learns its outcome.
    pub meter: Arc<dyn RequestMeter>,
}

impl<B> fmt::Debug for OutgoingRequest<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OutgoingRequest").field("permit", &self.permit).finish_non_exhaustive()
    }
}

/// Sends requests. Clones share one count.
#[derive(Clone)]
pub struct RequestClient {
    limits: Arc<RequestLimits>,
    in_flight: Arc<InFlightRequests>,
    names: Option<NameOverrides>,
    tls: Arc<TlsClient>,
    stand_ins: ChosenStandIns,
}

impl fmt::Debug for RequestClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RequestClient").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl RequestClient {
    /// A client within these limits.
    #[must_use]
    pub fn new(limits: RequestLimits) -> Self {
        Self {
            limits: Arc::new(limits),
            in_flight: Arc::default(),
            names: None,
            tls: Arc::default(),
            stand_ins: ChosenStandIns::default(),
        }
    }

    /// The same with names of its own, whose addresses are checked like any others.
    #[must_use]
    pub fn with_names(self, names: NameOverrides) -> Self {
        Self { names: Some(names), ..self }
    }

    /// The same with answers that stand in for those of servers.
    #[must_use]
    pub fn standing_in(self, stand_ins: Arc<dyn ServerStandIns>) -> Self {
        Self { stand_ins: ChosenStandIns::new(stand_ins), ..self }
    }

    /// The limits of the requests.
    #[must_use]
    pub fn limits(&self) -> &RequestLimits {
        &self.limits
    }

    /// A permit for one request of a tenant.
    ///
    /// # Errors
    /// `limit` where too many requests are in flight.
    pub fn permit(&self, tenant: &TenantId) -> Result<InFlightPermit, Error> {
        self.in_flight.take(tenant, &self.limits, self.names.as_ref())
    }

    /// Sends a request and returns once the head of its answer has come. Dropping the
    /// future ends the request.
    ///
    /// # Errors
    /// `denied` for an address without a grant and for a header that the host fills;
    /// `limit` and `timeout`, naming the limit; `unavailable` where the server is not
    /// reached, cannot be trusted or answers no HTTP.
    pub async fn send<B>(&self, outgoing: OutgoingRequest<B>) -> Result<Response<AnswerBody>, Error>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        let meter = Arc::clone(&outgoing.meter);
        let mask = SecretMask::new(outgoing.granted.secrets());
        let sent = self.run(outgoing, mask.clone()).await;
        sent.map_err(|mut error| {
            // An error may quote what a server sent.
            error.message = String::from_utf8_lossy(&mask.whole(error.message.as_bytes())).into_owned();
            meter.failed(&error);
            error
        })
    }

    async fn run<B>(&self, outgoing: OutgoingRequest<B>, mask: SecretMask) -> Result<Response<AnswerBody>, Error>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        let OutgoingRequest { granted, mut request, permit, timeouts, until, meter } = outgoing;
        let limits = &*self.limits;
        let deadline = until.min(after(None, limits.total_milliseconds));
        head::to_server(&granted, &mut request, limits.head_bytes)?;
        let stand_in = self.stand_ins.connect(&granted.wanted().origin, &request)?;
        let broken = BodyFailure::default();
        let (parts, body) = request.into_parts();
        let announced = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let body = SentBody::new(body, announced, limits.sent_bytes, Arc::clone(&meter), Arc::clone(&broken))?;
        let request = Request::from_parts(parts, body);

        let connect_by = deadline.min(after(timeouts.connect, limits.connect_milliseconds));
        let server = &granted.wanted().server;
        let connecting = async {
            if let Some(stream) = stand_in {
                return Ok(ServerStream::StandIn(stream));
            }
            let stream = permit.connector.connect(server, connect_by, |address| granted.address(address)).await?;
            match granted.wanted().origin.scheme {
                Scheme::Https => {
                    Ok::<_, Error>(ServerStream::Encrypted(Box::new(self.tls.connect(server, stream).await?)))
                }
                Scheme::Http => Ok(ServerStream::Plain(stream)),
            }
        };
        let stream = timeout_at(connect_by, connecting).await.map_err(|_| {
            late(&format!("{} was not connected to in time", server.authority), "connect_milliseconds")
        })??;

        let (response, connection) = match stream {
            ServerStream::Encrypted(stream) => self.exchange(*stream, request, &timeouts, deadline, &broken).await?,
            ServerStream::StandIn(stream) => self.exchange(stream, request, &timeouts, deadline, &broken).await?,
            ServerStream::Plain(stream) => self.exchange(stream, request, &timeouts, deadline, &broken).await?,
        };
        meter.answered(response.status().as_u16());
        head::from_server(&granted, &response, limits.head_bytes)?;
        let pause = shortest(timeouts.between_bytes, limits.between_bytes_milliseconds);
        let answer_bytes = limits.answer_bytes;
        let held = Some((permit, connection));
        let terms = AnswerTerms { answer_bytes, pause, deadline, mask, meter, broken, held };
        let (mut parts, incoming) = response.into_parts();
        terms.mask.headers(&mut parts.headers);
        // The reason phrase of the status is text of the server, which may hold a secret.
        parts.extensions.clear();
        Ok(Response::from_parts(parts, AnswerBody::new(incoming, terms)))
    }

    async fn exchange<B>(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        request: Request<SentBody<B>>,
        timeouts: &RequestTimeouts,
        deadline: Instant,
        broken: &BodyFailure,
    ) -> Result<(Response<Incoming>, AbortOnDropHandle<()>), Error>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        let head_bytes = self.limits.head_bytes;
        let failed = |error: hyper::Error| {
            if let Some(error) = broken.get() {
                return error.clone();
            }
            if error.is_parse_too_large() {
                return head::too_large_a_head(head_bytes);
            }
            Error::retryable(Code::Unavailable, format!("the server did not answer as HTTP does: {error}"))
        };
        let buffer = usize::try_from(head_bytes.max(LEAST_BUFFER_BYTES)).unwrap_or(usize::MAX);
        let client = http1::Builder::new().max_buf_size(buffer).clone();
        let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await.map_err(failed)?;
        let connection = AbortOnDropHandle::new(tokio::spawn(async move {
            // The caller that waits for the answer gets its errors.
            let _ = connection.await;
        }));
        let first_byte_by = deadline.min(after(timeouts.first_byte, self.limits.first_byte_milliseconds));
        let response = timeout_at(first_byte_by, sender.send_request(request)).await;
        let response = response.map_err(|_| late("the server did not answer in time", "first_byte_milliseconds"))?;
        Ok((response.map_err(failed)?, connection))
    }
}

enum ServerStream {
    StandIn(DuplexStream),
    Plain(tokio::net::TcpStream),
    Encrypted(Box<tokio_rustls::client::TlsStream<tokio::net::TcpStream>>),
}

fn late(what: &str, limit: &str) -> Error {
    Error::retryable(Code::Timeout, format!("{what} ({}, or what is left of the call)", named(limit)))
}

fn shortest(timeout: Option<Duration>, limit_milliseconds: u64) -> Duration {
    let limit = Duration::from_millis(limit_milliseconds);
    timeout.map_or(limit, |timeout| timeout.min(limit))
}

fn after(timeout: Option<Duration>, limit_milliseconds: u64) -> Instant {
    Instant::now() + shortest(timeout, limit_milliseconds)
}
