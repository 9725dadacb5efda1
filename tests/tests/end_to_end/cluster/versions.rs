//! Hosts of the previous version and of today's that serve as one, as they do in the middle of an
//! upgrade.

mod upgrades;

use serde_json::{Value, json};
use wharf_tests::{
    blocking,
    cluster::{Cluster, ClusterHost},
    component, previous, program, replied,
};

use super::{
    POLL, READ, TABLES, cluster,
    notices::{Session, is_heard, ready, telling},
    plugins::{echo, ran, until_all, until_all_know, until_goals_end_with},
    poll, read,
    routes::{call, said},
    started, wrote,
};

const ADD: &str = "planning__add_todo";
const STATE: &str = "planning__get_current_state";

fn todo(name: &str) -> Value {
    json!({"name": name})
}

/// The names of a session's todos.
#[track_caller]
fn todos(host: &ClusterHost, session: &str) -> Vec<String> {
    let state = host.called(session, STATE, &json!({}));
    let todos = state["structuredContent"]["todos"].as_array().expect("todos").iter();
    todos.map(|todo| todo["name"].as_str().expect("a name").to_owned()).collect()
}

/// What the home of a session has is there at every host, and what is written at any of them is
/// written there.
#[track_caller]
fn is_home_to_all(home: &ClusterHost, hosts: [&ClusterHost; 3]) {
    let session = format!("at-{}", home.name);
    let process = started(home, &session, "echo begun; sleep 1000");
    for host in hosts {
        assert_eq!(host.code(&session, POLL, &poll(&process)), None, "{} at {}", home.name, host.name);
        wrote(host, &session, &host.name);
        assert!(home.called(&session, READ, &read()).to_string().contains(&host.name));
    }
    blocking::until("it is the home", || {
        let listed = home.hosts();
        let found = listed.iter().any(|(name, _, sessions)| *name == home.name && *sessions == 1);
        if found { Ok(()) } else { Err(listed) }
    });
}

#[test]
fn a_call_may_arrive_at_a_host_of_either_version() {
    let Some(previous) = previous() else { return };
    let Some(cluster) = cluster() else { return };
    let (new, old, third) = (cluster.host("new"), cluster.host_of(&previous, "old"), cluster.host("third"));
    let hosts = [&new, &old, &third];
    for host in hosts {
        let _ = host.called("s", ADD, &todo(&host.name));
    }
    for host in hosts {
        assert_eq!(todos(host, "s"), ["new", "old", "third"], "at {}", host.name);
    }
    is_home_to_all(&old, hosts);
    is_home_to_all(&new, hosts);
}

#[test]
fn hosts_of_both_versions_agree_on_who_is_dead() {
    let Some(previous) = previous() else { return };
    let Some(cluster) = cluster() else { return };
    let (new, old) = (cluster.host("new"), cluster.host_of(&previous, "old"));
    for (program, name) in [(program(), "of-today"), (previous, "previous")] {
        let mut victim = cluster.host_of(&program, name);
        let process = started(&victim, name, "sleep 1000");
        for host in [&new, &old] {
            assert_eq!(host.code(name, POLL, &poll(&process)), None, "{name} at {}", host.name);
        }
        victim.server.kill();
        for host in [&old, &new] {
            let code = host.code(name, POLL, &poll(&process));
            assert_eq!(code.as_deref(), Some("gone"), "{name} at {}: {}", host.name, host.server.log());
        }
    }
}

#[test]
fn terminals_and_sessions_of_the_older_era_are_served_at_a_host_of_either_version() {
    let Some(previous) = previous() else { return };
    let tables = format!("{TABLES}[plugin.host.grants.terminal]\nreason = \"a test\"\nshell = true\n");
    let Some(cluster) = Cluster::new(&tables) else { return };
    let (new, old) = (cluster.host("new"), cluster.host_of(&previous, "old"));
    for (home, other) in [(&old, &new), (&new, &old)] {
        let session = format!("at-{}", home.name);
        let terminal = home.server.shell(&session)["terminal"].as_str().expect("a handle").to_owned();
        let place = format!("/v1/terminals/{terminal}");
        let turn = json!({"text": "echo $((6 * 7))"}).to_string();
        let events = other.server.follow("POST", &format!("{place}/turns"), &session, &turn).rest();
        assert!(events.iter().any(|event| event.data.to_string().contains("42")), "{events:?}");

        let era = home.server.handshake().expect("a session");
        let made = said(other, &era, &call("planning__create_goal", &json!({"goal": "Ship it"})));
        assert_ne!(made.message()["result"]["isError"], true, "{made:?}");
        let slow = call("workspace__execute_shell", &json!({"command": "sleep 1; echo done", "run_mode": "sync"}));
        let answered = said(other, &era, &slow);
        assert!(answered.body.contains("done"), "{answered:?}");
        let ended = replied(other.server.send("DELETE", "/mcp", "s", &era, ""));
        assert!(matches!(ended.status, 200..=204), "{ended:?}");
        assert_eq!(said(home, &era, &call("planning__list_goals", &json!({}))).status, 404);
    }
    // One that a host of either version leaves behind goes on at the other one.
    let eras = [&old, &new].map(|host| host.server.handshake().expect("a session"));
    let goes_on = |host: &ClusterHost| {
        for era in &eras {
            blocking::until("the session goes on", || {
                match said(host, era, &call("planning__list_goals", &json!({}))).status {
                    200 => Ok(()),
                    status => Err(status),
                }
            });
        }
    };
    let left = old.killed();
    goes_on(&new);
    let old = cluster.host_again(&previous, "old", left);
    drop(new.killed());
    goes_on(&old);
}

#[test]
fn what_a_plugin_tells_at_a_host_of_either_version_is_heard_at_the_other() {
    let Some(previous) = previous() else { return };
    let Some(cluster) = telling("") else { return };
    let (new, old) = (cluster.host("new"), cluster.host_of(&previous, "old"));
    ready([&new, &old]);
    let (at_new, at_old) = (Session::begin(&new), Session::begin(&old));
    is_heard(&at_old, &mut at_new.watch());
    is_heard(&at_new, &mut Session::begin(&old).watch());
}

#[test]
fn plugins_and_grants_that_one_version_changes_hold_at_the_other() {
    let Some(previous) = previous() else { return };
    let Some(cluster) = cluster() else { return };
    let (new, old) = (cluster.host("new"), cluster.host_of(&previous, "old"));
    let both = [&new, &old];
    for (one, other, name) in [(&old, &new, "first"), (&new, &old, "second")] {
        ran(one, &["plugin", "add", &echo(), "--name", name]);
        until_all(both, name, Some("hello"));
        ran(other, &["plugin", "disable", name]);
        until_all(both, name, None);
        ran(one, &["plugin", "enable", name]);
        until_all(both, name, Some("hello"));
    }
    let planning = component("planning");
    ran(&new, &["plugin", "add", planning.to_str().expect("text"), "--name", "plans"]);
    until_all_know(both, "plans__create_goal");
    for (one, other) in [(&old, &new), (&new, &old)] {
        until_goals_end_with(both, Some("denied"));
        ran(one, &["grant", "plans", "--allow", "state", "--reason", "keeps plans"]);
        until_goals_end_with(both, None);
        ran(other, &["grant", "plans", "--revoke", "all"]);
    }
    // A host of either version starts with what the other one has left.
    for (program, name) in [(&previous, "first"), (&program(), "second")] {
        let host = cluster.host_of(program, "late");
        assert_eq!(host.code("s", &format!("{name}__echo"), &json!({"text": "hello"})), None, "{}", host.server.log());
    }
}
