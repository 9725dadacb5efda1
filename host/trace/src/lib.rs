//! Spans on their way to an OpenTelemetry collector: over OTLP, in batches, from a
//! thread of their own.
//!
//! Owns the shape that spans have for OpenTelemetry, the queue before the collector,
//! and the count of what could not be delivered. This room is the only one that names
//! OpenTelemetry. It opens no connection itself: whoever makes a sink brings the way
//! to the collector. It sets nothing that is global, and reads no variable of the
//! environment: two hosts in one process trace apart.

mod convert;
mod counts;
mod exporter;
mod sink;

pub use exporter::{Answered, Unsent, Way};
pub use sink::{BATCH, CAPACITY, OtlpSink, PERIOD, SinkError, TIMEOUT};
