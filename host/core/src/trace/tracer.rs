//! What of a trace is kept, and spans while they last.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use super::{ParentSpan, Span, SpanContext, SpanId, SpanKind, SpanSink, TraceId, TraceParent};

/// What is kept of all that begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Which part, from 0 to 1.
    pub ratio: f64,
    /// Whether a client that keeps its trace has its requests kept here, too, whatever
    /// the ratio says.
    pub trust_clients: bool,
}

impl Default for Sampling {
    /// Everything.
    fn default() -> Self {
        Self { ratio: 1.0, trust_clients: false }
    }
}

impl Sampling {
    /// Whether something is kept that begins a trace of this host's.
    ///
    /// A client that does not keep its trace has nothing kept here: that only saves
    /// work. One that keeps it is no reason to, unless clients are trusted; and its
    /// ids decide nothing either way, since it could choose such as are always kept.
    /// So the host throws its own dice, once for each request.
    fn keeps(&self, parent: Option<&TraceParent>) -> bool {
        match parent {
            Some(TraceParent::NotKept) => false,
            Some(TraceParent::Span(_)) => true,
            Some(TraceParent::Remote(remote)) if !remote.sampled => false,
            Some(TraceParent::Remote(_)) if self.trust_clients => true,
            Some(TraceParent::Remote(_)) | None => fastrand::f64() < self.ratio,
        }
    }
}

/// Begins spans and hands them over once they are over. Each host has its own, or
/// none. Cheap to clone.
#[derive(Clone)]
pub struct Tracer {
    sink: Arc<dyn SpanSink>,
    sampling: Sampling,
}

impl fmt::Debug for Tracer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tracer").field("sampling", &self.sampling).finish_non_exhaustive()
    }
}

impl Tracer {
    /// Hands spans to this sink.
    #[must_use]
    pub fn new(sink: Arc<dyn SpanSink>, sampling: Sampling) -> Self {
        Self { sink, sampling }
    }

    /// The sink that takes the spans.
    #[must_use]
    pub fn sink(&self) -> &dyn SpanSink {
        &*self.sink
    }

    /// Begins a span, where it is to be kept.
    pub fn begin(&self, kind: SpanKind, parent: Option<&TraceParent>) -> RunningSpan {
        if !self.sampling.keeps(parent) {
            return RunningSpan(None);
        }
        let (trace, state, parent) = match parent {
            None | Some(TraceParent::NotKept) => (TraceId::random(), None, None),
            Some(TraceParent::Span(context)) => of(context, false),
            Some(TraceParent::Remote(remote)) => of(&remote.context, true),
        };
        let context = SpanContext { trace, span: SpanId::random(), state };
        let span = Span::new(context, parent, kind, SystemTime::now());
        RunningSpan(Some(Box::new(Kept { span, began: Instant::now(), tracer: self.clone(), ended: None })))
    }

    /// Hands over a span that is over already, below one that is kept.
    pub fn tell(
        &self,
        kind: SpanKind,
        parent: &SpanContext,
        (ended, took): (SystemTime, Duration),
        describe: impl FnOnce(&mut Span),
    ) {
        let (trace, state, parent) = of(parent, false);
        let context = SpanContext { trace, span: SpanId::random(), state };
        let mut span = Span::new(context, parent, kind, ended.checked_sub(took).unwrap_or(ended));
        span.took = took;
        describe(&mut span);
        self.sink.span(span);
    }
}

fn of(context: &SpanContext, is_remote: bool) -> (TraceId, Option<Arc<str>>, Option<ParentSpan>) {
    (context.trace, context.state.clone(), Some(ParentSpan { id: context.span, is_remote }))
}

/// A span that lasts; nothing where it is not kept. One that is dropped has ended,
/// too: with the error `cancelled`, since nobody waited for it any more.
#[must_use = "a span is over when this is dropped"]
pub struct RunningSpan(Option<Box<Kept>>);

struct Kept {
    span: Span,
    began: Instant,
    tracer: Tracer,
    /// How long it took, once it is over.
    ended: Option<Duration>,
}

impl fmt::Debug for RunningSpan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("RunningSpan").field(&self.context()).finish()
    }
}

impl RunningSpan {
    /// Its ids, where it is kept.
    #[must_use]
    pub fn context(&self) -> Option<&SpanContext> {
        self.0.as_ref().map(|kept| &kept.span.context)
    }

    /// What belongs to it says so with this.
    #[must_use]
    pub fn as_parent(&self) -> TraceParent {
        self.context().map_or(TraceParent::NotKept, |context| TraceParent::Span(context.clone()))
    }

