//! Sends spans to an OpenTelemetry collector: over OTLP, in batches, from a thread of
//! their own.
//!
//! Owns the form that spans have for OpenTelemetry, the queue before the collector, and
//! the count of spans that were not delivered. No other crate names OpenTelemetry. This one
//! opens no connection: a sink gets its transport from the caller that opens it. It sets
//! nothing that is global and reads no environment variable, so two hosts in one process
//! trace apart.

mod convert;
mod counts;
mod exporter;
mod sink;

pub use exporter::{CollectorAnswer, SpanTransport, TransportError};
pub use sink::{BATCH, CAPACITY, OtlpSink, PERIOD, SinkError, TIMEOUT};
