//! A sink of spans before collectors that take everything, refuse everything, or hang.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, Instant, SystemTime},
};

use opentelemetry_proto::tonic::{collector::trace::v1::ExportTraceServiceRequest, trace::v1::Span as SentSpan};
use prost::Message as _;
use wharf_core::trace::{RemoteParent, Sampling, SpanKind, SpanSink, TraceParent, Tracer};
use wharf_test_support::AMPLE;
use wharf_trace::{CAPACITY, CollectorAnswer, OtlpSink, SpanTransport, TransportError};

/// The spans that reached a collector.
#[derive(Default)]
struct ReceivedSpans {
    spans: Mutex<Vec<SentSpan>>,
    arrived: Condvar,
}

impl ReceivedSpans {
    fn take(&self, body: &[u8]) {
        let request = ExportTraceServiceRequest::decode(body).expect("spans");
        let spans = request.resource_spans.into_iter().flat_map(|of| of.scope_spans).flat_map(|of| of.spans);
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).extend(spans);
        self.arrived.notify_all();
    }

    fn wait_for(&self, number: usize) -> Vec<SentSpan> {
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        let few = |spans: &mut Vec<SentSpan>| spans.len() < number;
        let (spans, waited) =
            self.arrived.wait_timeout_while(spans, AMPLE, few).unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "{} of {number}", spans.len());
        spans.clone()
    }
}

/// A collector that takes everything.
struct OpenCollector(Arc<ReceivedSpans>);

impl SpanTransport for OpenCollector {
    fn post(&self, spans: &[u8]) -> Result<CollectorAnswer, TransportError> {
        self.0.take(spans);
        Ok(CollectorAnswer { status: 200, retry_after: None, body: Vec::new() })
    }
}

/// A collector that hangs until the test opens the gate.
struct BlockedCollector {
    received: Arc<ReceivedSpans>,
    reached: SyncSender<()>,
    gate: Mutex<Receiver<()>>,
}

impl SpanTransport for BlockedCollector {
    fn post(&self, spans: &[u8]) -> Result<CollectorAnswer, TransportError> {
        let _ = self.reached.try_send(());
        // The gate stays open once its sender is dropped.
        let _ = self.gate.lock().unwrap_or_else(PoisonError::into_inner).recv();
        self.received.take(spans);
        Ok(CollectorAnswer { status: 200, retry_after: None, body: Vec::new() })
    }
}

/// A collector that answers everything with this status.
struct RefusingCollector(u16);

impl SpanTransport for RefusingCollector {
    fn post(&self, _: &[u8]) -> Result<CollectorAnswer, TransportError> {
        Ok(CollectorAnswer { status: self.0, retry_after: None, body: b"no".to_vec() })
    }
}

fn tracer(sink: &Arc<OtlpSink>) -> Tracer {
    Tracer::new(sink.clone(), Sampling::default())
}

fn open(transport: impl SpanTransport) -> Arc<OtlpSink> {
    Arc::new(OtlpSink::open(transport, &[("service.name", "test")]).expect("opened"))
}

#[test]
fn a_span_has_for_the_collector_what_it_has_here() {
    let received = Arc::new(ReceivedSpans::default());
    let sink = open(OpenCollector(Arc::clone(&received)));
    let mut parent = RemoteParent::new([1; 16], [2; 8], true).expect("no zeros");
    parent.context.state = Some("vendor=1".into());
    let mut request = tracer(&sink).begin(SpanKind::Server, Some(&TraceParent::Remote(parent)));
    request.describe(|span| {
        span.rename("request");
        span.set("text", "t");
        span.set("number", 7_u64);
        span.fail("timeout");
    });
    let context = request.context().expect("kept").clone();
    let times = (SystemTime::now(), Duration::from_millis(3));
    tracer(&sink).tell(SpanKind::Client, &context, times, |span| span.rename("below"));
    request.end();
    sink.flush(AMPLE);
    let spans = received.wait_for(2);
    let (below, request) = (&spans[0], &spans[1]);
    assert_eq!((&*request.trace_id, &*request.parent_span_id), (&[1; 16][..], &[2; 8][..]));
    assert_eq!((&*request.trace_state, &*request.name), ("vendor=1", "request"));
    assert_eq!(below.parent_span_id, request.span_id);
    assert_eq!(below.end_time_unix_nano - below.start_time_unix_nano, 3_000_000);
    assert_eq!((below.kind, request.kind), (3, 2), "client and server");
    let status = request.status.as_ref().expect("a status");
    assert_eq!((status.code, &*status.message), (2, ""), "an error without a message");
    assert_eq!(request.attributes.len(), 3);
    assert_eq!((sink.sent(), sink.dropped()), (2, 0));
}

#[test]
fn a_flood_never_waits_and_each_span_is_sent_or_counted() {
    let (reached, is_reached) = sync_channel(1);
    let (opened, gate) = sync_channel(0);
    let received = Arc::new(ReceivedSpans::default());
    let sink = open(BlockedCollector { received: Arc::clone(&received), reached, gate: Mutex::new(gate) });
    let tracer = tracer(&sink);
    tracer.begin(SpanKind::Internal, None).end();
    is_reached.recv_timeout(AMPLE).expect("the way is taken, and hangs");
    (0..CAPACITY + 99).for_each(|_| tracer.begin(SpanKind::Internal, None).end());
    // The span in the request that hangs still counts for the queue.
    assert_eq!((sink.sent(), sink.dropped()), (0, 100));
    let began = Instant::now();
    sink.flush(Duration::from_millis(10));
    assert!(began.elapsed() < AMPLE, "it waits no longer than it was told");
    drop(opened);
    sink.flush(AMPLE);
    assert_eq!(received.wait_for(CAPACITY).len(), CAPACITY);
}

#[test]
fn what_a_collector_refuses_is_counted_and_not_sent_again() {
    let sink = open(RefusingCollector(400));
    (0..10).for_each(|_| tracer(&sink).begin(SpanKind::Internal, None).end());
    sink.flush(AMPLE);
    assert_eq!((sink.sent(), sink.dropped()), (0, 10));
}

#[test]
fn the_last_spans_are_sent_when_a_sink_ends() {
    let received = Arc::new(ReceivedSpans::default());
    let sink = open(OpenCollector(Arc::clone(&received)));
    tracer(&sink).begin(SpanKind::Internal, None).end();
    drop(sink);
    assert_eq!(received.wait_for(1).len(), 1);
}
