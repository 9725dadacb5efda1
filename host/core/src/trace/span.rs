//! A finished span, and the sink that takes it.

use std::time::{Duration, SystemTime};

use super::{SpanContext, SpanId};
use crate::audit::shown;

/// Attributes of one span, at most; further ones are left out.
pub const MAX_ATTRIBUTES: usize = 32;

/// Takes spans: a sender of the host's, or an app's own.
///
/// A span is handed over once it is over, on the thread where that happened, and
/// the call waits meanwhile: whatever takes longer than a lock belongs on a thread
/// of the sink's own.
pub trait SpanSink: Send + Sync + 'static {
    /// Takes one span. Spans below it came before it.
    fn span(&self, span: Span);

    /// Waits until what was taken is delivered, at most so long. Blocks.
    fn flush(&self, _patience: Duration) {}

    /// How many spans were delivered.
    fn sent(&self) -> u64 {
        0
    }

    /// How many spans could not be.
    fn dropped(&self) -> u64 {
        0
    }
}

/// Which side of a conversation a span tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// A request that was answered.
    Server,
    /// A request that was sent.
    Client,
    /// Neither.
    Internal,
}

/// The span that another one belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParentSpan {
    /// The span, of the same trace.
    pub id: SpanId,
    /// Whether it is another program's.
    pub is_remote: bool,
}

/// What an attribute says.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue {
    /// A word: clean, and at most [`MAX_NAME_BYTES`](crate::audit::MAX_NAME_BYTES) long.
    Text(Box<str>),
    /// A number.
    Number(i64),
}

impl From<&str> for AttributeValue {
    /// Cleans and cuts the text, whatever its source.
    fn from(text: &str) -> Self {
        Self::Text(shown(text))
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for AttributeValue {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// One span that is over.
#[derive(Debug, Clone)]
pub struct Span {
    /// Its trace, and its id.
    pub context: SpanContext,
    /// What it belongs to; nothing where a trace begins with it.
    pub parent: Option<ParentSpan>,
    /// Which side it tells of.
    pub kind: SpanKind,
    /// When it began.
    pub began: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// Whether it ended with an error; the attribute `error.type` says with which.
    pub failed: bool,
    name: Box<str>,
    attributes: Vec<(&'static str, AttributeValue)>,
}

impl Span {
    pub(super) fn new(context: SpanContext, parent: Option<ParentSpan>, kind: SpanKind, began: SystemTime) -> Self {
        let (name, attributes) = (Box::default(), Vec::new());
        Self { context, parent, kind, began, took: Duration::ZERO, failed: false, name, attributes }
    }

    /// Its name: the same for all that do the same, clean and short.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives it a name, which is cleaned and cut.
    pub fn rename(&mut self, name: &str) {
        self.name = shown(name);
    }

    /// Its attributes, each key once.
    #[must_use]
    pub fn attributes(&self) -> &[(&'static str, AttributeValue)] {
        &self.attributes
    }

    /// Says something of it; a key that was said before is said anew. What is beyond
    /// [`MAX_ATTRIBUTES`] is left out.
    pub fn set(&mut self, key: &'static str, value: impl Into<AttributeValue>) {
        let has_room = self.attributes.len() < MAX_ATTRIBUTES;
        match self.attributes.iter_mut().find(|(known, _)| *known == key) {
            Some((_, said)) => *said = value.into(),
            None if has_room => self.attributes.push((key, value.into())),
            None => {}
        }
    }

    /// Says that it failed, and with which kind of error.
    pub fn fail(&mut self, error: &str) {
        self.failed = true;
        self.set("error.type", error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{audit::MAX_NAME_BYTES, trace::TraceId};

    #[test]
    fn what_others_say_of_a_span_is_short_and_clean_whoever_sets_it() {
        let context = SpanContext { trace: TraceId::random(), span: SpanId::random(), state: None };
        let mut span = Span::new(context, None, SpanKind::Internal, SystemTime::now());
        let hostile = format!("a\u{1b}[31m\n{}\u{202e}", "é".repeat(10_000));
        span.rename(&hostile);
        span.set("key", hostile.as_str());
        span.set("key", hostile.as_str());
        span.fail(&hostile);
        let AttributeValue::Text(said) = &span.attributes()[0].1 else { panic!("{span:?}") };
        for text in [span.name(), said] {
            assert!(text.len() <= MAX_NAME_BYTES && text.starts_with("a[31mé"), "{text}");
        }
        assert_eq!(span.attributes().len(), 2, "a key is said once");
        for number in 0..40 {
            let key: &'static str = Box::leak(format!("key.{number}").into_boxed_str());
            span.set(key, 1_u64);
        }
        assert_eq!(span.attributes().len(), MAX_ATTRIBUTES);
    }
}
