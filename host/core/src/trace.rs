//! Spans: how long a request, a call and each thing that a call asked the host for
//! took, and what belongs to what.
//!
//! Owns the words of a trace, what of it is kept, and the way from a piece of work to a
//! sink. Spans hold names, ids, sizes and times; arguments and answers never come this
//! far. Knows nothing of how spans are sent, and no protocol but the form in which a
//! client says where its request belongs (W3C Trace Context).

mod context;
mod span;
mod tracer;

pub use context::{MAX_STATE_BYTES, RemoteParent, SpanContext, SpanId, TraceId, TraceParent};
pub use span::{AttributeValue, MAX_ATTRIBUTES, ParentSpan, Span, SpanKind, SpanSink};
pub use tracer::{RunningSpan, Sampling, Tracer};
