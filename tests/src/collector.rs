//! A collector of spans on a port of this machine: it takes OTLP over HTTP as a real
//! one does, and keeps every byte and every span that came.

use std::{
    collections::BTreeMap,
    io::Read as _,
    net::TcpStream,
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{ResourceSpans, status::StatusCode},
};
use prost::Message as _;

use crate::{AMPLE, Upstream};

/// Bits of a span's flags: whether it is said where the parent is, and that it is elsewhere.
const IS_REMOTE: [u32; 2] = [0x100, 0x200];

/// A span as it came.
#[derive(Debug, Clone)]
pub struct Collected {
    /// Its trace, in hexadecimal digits.
    pub trace: String,
    /// Its id, in hexadecimal digits.
    pub id: String,
    /// What it belongs to; empty where a trace begins with it.
    pub parent: String,
    /// Whether that is somebody else's.
    pub parent_is_remote: bool,
    /// What systems on the way wrote of the trace.
    pub state: String,
    /// Its name.
    pub name: String,
    /// `Server`, `Client` or `Internal`.
    pub kind: String,
    /// Whether it failed.
    pub failed: bool,
    /// When it began, and when it ended, in nanoseconds since 1970.
    pub times: (u64, u64),
    /// What it says.
    pub attributes: BTreeMap<String, String>,
    /// What its host says of itself.
    pub resource: BTreeMap<String, String>,
}

impl Collected {
    /// What an attribute says; nothing where there is none.
    #[must_use]
    pub fn says(&self, key: &str) -> &str {
        self.attributes.get(key).map_or("", String::as_str)
    }
}

#[derive(Debug, Default)]
struct Kept {
    spans: Vec<Collected>,
    bytes: Vec<u8>,
}

/// The collector. It ends with the test.
#[derive(Debug)]
pub struct Collector {
    upstream: Upstream,
    kept: Arc<(Mutex<Kept>, Condvar)>,
}

impl Collector {
    /// Takes spans on a free port.
    ///
    /// # Panics
    /// Where the system gives no port.
    #[must_use]
    pub fn start() -> Self {
        let kept: Arc<(Mutex<Kept>, Condvar)> = Arc::default();
        let keeping = Arc::clone(&kept);
        let upstream = Upstream::start(move |head, connection| {
            let body = body(head, connection);
            let request = ExportTraceServiceRequest::decode(&*body).expect("spans");
            let (kept, came) = &*keeping;
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.bytes.extend_from_slice(&body);
            kept.spans.extend(request.resource_spans.iter().flat_map(collected));
            came.notify_all();
            drop(kept);
            Upstream::send(connection, "content-type: application/x-protobuf\r\n", &[]);
        });
        Self { upstream, kept }
    }

    /// The tables of `wharf.toml` that send spans here, with further lines.
    #[must_use]
    pub fn tables(&self, lines: &str) -> String {
        format!("[traces]\nendpoint = \"http://{}/v1/traces\"\n{lines}", self.upstream.authority())
    }

    /// The heads of the requests that came.
    #[must_use]
    pub fn heads(&self) -> Vec<String> {
        self.upstream.asked()
    }

    /// All that came so far.
    #[must_use]
    pub fn spans(&self) -> Vec<Collected> {
        self.kept.0.lock().unwrap_or_else(PoisonError::into_inner).spans.clone()
    }

    /// Every byte that came so far, as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept.0.lock().unwrap_or_else(PoisonError::into_inner).bytes).into_owned()
    }

    /// Waits until a span of this name has come: all that came until then.
    ///
    /// # Panics
    /// Where none comes.
    #[must_use]
    pub fn wait_for(&self, name: &str) -> Vec<Collected> {
        let (kept, came) = &*self.kept;
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_missing = |kept: &mut Kept| kept.spans.iter().all(|span| span.name != name);
        let (kept, waited) = came.wait_timeout_while(kept, AMPLE, is_missing).unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "no span {name}: {:#?}", kept.spans);
        kept.spans.clone()
    }
}

fn body(head: &str, connection: &mut TcpStream) -> Vec<u8> {
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().expect("a number"))
    });
    let mut body = vec![0; length.expect("a length")];
    connection.read_exact(&mut body).expect("a body");
    body
}

fn collected(sent: &ResourceSpans) -> Vec<Collected> {
    let resource = sent.resource.as_ref().map(|resource| words(&resource.attributes)).unwrap_or_default();
    let spans = sent.scope_spans.iter().flat_map(|scope| &scope.spans);
    let one = |span: &opentelemetry_proto::tonic::trace::v1::Span| Collected {
        trace: digits(&span.trace_id),
        id: digits(&span.span_id),
        parent: digits(&span.parent_span_id),
        parent_is_remote: IS_REMOTE.iter().all(|flag| span.flags & flag != 0),
        state: span.trace_state.clone(),
        name: span.name.clone(),
        kind: format!("{:?}", span.kind()),
        failed: span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error),
        times: (span.start_time_unix_nano, span.end_time_unix_nano),
        attributes: words(&span.attributes),
        resource: resource.clone(),
    };
    spans.map(one).collect()
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn words(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let word = |attribute: &KeyValue| {
        let value = match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
            Some(Value::StringValue(text)) => text.clone(),
            Some(Value::IntValue(number)) => number.to_string(),
            other => panic!("no word: {other:?}"),
        };
        (attribute.key.clone(), value)
    };
    attributes.iter().map(word).collect()
}
