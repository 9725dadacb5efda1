//! Where a span belongs, and what the client says of that.
//!
//! Headers are read here and not by the propagator of OpenTelemetry, which takes
//! ids that are too short or signed: what a stranger wrote is a parent exactly as
//! the recommendation says, or none.

use std::{
    fmt,
    num::{NonZeroU64, NonZeroU128},
    str,
    sync::Arc,
};

/// Longest `tracestate` that is taken over; a longer one is left out.
pub const MAX_STATE_BYTES: usize = 512;

/// Length of what stands in the first version of `traceparent`.
const PARENT_BYTES: usize = 55;

/// Names one trace among all; never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(NonZeroU128);

/// Names one span of a trace; never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId(NonZeroU64);

impl TraceId {
    /// A new one.
    #[must_use]
    pub fn random() -> Self {
        Self(NonZeroU128::new(fastrand::u128(1..)).unwrap_or(NonZeroU128::MIN))
    }

    /// Its bytes, in the order in which they are written.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.get().to_be_bytes()
    }
}

impl SpanId {
    /// A new one.
    #[must_use]
    pub fn random() -> Self {
        Self(NonZeroU64::new(fastrand::u64(1..)).unwrap_or(NonZeroU64::MIN))
    }

    /// Its bytes, in the order in which they are written.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.get().to_be_bytes()
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// A span, as what belongs to it knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanContext {
    /// The trace.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
    /// What systems on the way wrote of the trace: at most [`MAX_STATE_BYTES`] of
    /// printable ASCII.
    pub state: Option<Arc<str>>,
}

/// A span of another program, and whether that program keeps its trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteParent {
    /// The span.
    pub context: SpanContext,
    /// Whether its trace is kept there.
    pub sampled: bool,
}

impl RemoteParent {
    /// The span of these ids, as an app knows it by its own OpenTelemetry; none where
    /// one of them is zero.
    #[must_use]
    pub fn new(trace: [u8; 16], span: [u8; 8], sampled: bool) -> Option<Self> {
        let trace = TraceId(NonZeroU128::new(u128::from_be_bytes(trace))?);
        let span = SpanId(NonZeroU64::new(u64::from_be_bytes(span))?);
        Some(Self { context: SpanContext { trace, span, state: None }, sampled })
    }

    /// What `traceparent` and `tracestate` say; none where the first breaks its form.
    /// A second one that does is left out.
    ///
    /// ```
    /// use wharf_core::trace::RemoteParent;
    ///
    /// let said = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    /// let parent = RemoteParent::of_headers(said, None).expect("well formed");
    /// assert_eq!(parent.context.trace.to_string(), "0af7651916cd43dd8448eb211c80319c");
    /// assert!(parent.sampled);
    /// assert_eq!(RemoteParent::of_headers("00-0-0-01", None), None);
    /// ```
    #[must_use]
    pub fn of_headers(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let (parent, more) = traceparent.as_bytes().split_at_checked(PARENT_BYTES)?;
        let mut fields = parent.split(|byte| *byte == b'-');
        let version = hexadecimal(fields.next()?, 2)?;
        let (trace, span) = (hexadecimal(fields.next()?, 32)?, hexadecimal(fields.next()?, 16)?);
        let flags = hexadecimal(fields.next()?, 2)?;
        // Versions to come may say more behind these four.
        let ends = if version == 0 { more.is_empty() } else { more.first().is_none_or(|byte| *byte == b'-') };
        if version == 0xff || fields.next().is_some() || !ends {
            return None;
        }
        let span = SpanId(NonZeroU64::new(u64::try_from(span).ok()?)?);
        let legal = |state: &&str| {
            (1..=MAX_STATE_BYTES).contains(&state.len()) && state.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        };
        let state = tracestate.filter(legal).map(Arc::from);
        let context = SpanContext { trace: TraceId(NonZeroU128::new(trace)?), span, state };
        Some(Self { context, sampled: flags & 1 == 1 })
    }
}

/// A number of exactly so many hexadecimal digits in lower case.
fn hexadecimal(field: &[u8], digits: usize) -> Option<u128> {
    let legal = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if field.len() != digits || !field.iter().all(legal) {
        return None;
    }
    u128::from_str_radix(str::from_utf8(field).ok()?, 16).ok()
}

/// Where something that begins belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceParent {
    /// To a request of this host of which nothing is kept, so neither is this.
    NotKept,
    /// To a span of this host that is kept.
    Span(SpanContext),
    /// To a span of another program.
    Remote(RemoteParent),
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_parent_is_what_the_recommendation_says_or_none() {
        let parent = RemoteParent::of_headers(GOOD, Some("a=1,b=2")).expect("well formed");
        assert_eq!(parent.context.span.to_string(), "b7ad6b7169203331");
        assert_eq!((parent.sampled, parent.context.state.as_deref()), (true, Some("a=1,b=2")));
        let not_kept = GOOD.replace("-01", "-fe");
        assert!(!RemoteParent::of_headers(&not_kept, None).expect("other flags mean nothing").sampled);
        let later = format!("cc{}-what-comes", &GOOD[2..]);
        assert!(RemoteParent::of_headers(&later, None).is_some(), "a version to come");
        for bad in [
            String::new(),
            GOOD[..54].to_owned(),
            format!("{GOOD}0"),
            format!("{GOOD}-00"),
            format!("ff{}", &GOOD[2..]),
            format!("cc{}x", &GOOD[2..]),
            format!("+0{}", &GOOD[2..]),
            GOOD.to_uppercase(),
            GOOD.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            GOOD.replace("b7ad6b7169203331", &"0".repeat(16)),
            GOOD.replace('-', "_"),
            GOOD.replace("b7ad6b7169203331-01", "b7ad6b716920333-001"),
            "é".repeat(28),
            "0".repeat(1 << 20),
        ] {
            assert_eq!(RemoteParent::of_headers(&bad, None), None, "{}", &bad[..bad.len().min(80)]);
        }
    }

    #[test]
    fn a_state_that_is_too_long_or_no_text_is_left_out_and_the_parent_counts() {
        for (state, kept) in [
            ("a=1".to_owned(), true),
            ("x".repeat(MAX_STATE_BYTES), true),
            ("x".repeat(MAX_STATE_BYTES + 1), false),
            (String::new(), false),
            ("a=\u{1b}[31m".to_owned(), false),
            ("a=é".to_owned(), false),
        ] {
            let parent = RemoteParent::of_headers(GOOD, Some(&state)).expect("well formed");
            assert_eq!(parent.context.state.is_some(), kept, "{state:?}");
        }
    }

    #[test]
    fn ids_of_an_app_are_the_ones_that_it_reads_again() {
        let parent = RemoteParent::new([1; 16], [2; 8], true).expect("no zeros");
        assert_eq!((parent.context.trace.to_bytes(), parent.context.span.to_bytes()), ([1; 16], [2; 8]));
        assert_eq!(RemoteParent::new([0; 16], [2; 8], true), None);
        assert_eq!(RemoteParent::new([1; 16], [0; 8], true), None);
    }
}
