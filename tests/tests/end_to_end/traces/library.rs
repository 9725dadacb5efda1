//! Apps with hosts of their own: nothing is global, and an app may take the spans.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::json;
use wharf::{
    CallRequest, Caller, Host,
    trace::{RemoteParent, Span, SpanSink, TraceParent},
};
use wharf_tests::{Collector, Setup, context, object};

#[derive(Default)]
struct Spans(Mutex<Vec<Span>>);

impl SpanSink for Spans {
    fn span(&self, span: Span) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(span);
    }
}

impl Spans {
    fn names(&self) -> Vec<String> {
        let spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spans.iter().map(|span| span.name().to_owned()).collect()
    }
}

#[tokio::test]
async fn two_hosts_in_one_process_trace_each_to_its_own_collector() {
    let (first, second) = (Collector::start(), Collector::start());
    let one = Setup::new().with_tables(&first.tables("service = \"one\"")).open().await;
    let other = Setup::new().with_tables(&second.tables("service = \"other\"")).open().await;
    let untraced = Setup::new().open().await;
    one.call("echo__echo", json!({"text": "yes"})).await.expect("answers");
    other.call("hostile__remaining", json!({"milliseconds": 0})).await.ok();
    assert!(!untraced.host.metrics().contains("wharf_spans"), "nobody traces there");
    one.host.shut_down(Duration::ZERO).await;
    other.host.shut_down(Duration::ZERO).await;
    let instance = |collector: &Collector, service: &str| {
        let spans = collector.spans();
        assert!(!spans.is_empty() && spans.iter().all(|span| span.resource["service.name"] == service), "{spans:#?}");
        let instance = spans[0].resource["service.instance.id"].clone();
        assert!(
            spans
                .iter()
                .filter(|span| span.name.starts_with("execute_tool"))
                .all(|span| { span.says("wharf.call").starts_with(&instance) })
        );
        instance
    };
    assert_ne!(instance(&first, "one"), instance(&second, "other"));
}

#[tokio::test]
async fn an_app_takes_the_spans_of_its_host_below_spans_of_its_own() {
    let (spans, others) = (Arc::new(Spans::default()), Arc::new(Spans::default()));
    let configuration = Setup::new().state("").configuration();
    let host = Host::builder(configuration.clone()).traces(spans.clone()).open().await.expect("opens");
    let other = Host::builder(configuration).traces(others.clone()).open().await.expect("opens");
    let arguments = json!({"scope": "session", "key": "payload", "value": "payload"});
    let mut caller = Caller::new(context("local", "s"));
    caller.trace = RemoteParent::new([1; 16], [2; 8], true).map(TraceParent::Remote);
    host.call(CallRequest::of(caller, "hostile__state_put", object(arguments))).await.expect("written");
    assert_eq!(
        spans.names(),
        ["state.bucket.open", "state.bucket.apply", "execute_tool hostile__state_put"],
        "each after those below it"
    );
    let spans = spans.0.lock().expect("not poisoned");
    let call = spans.last().expect("the call");
    let parent = call.parent.expect("the app's");
    assert_eq!((call.context.trace.to_bytes(), parent.id.to_bytes(), parent.is_remote), ([1; 16], [2; 8], true));
    assert!(spans[..2].iter().all(|span| span.parent.is_some_and(|parent| parent.id == call.context.span)));
    assert!(!format!("{spans:?}").contains("payload"), "{spans:?}");
    assert!(others.names().is_empty(), "that host did nothing");
    drop(other);
}

#[tokio::test]
async fn a_call_that_is_given_up_ends_its_span_and_those_below_it() {
    let spans = Arc::new(Spans::default());
    let configuration = Setup::new().limit("wall_time_milliseconds", 60_000).configuration();
    let host = Host::builder(configuration).traces(spans.clone()).open().await.expect("opens");
    let request = CallRequest::new(context("local", "s"), "hostile__sleep", object(json!({"milliseconds": 50_000})));
    let calling = tokio::spawn({
        let host = host.clone();
        async move { host.call(request).await }
    });
    wharf_tests::until("it runs", || host.load() == (1, 0)).await;
    calling.abort();
    wharf_tests::until("it has ended", || !spans.names().is_empty()).await;
    let spans = spans.0.lock().expect("not poisoned");
    let call = spans.iter().find(|span| span.name() == "execute_tool hostile__sleep").expect("the call");
    assert!(call.failed, "{call:?}");
}
