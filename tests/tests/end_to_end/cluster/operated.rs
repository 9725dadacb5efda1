//! A cluster as its operator sees it over HTTP, at any of its hosts.

use serde_json::{Value, json};
use wharf_tests::{Reply, blocking, cluster::ClusterHost};

use super::cluster;

/// What a host answers its own operator.
fn asked(host: &ClusterHost, method: &str, path: &str, body: Option<Value>) -> Reply {
    let token = std::fs::read_to_string(host.server.data.path().join("operator-token")).expect("a token");
    host.server.ask_as(token.trim(), method, path, body)
}

fn states(host: &ClusterHost) -> Vec<(String, String)> {
    let listed = asked(host, "GET", "/v1/operator/cluster", None).json();
    let text = |host: &Value, member: &str| host[member].as_str().expect("a text").to_owned();
    listed["cluster"].as_array().expect("a list").iter().map(|host| (text(host, "name"), text(host, "state"))).collect()
}

#[test]
fn each_host_shows_the_operator_all_hosts_and_drains_any() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let are =
        |first: &str, second: &str| [("one", first), ("two", second)].map(|(name, state)| (name.into(), state.into()));
    for host in [&one, &two] {
        blocking::until("it sees both", || {
            let found = states(host);
            if found == are("alive", "alive") { Ok(()) } else { Err(found) }
        });
    }
    let drain = |name: &str, draining: bool| {
        asked(&one, "POST", &format!("/v1/operator/cluster/{name}/drain"), Some(json!({"draining": draining})))
    };
    assert_eq!(drain("two", true).status, 204);
    blocking::until("the other one drains", || {
        let found = states(&two);
        if found == are("alive", "draining") && !two.is_ready() { Ok(()) } else { Err(found) }
    });
    assert_eq!(drain("two", false).status, 204);
    blocking::until("it serves again", || if two.is_ready() { Ok(()) } else { Err(states(&one)) });
    assert_eq!(drain("three", true).status, 404);
    drop(two.killed());
    blocking::until("it is dead", || {
        let found = states(&one);
        if found == are("alive", "dead") { Ok(()) } else { Err(found) }
    });
}
