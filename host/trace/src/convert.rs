//! Spans of the host in the form that OpenTelemetry has for them.

use std::str::FromStr as _;

use opentelemetry::{
    InstrumentationScope, Key, KeyValue, Value,
    trace::{self, SpanContext, SpanId, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use wharf_core::trace::{AttributeValue, Span, SpanKind};

/// The span in OpenTelemetry's form.
pub(crate) fn span_data(span: Span, scope: &InstrumentationScope) -> SpanData {
    let context = &span.context;
    let state = context.state.as_deref().and_then(|state| TraceState::from_str(state).ok());
    let span_context = SpanContext::new(
        TraceId::from_bytes(context.trace.to_bytes()),
        SpanId::from_bytes(context.span.to_bytes()),
        TraceFlags::SAMPLED,
        false,
        state.unwrap_or_default(),
    );
    let parent_span_id = span.parent.map_or(SpanId::INVALID, |parent| SpanId::from_bytes(parent.id.to_bytes()));
    SpanData {
        span_context,
        parent_span_id,
        parent_span_is_remote: span.parent.is_some_and(|parent| parent.is_remote),
        span_kind: match span.kind {
            SpanKind::Server => trace::SpanKind::Server,
            SpanKind::Client => trace::SpanKind::Client,
            SpanKind::Internal => trace::SpanKind::Internal,
        },
        name: span.name().to_owned().into(),
        start_time: span.began,
        end_time: span.began + span.took,
        attributes: span.attributes().iter().map(attribute).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        // An error's message may quote the request; its kind is an attribute.
        status: if span.failed { Status::error("") } else { Status::Unset },
        instrumentation_scope: scope.clone(),
    }
}

fn attribute((key, value): &(&'static str, AttributeValue)) -> KeyValue {
    let value = match value {
        AttributeValue::Text(text) => Value::from(text.to_string()),
        AttributeValue::Number(number) => Value::I64(*number),
    };
    KeyValue::new(Key::from_static_str(key), value)
}
