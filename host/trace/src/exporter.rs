//! OpenTelemetry's exporter over the transport that the sink was opened with. It counts
//! the spans that it delivers.

use std::{fmt, sync::Arc};

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};

use crate::counts::SpanCounts;

/// Carries spans to a collector. The transport decides the collector's address, the headers
/// that name the host, and how long an answer may take.
pub trait SpanTransport: Send + Sync + 'static {
    /// Sends spans, as protobuf of an `ExportTraceServiceRequest`, and waits for the
    /// answer. Blocks; one thread makes all calls, one after the other.
    ///
    /// # Errors
    /// Where no answer comes. A refusal by the collector is an answer.
    fn post(&self, spans: &[u8]) -> Result<CollectorAnswer, TransportError>;
}

/// A collector's answer to spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectorAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The header `Retry-After`: when to try again.
    pub retry_after: Option<String>,
    /// The body, which the transport bounds.
    pub body: Vec<u8>,
}

/// Why no answer came from a collector.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TransportError(pub String);

/// A transport in the form that the exporter takes. It leaves out the headers that the
/// exporter would add from the environment: only what was configured is sent.
struct TransportClient<T>(T);

impl<T> fmt::Debug for TransportClient<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TransportClient")
    }
}

#[async_trait::async_trait]
impl<T: SpanTransport> HttpClient for TransportClient<T> {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // This blocks the thread that sends the batches, which has nothing else to do.
        let CollectorAnswer { status, retry_after, body } = self.0.post(request.body())?;
        let mut response = Response::builder().status(status);
        if let Some(seconds) = retry_after {
            response = response.header("retry-after", seconds);
        }
        Ok(response.body(body.into())?)
    }
}

/// The exporter's client over this transport.
pub(crate) fn client(transport: impl SpanTransport) -> impl HttpClient + 'static {
    TransportClient(transport)
}

/// An exporter that counts the spans that it delivers and loses.
#[derive(Debug)]
pub(crate) struct CountingExporter {
    inner: opentelemetry_otlp::SpanExporter,
    counts: Arc<SpanCounts>,
}

impl CountingExporter {
    pub(crate) fn new(inner: opentelemetry_otlp::SpanExporter, counts: Arc<SpanCounts>) -> Self {
        Self { inner, counts }
    }
}

impl SpanExporter for CountingExporter {
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
