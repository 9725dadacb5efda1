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
    counts::Counts,
    exporter::{Counted, Way, client},
};

/// Spans that wait to be sent, at most; what comes beyond is counted.
pub const CAPACITY: usize = 4_096;
/// Spans that are sent at once, at most.
pub const BATCH: usize = 512;
/// How long spans are gathered, at most.
pub const PERIOD: Duration = Duration::from_secs(1);
/// How long spans are sent again that a collector was not ready for. A [`Way`] gives
/// an answer as long.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// How long the end of a sink waits for its last spans.
const END: Duration = Duration::from_secs(1);

/// Why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SinkError {
    /// The exporter is not to be had.
    #[error("the sender of spans cannot be made")]
    Exporter(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The system gives no thread.
    #[error("the sender of spans has no thread")]
    Thread,
}

/// Sends spans to a collector, by OTLP over HTTP.
pub struct OtlpSink {
    processor: Arc<BatchSpanProcessor>,
    counts: Arc<Counts>,
    scope: InstrumentationScope,
    /// Its end was waited for in vain.
    is_stuck: AtomicBool,
}

impl fmt::Debug for OtlpSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OtlpSink").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

impl OtlpSink {
    /// Sends spans this way, in the name of this service: `resource` is what its
    /// collector knows it by, such as `service.name`.
    ///
    /// # Errors
    /// Where the sender cannot be made.
    pub fn open(way: impl Way, resource: &[(&'static str, &str)]) -> Result<Self, SinkError> {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client(way))
            // Where that is, the way knows; what is not said here comes from the environment.
            .with_endpoint("http://localhost/v1/traces")
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|error| SinkError::Exporter(Box::new(error)))?;
        let counts = Arc::new(Counts::default());
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(CAPACITY)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(PERIOD)
            .build();
        let exporter = Counted::new(exporter, Arc::clone(&counts));
        // The processor panics where the system gives no thread.
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
        // The processor has as much room, and would not say what it drops.
        if self.counts.has_room(CAPACITY) {
            self.processor.on_end(convert::data(span, &self.scope));
        }
    }

    fn flush(&self, patience: Duration) {
        if self.counts.is_empty() {
            return;
        }
        // The processor has a patience of its own, which may be longer.
        let (told, heard) = mpsc::channel();
        let processor = Arc::clone(&self.processor);
        let flushing = thread::Builder::new().name("wharf-trace-flush".to_owned()).spawn(move || {
            // Nobody may be waiting any more.
            let _ = told.send(processor.force_flush().is_ok());
        });
        let is_done = flushing.is_ok() && heard.recv_timeout(patience).is_ok();
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
    /// The last spans are sent, unless the collector takes too long.
    fn drop(&mut self) {
        let patience = if *self.is_stuck.get_mut() { Duration::ZERO } else { END };
        // A collector that is away has been complained of.
        let _ = self.processor.shutdown_with_timeout(patience);
    }
}
