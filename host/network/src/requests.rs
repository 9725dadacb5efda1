//! HTTP requests of plugins, each on a connection of its own, so that none can hide
//! behind another. Redirects are answers like any other: to follow one is another
//! request, which is granted or not.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body::Body;
use hyper::{Request, Response, body::Incoming, client::conn::http1, header::CONTENT_LENGTH};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, timeout_at},
};
use tokio_util::task::AbortOnDropHandle;
use wharf_core::{Code, Error, RequestLimits, TenantId, grant::GrantedRequest, origin::Scheme};

use crate::{
    answer::{AnswerBody, Terms},
    body::{Broken, SentBody},
    head::{self, named},
    mask::Mask,
    places::{Place, Places},
    reach::Names,
    tls::Tls,
};

/// The least that hyper reads a head into.
const LEAST_BUFFER_BYTES: u64 = 8 << 10;

/// Hears how much a request moves, and may end it.
pub trait Meter: Send + Sync + 'static {
    /// So many bytes of the body go to the server.
    ///
    /// # Errors
    /// Ends the request with this.
    fn sent(&self, bytes: u64) -> Result<(), Error>;

    /// So many bytes of the answer's body have come.
    ///
    /// # Errors
    /// Ends the request with this.
    fn received(&self, bytes: u64) -> Result<(), Error>;

    /// The head of the answer is there.
    fn answered(&self, status: u16);

    /// All of the answer is there.
    fn finished(&self);

    /// The request has failed so.
    fn failed(&self, error: &Error);
}

/// How long the plugin itself wants to wait; never longer than the limits say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Patience {
    /// For the connection.
    pub connect: Option<Duration>,
    /// For the head of the answer.
    pub first_byte: Option<Duration>,
    /// For the next bytes of the answer.
    pub between_bytes: Option<Duration>,
}

/// A request that was granted.
pub struct OutgoingRequest<B> {
    /// The proof.
    pub granted: GrantedRequest,
    /// Headers and body. Where it goes and with which method was read for the proof.
    pub request: Request<B>,
    /// Its place among all.
    pub place: Place,
    /// How long the plugin wants to wait.
    pub patience: Patience,
    /// When it is over, whatever the limits say.
    pub until: Instant,
    /// Who hears of it.
    pub meter: Arc<dyn Meter>,
}

impl<B> fmt::Debug for OutgoingRequest<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OutgoingRequest").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Sends requests. Clones count together.
#[derive(Clone)]
pub struct Requests {
    limits: Arc<RequestLimits>,
    places: Arc<Places>,
    names: Option<Names>,
    tls: Arc<Tls>,
}

impl fmt::Debug for Requests {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Requests").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Requests {
    /// Sends as many as these limits allow.
    #[must_use]
    pub fn new(limits: RequestLimits) -> Self {
        Self { limits: Arc::new(limits), places: Arc::default(), names: None, tls: Arc::default() }
    }

    /// The same, with names of its own; what they lead to is checked all the same.
    #[must_use]
    pub fn with_names(self, names: Names) -> Self {
        Self { names: Some(names), ..self }
    }

    /// What they may use up.
    #[must_use]
    pub fn limits(&self) -> &RequestLimits {
        &self.limits
    }

    /// A place for one request of a tenant.
    ///
    /// # Errors
    /// `limit` where all are taken.
    pub fn place(&self, tenant: &TenantId) -> Result<Place, Error> {
        self.places.take(tenant, &self.limits, self.names.as_ref())
    }

