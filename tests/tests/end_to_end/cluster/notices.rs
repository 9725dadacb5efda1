//! Changes that a plugin tells at one host, heard by clients of another one.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wharf_test_support::nats::NatsServer;
use wharf_tests::{
    blocking,
    cluster::{Cluster, ClusterHost},
    component,
    link::{Destination, Link, Passage},
    replied,
};

use super::{READ, TABLES, read, wrote};
use crate::tenants::heard::Heard;

const WATCHED: &str = "test://watched-resource";

/// Hosts of a plugin that tells of changes.
pub(super) fn telling(further: &str) -> Option<Cluster> {
    let component = component("guest-conformance");
    Cluster::new(&format!(
        "{TABLES}[plugin.conformance]\nsource = {:?}\n[plugin.conformance.grants.events]\nreason = \"a test\"\n{further}",
        component.to_str().expect("text")
    ))
}

/// A session of the older era at a host.
pub(super) struct Session<'h> {
    host: &'h ClusterHost,
    id: String,
}

impl<'h> Session<'h> {
    pub(super) fn begin(host: &'h ClusterHost) -> Self {
        Self { host, id: host.server.handshake().expect("a session") }
    }

    fn say(&self, method: &str, parameters: &Value) {
        let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        message["params"]["_meta"] = json!({"dev.wharf/sessionId": "s"});
        let told = replied(self.host.server.say(&self.id, &message)).message();
        assert!(told["result"].is_object() && told["result"]["isError"] != true, "{method}: {told}");
    }

    fn trigger(&self, what: &str) {
        self.say("tools/call", &json!({"name": format!("conformance__test_trigger_{what}"), "arguments": {}}));
    }

    pub(super) fn watch(&self) -> Heard {
        self.say("resources/subscribe", &json!({"uri": WATCHED}));
        Heard::new(self.host.server.listen(&self.id))
    }
}

/// What a plugin tells, and what clients hear then.
const TOLD: [(&str, &str); 4] = [
    ("resource_update", "resources/updated"),
    ("prompt_change", "prompts/list_changed"),
    ("resource_change", "resources/list_changed"),
    ("tool_change", "tools/list_changed"),
];

/// What is told at one host is heard at the other, however it gets there.
#[track_caller]
pub(super) fn is_heard(teller: &Session<'_>, heard: &mut Heard) {
    for (what, method) in TOLD {
        teller.trigger(what);
        assert_eq!(heard.method(), format!("notifications/{method}"));
    }
}

/// The same where more may be heard: that something was missed is told once more.
fn is_heard_among(teller: &Session<'_>, heard: &mut Heard) {
    for (what, method) in TOLD {
        teller.trigger(what);
        while heard.method() != format!("notifications/{method}") {}
    }
}

/// Has each host pass a call on to the other, so that it knows it, and has the plugin ready at
/// both: its tools are no news then.
#[track_caller]
pub(super) fn ready([one, two]: [&ClusterHost; 2]) {
    for (home, other) in [(one, two), (two, one)] {
        wrote(home, &home.name, "at home");
        let _ = other.called(&home.name, READ, &read());
        let _ = home.called("s", "conformance__test_simple_text", &json!({}));
    }
}

#[test]
fn a_client_hears_what_a_plugin_tells_at_another_host() {
    let Some(cluster) = telling("") else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    ready([&one, &two]);
    let (teller, listener) = (Session::begin(&one), Session::begin(&two));
    let mut heard = listener.watch();
    is_heard(&teller, &mut heard);
    // Both ways.
    let mut back = Session::begin(&one).watch();
    is_heard(&listener, &mut back);
}

