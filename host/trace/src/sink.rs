//! The queue between calls and the thread that sends.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SpanProcessor as _},
};
use wharf_core::trace::{Span, SpanSink};

use crate::{
    convert,
    counts::SpanCounts,
    exporter::{CountingExporter, SpanTransport, client},
};

/// The most spans that wait to be sent. The sink drops and counts those beyond.
pub const CAPACITY: usize = 4_096;
/// The most spans in one request.
pub const BATCH: usize = 512;
/// The longest time that the sink gathers spans before it sends them.
pub const PERIOD: Duration = Duration::from_secs(1);
/// How long the sink sends spans again that the collector was not ready for. A
/// [`SpanTransport`] waits as long for an answer.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a sink that is dropped waits for its last spans.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SinkError {
    /// OpenTelemetry's exporter cannot be made.
    #[error("the sender of spans cannot be made")]
    Exporter(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The system starts no thread for it.
    #[error("the sender of spans has no thread")]
    Thread,
}

/// Sends spans to a collector by OTLP over HTTP.
pub struct OtlpSink {
    processor: Arc<BatchSpanProcessor>,
    counts: Arc<SpanCounts>,
    scope: InstrumentationScope,
    /// The last flush ran out of time, so the end does not wait again.
    is_stuck: AtomicBool,
}

impl fmt::Debug for OtlpSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OtlpSink").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

impl OtlpSink {
    /// Opens a sink over this transport. `resource` holds the attributes that name the service
    /// to its collector, such as `service.name`.
    ///
    /// # Errors
    /// Where OpenTelemetry's exporter or its thread cannot be made.
    pub fn open(transport: impl SpanTransport, resource: &[(&'static str, &str)]) -> Result<Self, SinkError> {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client(transport))
            // The transport knows the collector's address. The exporter would read one, the
            // protocol and the timeout from the environment, were they not set here.
            .with_endpoint("http://localhost/v1/traces")
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|error| SinkError::Exporter(Box::new(error)))?;
        let counts = Arc::new(SpanCounts::default());
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(CAPACITY)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(PERIOD)
            .build();
        let exporter = CountingExporter::new(exporter, Arc::clone(&counts));
        // The processor panics where the system starts no thread.
        let processor = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            BatchSpanProcessor::builder(exporter).with_batch_config(config).build()
        }));
        let mut processor = processor.map_err(|_| SinkError::Thread)?;
        let known = resource.iter().map(|(key, value)| KeyValue::new(*key, (*value).to_owned()));
        processor.set_resource(&Resource::builder_empty().with_attributes(known).build());
        let scope = InstrumentationScope::builder("wharf").with_version(env!("CARGO_PKG_VERSION")).build();
        Ok(Self { processor: Arc::new(processor), counts, scope, is_stuck: AtomicBool::new(false) })
    }
}

impl SpanSink for OtlpSink {
    fn span(&self, span: Span) {
        // The processor's queue has the same capacity, but it does not count what it drops.
        if self.counts.reserve(CAPACITY) {
            self.processor.on_end(convert::span_data(span, &self.scope));
        }
    }

    fn flush(&self, patience: Duration) {
        if self.counts.is_empty() {
            return;
        }
        // The processor's own timeout may be longer than the caller's.
        let (flushed, is_flushed) = mpsc::channel();
        let processor = Arc::clone(&self.processor);
        let flushing = thread::Builder::new().name("wharf-trace-flush".to_owned()).spawn(move || {
            // The caller may have given up.
            let _ = flushed.send(processor.force_flush().is_ok());
        });
        let is_done = flushing.is_ok() && is_flushed.recv_timeout(patience).is_ok();
        self.is_stuck.store(!is_done, Relaxed);
    }

    fn sent(&self) -> u64 {
        self.counts.sent()
    }

    fn dropped(&self) -> u64 {
        self.counts.dropped()
    }
}

impl Drop for OtlpSink {
    /// Sends the last spans, unless the collector takes too long.
    fn drop(&mut self) {
        let patience = if *self.is_stuck.get_mut() { Duration::ZERO } else { SHUTDOWN_TIMEOUT };
        // The log has the warning of a collector that is away.
        let _ = self.processor.shutdown_with_timeout(patience);
    }
}