    /// Sends a request and returns once the head of its answer is there. Dropping the
    /// future ends the request.
    ///
    /// # Errors
    /// `denied` for an address that is not granted and a header that is the host's;
    /// `limit` and `timeout`, naming the limit; `unavailable` where the server is not
    /// reached, cannot be trusted or answers no HTTP.
    pub async fn send<B>(&self, outgoing: OutgoingRequest<B>) -> Result<Response<AnswerBody>, Error>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        let meter = Arc::clone(&outgoing.meter);
        let mask = Mask::new(outgoing.granted.secrets());
        let sent = self.run(outgoing, mask.clone()).await;
        sent.map_err(|mut error| {
            // An error may quote what a server sent.
            error.message = String::from_utf8_lossy(&mask.whole(error.message.as_bytes())).into_owned();
            meter.failed(&error);
            error
        })
    }

    async fn run<B>(&self, outgoing: OutgoingRequest<B>, mask: Mask) -> Result<Response<AnswerBody>, Error>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        let OutgoingRequest { granted, mut request, place, patience, until, meter } = outgoing;
        let limits = &*self.limits;
        let deadline = until.min(after(None, limits.total_milliseconds));
        head::to_server(&granted, &mut request, limits.head_bytes)?;
        let broken = Broken::default();
        let (parts, body) = request.into_parts();
        let announced = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let body = SentBody::new(body, announced, limits.sent_bytes, Arc::clone(&meter), Arc::clone(&broken))?;
        let request = Request::from_parts(parts, body);

        let connect_by = deadline.min(after(patience.connect, limits.connect_milliseconds));
        let server = &granted.wanted().server;
        let connecting = async {
            let stream = place.reach.connect(server, connect_by, |address| granted.address(address)).await?;
            match granted.wanted().origin.scheme {
                Scheme::Https => Ok::<_, Error>(Stream::Encrypted(Box::new(self.tls.connect(server, stream).await?))),
                Scheme::Http => Ok(Stream::Plain(stream)),
            }
        };
        let stream = timeout_at(connect_by, connecting).await.map_err(|_| {
            late(&format!("{} was not connected to in time", server.authority), "connect_milliseconds")
        })??;

        let (response, connection) = match stream {
            Stream::Encrypted(stream) => self.exchange(*stream, request, &patience, deadline, &broken).await?,
            Stream::Plain(stream) => self.exchange(stream, request, &patience, deadline, &broken).await?,
        };
        meter.answered(response.status().as_u16());
        head::from_server(&granted, &response, limits.head_bytes)?;
        let pause = shortest(patience.between_bytes, limits.between_bytes_milliseconds);
        let answer_bytes = limits.answer_bytes;
        let terms = Terms { answer_bytes, pause, deadline, mask, meter, broken, kept: Some((place, connection)) };
        let (mut parts, incoming) = response.into_parts();
        terms.mask.headers(&mut parts.headers);
        // The phrase behind the status is the server's own text.
        parts.extensions.clear();
        Ok(Response::from_parts(parts, AnswerBody::new(incoming, terms)))
    }

    async fn exchange<B>(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        request: Request<SentBody<B>>,
        patience: &Patience,
        deadline: Instant,
        broken: &Broken,
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
            // What went wrong is told to whoever waits for the answer.
            let _ = connection.await;
        }));
        let first_byte_by = deadline.min(after(patience.first_byte, self.limits.first_byte_milliseconds));
        let response = timeout_at(first_byte_by, sender.send_request(request)).await;
        let response = response.map_err(|_| late("the server did not answer in time", "first_byte_milliseconds"))?;
        Ok((response.map_err(failed)?, connection))
    }
}

enum Stream {
    Plain(tokio::net::TcpStream),
    Encrypted(Box<tokio_rustls::client::TlsStream<tokio::net::TcpStream>>),
}

fn late(what: &str, limit: &str) -> Error {
    Error::retryable(Code::Timeout, format!("{what} ({}, or what is left of the call)", named(limit)))
}

fn shortest(wanted: Option<Duration>, limit_milliseconds: u64) -> Duration {
    let limit = Duration::from_millis(limit_milliseconds);
    wanted.map_or(limit, |wanted| wanted.min(limit))
}

fn after(wanted: Option<Duration>, limit_milliseconds: u64) -> Instant {
    Instant::now() + shortest(wanted, limit_milliseconds)
}