    /// Says something of it, where it is kept.
    pub fn describe(&mut self, describe: impl FnOnce(&mut Span)) {
        if let Some(kept) = &mut self.0 {
            describe(&mut kept.span);
        }
    }

    /// It is over.
    pub fn end(mut self) {
        if let Some(kept) = &mut self.0 {
            kept.ended = Some(kept.began.elapsed());
        }
    }

    /// It was over this long after it began: for what is told when it has happened.
    pub fn end_after(mut self, took: Duration) {
        if let Some(kept) = &mut self.0 {
            kept.ended = Some(took);
        }
    }
}

impl Drop for RunningSpan {
    fn drop(&mut self) {
        let Some(kept) = self.0.take() else { return };
        let Kept { mut span, began, tracer, ended } = *kept;
        span.took = ended.unwrap_or_else(|| {
            span.fail("cancelled");
            began.elapsed()
        });
        tracer.sink.span(span);
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::trace::{AttributeValue, RemoteParent};

    #[derive(Default)]
    struct Taken(Mutex<Vec<Span>>);

    impl SpanSink for Taken {
        fn span(&self, span: Span) {
            self.0.lock().push(span);
        }
    }

    fn remote(sampled: bool) -> TraceParent {
        // By its bytes this id would be kept by every sampler that goes by ids.
        TraceParent::Remote(RemoteParent::new([1; 16], [2; 8], sampled).expect("no zeros"))
    }

    /// How many of a thousand are kept.
    fn kept(sampling: Sampling, parent: Option<&TraceParent>) -> usize {
        let tracer = Tracer::new(Arc::new(Taken::default()), sampling);
        (0..1_000).filter(|_| tracer.begin(SpanKind::Server, parent).context().is_some()).count()
    }

    #[test]
    fn a_client_cannot_have_more_kept_than_the_operator_lets() {
        let of = |ratio, trust_clients| Sampling { ratio, trust_clients };
        assert_eq!(kept(of(0.0, false), Some(&remote(true))), 0);
        assert!((300..700).contains(&kept(of(0.5, false), Some(&remote(true)))), "its ids do not decide");
        assert_eq!(kept(of(0.0, true), Some(&remote(true))), 1_000, "only where clients are trusted");
        assert_eq!(kept(of(1.0, true), Some(&remote(false))), 0);
        assert_eq!(kept(of(0.0, false), None), 0);
        assert_eq!(kept(of(1.0, false), None), 1_000);
        assert_eq!(kept(of(f64::NAN, false), None), 0);
    }

    #[test]
    fn what_belongs_to_a_request_is_kept_exactly_where_that_is() {
        let tracer = Tracer::new(Arc::new(Taken::default()), Sampling { ratio: 0.5, trust_clients: false });
        for _ in 0..100 {
            let request = tracer.begin(SpanKind::Server, None);
            let call = tracer.begin(SpanKind::Internal, Some(&request.as_parent()));
            assert_eq!(call.context().is_some(), request.context().is_some());
        }
    }

    #[test]
    fn a_span_knows_its_parent_and_whether_that_is_ours() {
        let taken = Arc::new(Taken::default());
        let tracer = Tracer::new(taken.clone(), Sampling::default());
        let request = tracer.begin(SpanKind::Server, Some(&remote(true)));
        let context = request.context().expect("kept").clone();
        let times = (SystemTime::now(), Duration::from_millis(5));
        tracer.tell(SpanKind::Internal, &context, times, |span| span.rename("below"));
        request.end();
        let taken = taken.0.lock();
        let [below, request] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!(request.parent.map(|parent| (parent.id.to_bytes(), parent.is_remote)), Some(([2; 8], true)));
        assert_eq!(below.parent, Some(ParentSpan { id: request.context.span, is_remote: false }));
        assert_eq!([&below.context.trace, &request.context.trace], [&context.trace; 2]);
        assert_eq!((below.name(), below.began + below.took), ("below", times.0));
    }

    #[test]
    fn a_span_that_is_given_up_has_ended_with_an_error() {
        let taken = Arc::new(Taken::default());
        let tracer = Tracer::new(taken.clone(), Sampling::default());
        drop(tracer.begin(SpanKind::Server, None));
        tracer.begin(SpanKind::Server, None).end();
        let taken = taken.0.lock();
        assert_eq!(taken.iter().map(|span| span.failed).collect::<Vec<_>>(), [true, false]);
        assert_eq!(taken[0].attributes(), [("error.type", AttributeValue::Text("cancelled".into()))]);
    }
}