#[test]
fn notices_go_over_nats_while_it_answers_and_from_host_to_host_while_it_does_not() {
    let Some(mut nats) = NatsServer::start() else { return };
    let Some(cluster) = telling(&nats.table()) else { return };
    let prepared = |name: &str| {
        let data = cluster.prepare(name, &cluster.authority, wharf_tests::Holds::Now);
        nats.prepare(data.path());
        cluster.host_in(name, data)
    };
    let (one, two) = (prepared("one"), prepared("two"));
    ready([&one, &two]);
    for host in [&one, &two] {
        host.server.until_logged("NATS carries the notices");
    }
    let doctor = one.command(&["doctor", "--cluster"]).run();
    assert!(doctor.out.contains("hosts hear of changes over it"), "{doctor:?}");

    let (teller, listener) = (Session::begin(&one), Session::begin(&two));
    let mut heard = listener.watch();
    let before = nats.messages();
    is_heard(&teller, &mut heard);
    assert!(nats.messages() > before, "it carries them");

    nats.kill();
    for host in [&one, &two] {
        host.server.until_logged("NATS does not answer");
    }
    is_heard(&teller, &mut heard);
    let doctor = one.command(&["doctor", "--cluster"]).run();
    assert!(doctor.out.contains("no server of [cluster.nats]"), "{doctor:?}");

    nats.resume();
    blocking::until("it carries notices again", || {
        let before = nats.messages();
        // What the first host publishes before the other one listens again is missed.
        is_heard_among(&teller, &mut heard);
        (nats.messages() > before).then_some(()).ok_or("from host to host")
    });
}

/// A way that takes everything and brings nothing: at first nobody knows that NATS is lost.
#[test]
fn news_are_heard_while_the_way_to_nats_is_silent() {
    let Some(nats) = NatsServer::start() else { return };
    let link = Link::to(Destination::Tcp(nats.address()));
    let Some(cluster) = telling(&nats.table_at(link.address())) else { return };
    let [one, two] = ["one", "two"].map(|name| {
        let data = cluster.prepare(name, &cluster.authority, wharf_tests::Holds::Now);
        nats.prepare(data.path());
        cluster.host_in(name, data)
    });
    ready([&one, &two]);
    for host in [&one, &two] {
        host.server.until_logged("NATS carries the notices");
    }
    let (teller, listener) = (Session::begin(&one), Session::begin(&two));
    let mut heard = listener.watch();
    is_heard(&teller, &mut heard);

    link.set(Passage::Silent);
    // The count in the database tells that something was missed, and so it may be anything.
    teller.trigger("resource_update");
    let mut of_missed = BTreeSet::new();
    while of_missed.len() < 4 {
        of_missed.insert(heard.method());
    }
    for host in [&one, &two] {
        host.server.until_logged("NATS does not answer");
    }
    is_heard_among(&teller, &mut heard);

    link.set(Passage::Open);
    blocking::until("NATS carries them again", || {
        let before = nats.messages();
        is_heard_among(&teller, &mut heard);
        (nats.messages() > before).then_some(()).ok_or("from host to host")
    });
}

#[test]
fn a_login_that_nats_does_not_know_keeps_no_host_from_serving() {
    let Some(nats) = NatsServer::start() else { return };
    let Some(cluster) = telling(&nats.table()) else { return };
    let data = cluster.prepare("one", &cluster.authority, wharf_tests::Holds::Now);
    nats.prepare(data.path());
    data.write_private("nats-login", "another");
    let one = cluster.host_in("one", data);
    let _ = one.called("s", "conformance__test_simple_text", &json!({}));
    let listener = Session::begin(&one);
    let mut heard = listener.watch();
    is_heard(&listener, &mut heard);
    assert!(!one.server.log().contains("NATS carries"), "{}", one.server.log());

    let data = cluster.prepare("two", &cluster.authority, wharf_tests::Holds::Now);
    nats.prepare(data.path());
    std::fs::remove_file(data.path().join("nats-login")).expect("removed");
    let token = data.path().join("http-token").display().to_string();
    let serve = ["serve", "--http", "127.0.0.1:0", "--http-token-file", &token];
    let refused = wharf_tests::wharf(serve).config(&data.path().join("wharf.toml")).data(data.path()).run();
    assert!(refused.code != Some(0) && refused.err.contains("nats-login"), "{refused:?}");
}
