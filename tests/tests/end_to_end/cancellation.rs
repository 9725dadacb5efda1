//! Calls that are taken back: they end at once wherever they stand, and leave
//! nothing.

use serde_json::{Value, json};
use wharf::Code;
use wharf_tests::{Client, Data, Fixture, Running, Setup, context, until, wharf};

/// A tool, and the arguments that make it endless.
type Endless = (&'static str, fn() -> Value);

/// Calls that would take for ever, each standing somewhere else.
const ENDLESS: [Endless; 4] = [
    ("hostile__spin", || json!({})),
    ("hostile__sleep_forever", || json!({})),
    ("hostile__state_write", || json!({"count": 90_000, "bytes": 100})),
    ("hostile__host_calls", || json!({"count": 4_000_000_000_u64})),
];

async fn open() -> Fixture {
    // No other limit ends them before a test's patience does.
    let long = |setup: Setup, limit: &str| setup.limit(limit, 600_000);
    let setup = long(long(Setup::new(), "cpu_time_milliseconds"), "wall_time_milliseconds");
    setup.limit("host_calls", 100_000_000).limit("host_call_total_bytes", 4 << 30).state("").open().await
}

/// Starts one and lets it come to where it stands.
async fn started(fixture: &Fixture, tool: &str, arguments: Value) -> Running {
    let call = fixture.start(&context("local", "endless"), tool, arguments);
    fixture.load_is(1, 0).await;
    // Ordinary calls beside it: by now it is in the middle of its work.
    for _ in 0..20 {
        fixture.works().await;
    }
    call
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_ends_wherever_it_stands() {
    let fixture = open().await;
    for (tool, arguments) in ENDLESS {
        let call = started(&fixture, tool, arguments()).await;
        call.cancel.cancel();
        let error = call.outcome().await.expect_err(tool);
        assert_eq!(error.code, Code::Cancelled, "{tool}: {error}");
        fixture.load_is(0, 0).await;
        fixture.works().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_call_ends_wherever_it_stands() {
    let fixture = open().await;
    for (tool, arguments) in ENDLESS {
        started(&fixture, tool, arguments()).await.drop_it().await;
        // The future is gone, and its place with it.
        assert_eq!(fixture.host.load(), (0, 0), "{tool}");
        fixture.works().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_call_gives_up_its_turn() {
    let fixture = Setup::new().host_limit("calls_in_flight", 1).open().await;
    let running = fixture.start(&context("local", "a"), "hostile__sleep_forever", json!({}));
    fixture.load_is(1, 0).await;
    let cancelled = fixture.start(&context("local", "b"), "echo__echo", json!({"text": "b"}));
    let dropped = fixture.start(&context("local", "c"), "echo__echo", json!({"text": "c"}));
    fixture.load_is(1, 2).await;
    cancelled.cancel.cancel();
    assert_eq!(cancelled.outcome().await.expect_err("cancelled").code, Code::Cancelled);
    dropped.drop_it().await;
    let last = fixture.start(&context("local", "d"), "echo__echo", json!({"text": "d"}));
    running.cancel.cancel();
    last.outcome().await.expect("its turn came");
    fixture.load_is(0, 0).await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_starts_does_not_run() {
    let fixture = Setup::new().state("").open().await;
    let put = wharf_tests::object(json!({"scope": "session", "key": "k", "value": "v"}));
    let request = wharf::CallRequest::new(context("local", "test"), "hostile__state_put", put);
    request.caller.cancel.cancel();
    let error = fixture.host.call(request).await.expect_err("cancelled");
    assert_eq!(error.code, Code::Cancelled, "{error}");
    let report = wharf_tests::found(fixture.call("hostile__state_get", json!({"scope": "session", "key": "k"})).await);
    assert_eq!(report["value"], json!(null), "it ran all the same");
    assert_eq!(fixture.host.load(), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_dropped_and_cancelled_calls_leave_no_place_taken() {
    let fixture = open().await;
    for batch in 0..10 {
        let calls: Vec<_> = (0..100)
            .map(|index| {
                let (tool, arguments) = ENDLESS[index % ENDLESS.len()];
                let session = format!("session-{}", index % 7);
                fixture.start(&context("local", &session), tool, arguments())
            })
            .collect();
        until("some run", || fixture.host.load().0 >= 32).await;
        for (index, call) in calls.into_iter().enumerate() {
            if (index + batch) % 2 == 0 {
                call.drop_it().await;
            } else {
                call.cancel.cancel();
                assert_eq!(call.outcome().await.expect_err("endless").code, Code::Cancelled);
            }
        }
        fixture.load_is(0, 0).await;
    }
    fixture.works().await;
}

fn resident_bytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("the process lives");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a resident size");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") << 10
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_calls_that_a_client_cancelled_leave_no_memory_behind() {
    let data = Data::new();
    let config = data.write("wharf.toml", Setup::new().text());
    let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()));
    let cancel_100 = |client: &mut Client| {
        let ids: Vec<_> = (0..100)
            .map(|index| {
                let tool = ["hostile__spin", "hostile__sleep_forever"][index % 2];
                client.ask("tools/call", json!({"name": tool, "arguments": {}}))
            })
            .collect();
        for id in ids {
            client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
        }
        // Where a cancelled call kept its place, this would wait for ever.
        let answer = client.call("echo__echo", json!({"text": "next"}), json!({}));
        assert_eq!(answer["content"][0]["text"], "next");
    };
    for _ in 0..3 {
        cancel_100(&mut client);
    }
    let before = resident_bytes(client.id());
    for _ in 0..10 {
        cancel_100(&mut client);
    }
    let after = resident_bytes(client.id());
    // A thousand instances that stayed would be tens of MiB.
    assert!(after < before + (8 << 20), "{before} bytes before, {after} after");
    let (lines, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    // A cancelled request is not answered.
    assert!(lines.iter().all(|line| !line.contains("forged")));
}
