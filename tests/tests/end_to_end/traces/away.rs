//! A collector that is away, hangs or refuses: calls go on, spans are dropped and
//! counted, and the end comes in time.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use serde_json::json;
use wharf_tests::{Collector, Setup, Upstream, blocking, until};

use super::stdio;

/// How long the host tries to send the same spans; a shorter wait did not wait for that.
const SENDING: Duration = Duration::from_secs(10);

fn to(authority: &str) -> Setup {
    Setup::new().with_tables(&format!("[traces]\nendpoint = \"http://{authority}/v1/traces\""))
}

/// An address of this machine at which nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

#[tokio::test]
async fn spans_for_a_collector_that_is_away_are_dropped_counted_and_complained_of_once() {
    let authority = nobody();
    let fixture = to(&authority).open().await;
    let dropped = || {
        let metrics = fixture.host.metrics();
        let line = metrics.lines().find_map(|line| line.strip_prefix("wharf_spans_dropped_total "));
        line.and_then(|number| number.parse::<u64>().ok()).unwrap_or_else(|| panic!("{metrics}"))
    };
    fixture.works().await;
    until("spans were dropped", || dropped() > 0).await;
    let before = dropped();
    fixture.works().await;
    until("further spans were dropped", || dropped() > before).await;
    assert!(fixture.host.metrics().contains("wharf_spans_sent_total 0"), "{}", fixture.host.metrics());

    // What a log says of it, only the command shows.
    let (mut client, _data) = stdio(&to(&authority));
    for _ in 0..5 {
        let answer = client.call("echo__echo", json!({"text": "yes"}), json!({}));
        assert_eq!(answer["content"][0]["text"], "yes");
    }
    let (_, log, code) = client.leave();
    assert_eq!((code, log.matches("spans cannot be sent").count()), (Some(0), 1), "{log}");
}

#[test]
fn a_collector_that_hangs_slows_no_call_and_the_end_does_not_wait_for_it() {
    let upstream = Upstream::start(|_, connection| {
        // Until the host goes.
        let _ = std::io::copy(connection, &mut std::io::sink());
    });
    let (mut client, _data) = stdio(&to(&upstream.authority()));
    blocking::until("something is sent", || {
        client.call("echo__echo", json!({"text": "yes"}), json!({}));
        !upstream.asked().is_empty()
    });
    // Now the sender hangs.
    let began = Instant::now();
    for _ in 0..100 {
        client.call("echo__echo", json!({"text": "yes"}), json!({}));
    }
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    assert!(began.elapsed() < SENDING, "it waited for its collector: {:?}", began.elapsed());
    assert_eq!(upstream.asked().len(), 1, "one connection at a time");
}

#[tokio::test]
async fn the_collector_gets_its_secret_and_nobody_else_does() {
    let (collector, elsewhere) = (Collector::start(), Collector::start());
    let data = wharf_tests::Data::new();
    let file = data.write_private("collector", "hunter2hunter2\n");
    let header = format!("[traces.headers.token]\nheader = \"Authorization: Bearer {{}}\"\nfile = {file:?}");
    let fixture = Setup::new().with_tables(&collector.tables(&header)).open().await;
    fixture.host.shut_down(Duration::ZERO).await;
    let heads = collector.heads();
    assert!(!heads.is_empty() && heads.iter().all(|head| head.contains("Bearer hunter2hunter2")), "{heads:?}");
    assert!(!collector.text().contains("hunter2") && !fixture.host.metrics().contains("hunter2"));

    // A redirect would lead it elsewhere.
    let place = elsewhere.tables("").split('"').nth(1).expect("an address").to_owned();
    let leading = Upstream::start(move |_, connection| {
        let head = format!("HTTP/1.1 302 Found\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n");
        let _ = std::io::Write::write_all(connection, head.as_bytes());
    });
    let tables = format!("[traces]\nendpoint = \"http://{}/v1/traces\"\n{header}", leading.authority());
    let fixture = Setup::new().with_tables(&tables).open().await;
    fixture.host.shut_down(Duration::ZERO).await;
    assert!(!leading.asked().is_empty() && elsewhere.heads().is_empty(), "{:?}", elsewhere.heads());

    let missing = "[traces.headers.token]\nheader = \"Authorization: Bearer {}\"\nenvironment = \"WHARF_TEST_UNSET\"";
    let configuration = Setup::new().with_tables(&collector.tables(missing)).configuration();
    let refused = wharf::Host::builder(configuration).open().await.expect_err("there is no secret");
    let refused = wharf::with_causes(&refused);
    assert!(refused.contains("[traces.headers.token]") && refused.contains("WHARF_TEST_UNSET"), "{refused}");
}
