//! Spans: how long each request, each call and each thing that a plugin asked the
//! host for took, and what belongs to what.
//!
//! `[traces]` of the configuration sends them to an OpenTelemetry collector. An app
//! that traces itself takes them instead, by
//! [`HostBuilder::traces`](crate::HostBuilder::traces), and says with a call which
//! span of its own it belongs to; nothing is global, so each host has its own sink:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::{Arc, Mutex};
//!
//! use wharf::{
//!     CallRequest, Caller, Configuration, Context, Host, TenantId,
//!     trace::{RemoteParent, Span, SpanSink, TraceParent},
//! };
//!
//! #[derive(Default)]
//! struct Spans(Mutex<Vec<Span>>);
//!
//! impl SpanSink for Spans {
//!     fn span(&self, span: Span) {
//!         // Here an app makes one of its own tracing library of it.
//!         self.0.lock().expect("nobody panics here").push(span);
//!     }
//! }
//!
//! let spans = Arc::new(Spans::default());
//! let host = Host::builder(Configuration::default()).traces(spans.clone()).open().await?;
//! let context = Context::new(TenantId::local(), "my-session".parse()?);
//! let mut caller = Caller::new(context);
//! let (trace, span) = ([7; 16], [9; 8]); // As the app's own OpenTelemetry knows its span.
//! caller.trace = RemoteParent::new(trace, span, true).map(TraceParent::Remote);
//! assert!(host.call(CallRequest::of(caller, "nobody__has_this", Default::default())).await.is_err());
//! let spans = spans.0.lock().expect("nobody panics here");
//! assert_eq!((spans[0].name(), spans[0].context.trace.to_bytes()), ("execute_tool", trace));
//! # Ok(())
//! # }
//! ```

pub use crate::host::open_error::TracesError;
pub use wharf_core::trace::{
    AttributeValue, ParentSpan, RemoteParent, RunningSpan, Sampling, Span, SpanContext, SpanId, SpanKind, SpanSink,
    TraceId, TraceParent, Tracer,
};
