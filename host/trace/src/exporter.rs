//! The exporter of OpenTelemetry on a way to the collector that somebody else
//! brings, and counted.

use std::{fmt, sync::Arc};

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};

use crate::counts::Counts;

/// The way to a collector. It decides where that is, by which headers it knows the
/// host, and how long an answer may take.
pub trait Way: Send + Sync + 'static {
    /// Sends spans, as protobuf of an `ExportTraceServiceRequest`, and waits for the
    /// answer. Blocks; called on one thread, one after the other.
    ///
    /// # Errors
    /// Where there is no answer, whatever that says.
    fn post(&self, spans: &[u8]) -> Result<Answered, Unsent>;
}

/// What a collector answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The status of the answer.
    pub status: u16,
    /// What it says of when to try again: the header `Retry-After`.
    pub retry_after: Option<String>,
    /// The rest of it, bounded.
    pub body: Vec<u8>,
}

/// Why nothing was answered.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unsent(pub String);

/// A way as the exporter knows it. Headers that the exporter would add from the
/// environment are left behind here: what is sent is what was configured.
struct Client<W>(W);

impl<W> fmt::Debug for Client<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Client")
    }
}

#[async_trait::async_trait]
impl<W: Way> HttpClient for Client<W> {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // The thread of the batches is there to wait.
        let Answered { status, retry_after, body } = self.0.post(request.body())?;
        let mut response = Response::builder().status(status);
        if let Some(seconds) = retry_after {
            response = response.header("retry-after", seconds);
        }
        Ok(response.body(body.into())?)
    }
}

/// The client of the exporter for this way.
pub(crate) fn client(way: impl Way) -> impl HttpClient + 'static {
    Client(way)
}

/// An exporter that counts what became of its spans.
#[derive(Debug)]
pub(crate) struct Counted {
    inner: opentelemetry_otlp::SpanExporter,
    counts: Arc<Counts>,
}

impl Counted {
    pub(crate) fn new(inner: opentelemetry_otlp::SpanExporter, counts: Arc<Counts>) -> Self {
        Self { inner, counts }
    }
}

impl SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let exported = self.inner.export(batch).await;
        match &exported {
            Ok(()) => self.counts.delivered(spans),
            Err(error) => {
                if self.counts.lost(spans) {
                    tracing::warn!(
                        target: "wharf::traces",
                        "spans cannot be sent, and are dropped until the collector takes them: {error}"
                    );
                }
            }
        }
        exported
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.inner.shutdown()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}
