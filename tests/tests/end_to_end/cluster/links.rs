//! Hosts that do not reach each other, while the database says that both live.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_tests::{
    blocking,
    cluster::{Cluster, ClusterHost, Network},
    component,
    link::Passage,
};

use super::{LONG, POLL, READ, TABLES, all_the_while, cluster, nobody_is_dead, poll, read, started, wrote};
use crate::http_mcp::ask_modern;

/// Longer than a host may refuse connections whose beat stands still, where only two live.
const BRIEF: Duration = Duration::from_secs(5);

#[track_caller]
fn until_reached(host: &ClusterHost, session: &str, process: &Value) {
    blocking::until("the other host is reached again", || match host.code(session, POLL, &poll(process)) {
        None => Ok(()),
        code => Err(format!("{code:?}")),
    });
}

#[test]
fn hosts_that_do_not_reach_each_other_say_so_and_nobody_is_dead() {
    let Some(cluster) = cluster() else { return };
    let Some(network) = Network::of(["one", "two", "three"]) else { return };
    let [one, two, three] = ["one", "two", "three"].map(|name| network.host(&cluster, name));
    let (of_one, of_two) = (started(&one, "s", "sleep 1000"), started(&two, "t", "sleep 1000"));
    let ways = [(Passage::Refused, BRIEF), (Passage::Reset, BRIEF), (Passage::OneWay, BRIEF), (Passage::Silent, LONG)];
    for (passage, time) in ways {
        for (host, session, process) in [(&two, "s", &of_one), (&one, "t", &of_two)] {
            until_reached(host, session, process);
        }
        network.set_between("one", "two", passage);
        all_the_while(time, || {
            for (host, session, process) in [(&two, "s", &of_one), (&one, "t", &of_two)] {
                let code = host.code(session, POLL, &poll(process));
                assert_eq!(code.as_deref(), Some("unavailable"), "{passage:?}: {}", host.server.log());
                assert_eq!(three.code(session, POLL, &poll(process)), None, "{passage:?}: the third reaches both");
                let _ = host.called(session, "planning__list_goals", &json!({}));
            }
            nobody_is_dead(&three);
        });
        network.set_between("one", "two", Passage::Open);
    }
    until_reached(&two, "s", &of_one);
    until_reached(&one, "t", &of_two);
}

#[test]
fn a_host_that_refuses_the_only_other_one_is_not_dead_while_it_beats() {
    let Some(cluster) = cluster() else { return };
    let Some(network) = Network::of(["one", "two"]) else { return };
    let (one, two) = (network.host(&cluster, "one"), network.host(&cluster, "two"));
    let process = started(&one, "s", "sleep 1000");
    until_reached(&two, "s", &process);
    network.link("two", "one").set(Passage::Refused);
    all_the_while(BRIEF, || {
        let code = two.code("s", POLL, &poll(&process));
        assert_eq!(code.as_deref(), Some("unavailable"), "{}", two.server.log());
    });
    assert_eq!(one.code("s", POLL, &poll(&process)), None);
    network.link("two", "one").set(Passage::Open);
    until_reached(&two, "s", &process);
}

#[test]
fn a_call_over_a_slow_way_arrives_with_its_progress() {
    let component = component("guest-conformance");
    // It needs a home, since it is granted files.
    let Some(cluster) = Cluster::new(&format!(
        "{TABLES}[plugin.conformance]\nsource = {:?}\n[plugin.conformance.grants]\n\
         workspace = {{ reason = \"a test\" }}\nevents = {{ reason = \"a test\" }}\n",
        component.to_str().expect("text")
    )) else {
        return;
    };
    let Some(network) = Network::of(["one", "two"]) else { return };
    let (one, two) = (network.host(&cluster, "one"), network.host(&cluster, "two"));
    wrote(&one, "s", "at home");
    let _ = two.called("s", READ, &read());
    let late = Duration::from_millis(100);
    network.set_between("one", "two", Passage::Slow(late));
    let began = Instant::now();
    let meta = json!({"dev.wharf/sessionId": "s", "progressToken": "slow"});
    let params = json!({"name": "conformance__test_tool_with_progress", "arguments": {}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let reply = ask_modern(&two.server, call);
    assert!(began.elapsed() >= late * 2, "it has gone another way: {:?}", began.elapsed());
    assert_eq!(reply.body.matches("notifications/progress").count(), 3, "{reply:?}");
    assert_eq!(reply.message()["result"]["content"][0]["text"], "The progress was told.", "{reply:?}");
}
