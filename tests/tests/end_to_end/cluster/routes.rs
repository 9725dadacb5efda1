//! What is asked over HTTP about something that another host has.

use serde_json::{Value, json};
use wharf_tests::{
    Reply, blocking,
    cluster::{Cluster, ClusterHost},
    replied,
};

use super::{TABLES, cluster};

pub(super) fn call(tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"dev.wharf/sessionId": "s"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

pub(super) fn said(host: &ClusterHost, session: &str, message: &Value) -> Reply {
    replied(host.server.say(session, message))
}

#[test]
fn a_session_of_the_older_era_is_served_at_every_host() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let session = one.server.handshake().expect("a session");
    let made = said(&two, &session, &call("planning__create_goal", &json!({"goal": "Ship it"})));
    assert_ne!(made.message()["result"]["isError"], true, "{made:?}");
    // A call that takes its time is answered by events, which pass as they come.
    let slow = call("workspace__execute_shell", &json!({"command": "sleep 1; echo done", "run_mode": "sync"}));
    let answered = said(&two, &session, &slow);
    assert!(answered.body.contains("done"), "{answered:?}");
    let (id, version) = session.split_once("\r\n").expect("two headers");
    let last = if id.ends_with('0') { "1" } else { "0" };
    let unknown = format!("{}{last}\r\n{version}", &id[..id.len() - 1]);
    assert_eq!(said(&two, &unknown, &call("planning__list_goals", &json!({}))).status, 404, "nobody's session");
    let ended = replied(two.server.send("DELETE", "/mcp", "s", &session, ""));
    assert!(matches!(ended.status, 200..=204), "{ended:?}");
    assert_eq!(said(&one, &session, &call("planning__list_goals", &json!({}))).status, 404);
}

#[test]
fn a_session_of_the_older_era_outlives_its_host() {
    let Some(cluster) = cluster() else { return };
    let [mut one, two, three] = ["one", "two", "three"].map(|name| cluster.host(name));
    let session = one.server.handshake().expect("a session");
    let list = call("planning__list_goals", &json!({}));
    let made = said(&two, &session, &call("planning__create_goal", &json!({"goal": "Ship it"})));
    assert_eq!(made.status, 200, "{made:?}");
    one.server.kill();
    blocking::until("the session goes on", || match said(&two, &session, &list) {
        Reply { status: 200, .. } => Ok(()),
        reply => Err(format!("{reply:?}")),
    });
    let listed = said(&three, &session, &list);
    assert!(listed.status == 200 && listed.body.contains("Ship it"), "{listed:?}");
    // One host has it, since what is ended at one has ended at both.
    let ended = replied(three.server.send("DELETE", "/mcp", "s", &session, ""));
    assert!(matches!(ended.status, 200..=204), "{ended:?}");
    for host in [&two, &three] {
        assert_eq!(said(host, &session, &list).status, 404, "{}", host.name);
    }
}

#[test]
fn sessions_of_the_older_era_survive_hosts_that_are_stopped_one_by_one() {
    let Some(cluster) = cluster() else { return };
    let [one, two] = ["one", "two"].map(|name| cluster.host(name));
    let sessions = [&one, &two].map(|host| host.server.handshake().expect("a session"));
    let list = call("planning__list_goals", &json!({}));
    let goes_on = |host: &ClusterHost| {
        for session in &sessions {
            blocking::until("the session goes on", || match said(host, session, &list) {
                Reply { status: 200, .. } => Ok(()),
                reply => Err(format!("{reply:?}")),
            });
        }
    };
    let data = one.retired();
    goes_on(&two);
    let one = cluster.host_in("one", data);
    goes_on(&one);
    let _ = two.retired();
    goes_on(&one);
}

#[test]
fn a_terminal_is_driven_and_followed_through_every_host() {
    let tables = format!("{TABLES}[plugin.host.grants.terminal]\nreason = \"a test\"\nshell = true\n");
    let Some(cluster) = Cluster::new(&tables) else { return };
    let (mut one, two) = (cluster.host("one"), cluster.host("two"));
    let terminal = one.server.shell("s")["terminal"].as_str().expect("a handle").to_owned();
    let place = format!("/v1/terminals/{terminal}");
    let info = two.server.ask("GET", &place, "s", None);
    assert_eq!((info.status, &info.json()["terminal"]), (200, &json!(terminal)), "{info:?}");
    let listed = two.server.ask("GET", "/v1/terminals", "s", None);
    assert!(listed.body.contains(&terminal), "{listed:?}");
    // The events of a turn come one by one.
    let turn = json!({"text": "echo $((6 * 7))"}).to_string();
    let events = two.server.follow("POST", &format!("{place}/turns"), "s", &turn).rest();
    assert!(events.iter().any(|event| event.data.to_string().contains("42")), "{events:?}");
    // A second one of the session is started where the first one is, whichever host is asked.
    let second = two.server.shell("s")["terminal"].as_str().expect("a handle").to_owned();
    assert_eq!(one.server.ask("GET", &format!("/v1/terminals/{second}"), "s", None).status, 200);
    for stranger in [&one, &two] {
        assert_eq!(stranger.server.ask("GET", &place, "other", None).status, 404, "of another session");
    }
    assert_eq!(two.server.ask("DELETE", &format!("/v1/terminals/{second}"), "s", None).status, 200);
    one.server.kill();
    blocking::until("it is gone with its host", || {
        let reply = two.server.ask("GET", &place, "s", None);
        if reply.status == 410 { Ok(()) } else { Err(format!("{reply:?}")) }
    });
    blocking::until("the session has another home", || {
        let started = two.server.ask("POST", "/v1/terminals", "s", Some(json!({})));
        if started.status == 201 { Ok(()) } else { Err(format!("{started:?}")) }
    });
}
