//! The dashboard of the book, whose questions a real Prometheus answers that reads a real host.

use serde_json::{Value, json};
use wharf_tests::{Data, Server, blocking, prometheus::Prometheus, replied};

/// The metrics that a question names.
fn named(question: &str) -> Vec<&str> {
    let words = question.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("wharf_")).collect()
}

#[test]
fn a_real_prometheus_answers_what_each_panel_of_the_dashboard_asks() {
    let data = Data::new();
    data.write("wharf.toml", "profile = \"developer\"\n");
    let host = Server::start_in(data, &[]);
    let Some(prometheus) = Prometheus::reading(&host) else { return };
    let headers = host.handshake().expect("a session");
    let call = json!({"name": "planning__create_goal", "arguments": {"goal": "Ship it"}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    assert_eq!(replied(host.say(&headers, &call)).status, 200);
    blocking::until("it has read the host", || match prometheus.ask("up == 1 and on(instance) wharf_calls_total") {
        Ok(found) if !found.is_empty() => Ok(()),
        other => Err(format!("{other:?}")),
    });

    let of_book = |file: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/operating/");
        std::fs::read_to_string(format!("{folder}{file}")).expect("it is there")
    };
    let (dashboard, book) = (of_book("grafana.json"), of_book("metrics.md"));
    let dashboard: Value = serde_json::from_str(&dashboard).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("a list");
    assert!(panels.len() > 15, "{}", panels.len());
    let exposed = host.ask("GET", "/metrics", "s", None).body;
    for panel in panels {
        for target in panel["targets"].as_array().expect("a list") {
            let question = target["expr"].as_str().expect("a text").replace("$__rate_interval", "1m");
            prometheus.ask(&question).unwrap_or_else(|why| panic!("{}: {question}: {why:?}", panel["title"]));
            for metric in named(&question) {
                let base = ["_total", "_bucket"].iter().find_map(|end| metric.strip_suffix(end)).unwrap_or(metric);
                // What has not happened yet is not exposed; the book says that it is there.
                let is_known = exposed.contains(&format!("# TYPE {base} ")) || book.contains(&format!("`{metric}`"));
                assert!(is_known, "no host exposes {metric}:\n{exposed}");
            }
        }
    }
    let calls = prometheus.ask("sum(wharf_calls_total{tool=\"create_goal\"})").expect("it answers");
    assert_eq!(calls[0]["value"][1], "1", "{calls:?}");
}
