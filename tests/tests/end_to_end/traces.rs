//! Spans, as a real collector receives them: what belongs to what, and what is never
//! in them.

mod away;
mod library;
mod parents;

use serde_json::json;
use wharf_tests::{Client, Collected, Collector, Data, Setup, wharf};

/// A client of `wharf serve --stdio` with this configuration.
fn stdio(setup: &Setup) -> (Client, Data) {
    let data = Data::new();
    let config = data.write("wharf.toml", setup.text());
    (Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path())), data)
}

/// The only span of this name.
fn one<'s>(spans: &'s [Collected], name: &str) -> &'s Collected {
    let mut found = spans.iter().filter(|span| span.name == name);
    let span = found.next().unwrap_or_else(|| panic!("no span {name}: {spans:#?}"));
    assert!(found.next().is_none(), "two spans {name}: {spans:#?}");
    span
}

#[test]
fn a_call_over_stdio_is_a_tree_of_spans_without_anything_that_was_said() {
    let collector = Collector::start();
    let setup = Setup::new().state("").processes("programs = [\"true\"]").with_tables(&collector.tables(""));
    let (mut client, data) = stdio(&setup);
    let meta = json!({
        "dev.wharf/sessionId": "s-1", "dev.wharf/assistantId": "helper", "note": "payload-meta",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "vendor=1",
    });
    let arguments = json!({"scope": "session", "key": "payload-key", "value": "payload-value"});
    client.call("hostile__state_put", arguments, meta);
    let arguments = json!({"program": "forbidden", "arguments": ["payload-argument"]});
    client.call("hostile__start_process", arguments, json!({}));
    client.call("hostile__error_answer", json!({"text": "payload-error"}), json!({}));
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");

    let audited = crate::requests::audited(data.path());
    let line = audited.iter().find(|line| line.kind == "call" && line.session == "s-1");
    assert_eq!(line.expect("a line").trace, "0af7651916cd43dd8448eb211c80319c", "{audited:?}");
    let spans = collector.spans();
    let request = one(&spans, "tools/call hostile__state_put");
    assert_eq!((&*request.trace, &*request.parent), ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"));
    assert_eq!(
        (&*request.kind, request.parent_is_remote, request.failed, &*request.state),
        ("Server", true, false, "vendor=1")
    );
    for (key, value) in [
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2025-06-18"),
        ("gen_ai.tool.name", "hostile__state_put"),
        ("gen_ai.operation.name", "execute_tool"),
        ("network.transport", "pipe"),
        ("wharf.tenant", "local"),
        ("error.type", ""),
    ] {
        assert_eq!(request.says(key), value, "{key}: {request:#?}");
    }
    let call = one(&spans, "execute_tool hostile__state_put");
    assert_eq!((&call.trace, &call.parent, &*call.kind), (&request.trace, &request.id, "Internal"));
    assert!(!call.parent_is_remote && !call.failed && call.says("wharf.digest").starts_with("blake3:"), "{call:#?}");
    assert_eq!(
        [call.says("wharf.plugin"), call.says("wharf.session"), call.says("wharf.assistant")],
        ["hostile", "s-1", "helper"]
    );
    assert_eq!([call.says("wharf.outcome"), call.says("gen_ai.operation.name")], ["ok", ""], "counted once");
    let applied = one(&spans, "state.bucket.apply");
    assert_eq!((&applied.trace, &applied.parent, &*applied.kind), (&call.trace, &call.id, "Internal"));
    assert_eq!([applied.says("wharf.capability"), applied.says("wharf.outcome")], ["state", "ok"]);
    assert!(applied.says("wharf.asked").starts_with("session/"), "{applied:#?}");
    assert_eq!(applied.says("wharf.bytes_in"), ("payload-key".len() + "payload-value".len()).to_string());
    assert!(request.times.0 <= call.times.0 && call.times.1 <= request.times.1, "{request:#?} {call:#?}");

    let denied = one(&spans, "process.spawn");
    assert!(denied.failed && denied.says("error.type") == "denied" && denied.says("wharf.asked") == "forbidden");
    assert_eq!(denied.parent, one(&spans, "execute_tool hostile__start_process").id);
    let own = one(&spans, "tools/call hostile__start_process");
    assert!(own.parent.is_empty() && own.trace != request.trace, "{own:#?}");
    for name in ["tools/call hostile__error_answer", "execute_tool hostile__error_answer"] {
        let failed = one(&spans, name);
        assert!(failed.failed && failed.says("error.type") == "tool_error", "{failed:#?}");
    }
    assert_eq!(one(&spans, "initialize").kind, "Server");
    assert!(spans.iter().all(|span| span.resource["service.name"] == "wharf"), "{spans:#?}");
    assert!(!collector.text().contains("payload"), "no argument, no answer, no key");
}

#[tokio::test]
async fn what_a_call_asks_for_without_end_is_counted_and_not_told() {
    let collector = Collector::start();
    let setup = Setup::new()
        .limit("host_calls", 2_000)
        .with_tables(&collector.tables(""))
        .with_tables("[audit]\nhost_calls = false");
    let fixture = setup.open().await;
    fixture.call("hostile__host_calls", json!({"count": 1_000})).await.expect("called");
    fixture.host.shut_down(std::time::Duration::ZERO).await;
    let spans = collector.wait_for("execute_tool hostile__host_calls");
    let call = one(&spans, "execute_tool hostile__host_calls");
    let told = spans.iter().filter(|span| span.parent == call.id).count();
    assert_eq!((told, call.says("wharf.host_calls.dropped")), (256, "744"), "{call:#?}");
    assert_eq!(call.says("gen_ai.operation.name"), "execute_tool", "there is no request that says so");
}

#[tokio::test]
async fn a_plugin_that_comes_and_changes_while_the_host_serves_has_spans() {
    let collector = Collector::start();
    let fixture = Setup::new().with_tables(&collector.tables("")).open().await;
    let spec = |component| wharf::PluginSpec::new("late".parse().expect("legal"), component);
    fixture.host.load_plugin(spec(super::plugins::saying(true))).await.expect("loads");
    fixture.host.replace_plugin(spec(super::plugins::saying(false))).await.expect("replaced");
    fixture.host.unload_plugin(&"late".parse().expect("legal")).expect("unloaded");
    fixture.host.shut_down(std::time::Duration::ZERO).await;
    let spans = collector.wait_for("plugin unloaded");
    let (loaded, replaced) = (one(&spans, "plugin loaded"), one(&spans, "plugin replaced"));
    assert_eq!([loaded.says("wharf.plugin"), replaced.says("wharf.plugin")], ["late"; 2]);
    assert_ne!(loaded.says("wharf.digest"), replaced.says("wharf.digest"));
    assert!(loaded.times.1 > loaded.times.0 && replaced.times.1 > replaced.times.0, "compiling takes its time");
}
