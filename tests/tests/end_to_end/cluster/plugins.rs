//! Plugins that are added, switched and removed for all hosts.

use std::{path::Path, thread};

use serde_json::{Value, json};
use wharf_tests::{Finished, Holds, blocking, cluster::ClusterHost, component, wharf};

use super::cluster;

pub(super) fn echo() -> String {
    component("guest-echo").to_str().expect("text").to_owned()
}

#[track_caller]
pub(super) fn ran(host: &ClusterHost, arguments: &[&str]) -> String {
    let run = host.command(arguments).run();
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run.out
}

/// What a plugin of this name says; nothing where the host has none.
fn says(host: &ClusterHost, name: &str) -> Option<String> {
    let result = host.attempt(&format!("{name}__echo"), &json!({"text": "hello"}), &json!({}))?;
    result["content"][0]["text"].as_str().map(str::to_owned)
}

#[track_caller]
pub(super) fn until_all(hosts: [&ClusterHost; 2], name: &str, say: Option<&str>) {
    for host in hosts {
        blocking::until("every host has the plugins of the cluster", || {
            let said = says(host, name);
            if said.as_deref() == say { Ok(()) } else { Err(format!("{}: {said:?}", host.name)) }
        });
    }
}

#[track_caller]
pub(super) fn until_all_know(hosts: [&ClusterHost; 2], tool: &str) {
    for host in hosts {
        blocking::until("every host has the plugins of the cluster", || {
            host.attempt(tool, &json!({}), &json!({})).map(drop).ok_or(&host.name)
        });
    }
}

#[test]
fn what_is_added_switched_and_removed_at_one_host_is_so_at_all() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    assert_eq!(says(&two, "added"), None);
    let said = ran(&one, &["plugin", "add", &echo(), "--name", "added", "--cluster"]);
    assert!(said.contains("All hosts of the cluster"), "{said}");
    until_all([&one, &two], "added", Some("hello"));

    let info: Value = serde_json::from_str(&ran(&two, &["plugin", "info", "added", "--json"])).expect("JSON");
    assert_eq!(info["receipt"]["source"], echo(), "{info}");
    let again = two.command(&["plugin", "add", &echo(), "--name", "added"]).run();
    assert!(again.code != Some(0) && again.err.contains("was added already"), "{again:?}");

    ran(&two, &["plugin", "disable", "added"]);
    until_all([&one, &two], "added", None);
    ran(&one, &["plugin", "enable", "added"]);
    until_all([&one, &two], "added", Some("hello"));
    ran(&two, &["plugin", "remove", "added"]);
    until_all([&one, &two], "added", None);
}

#[test]
fn a_host_that_was_away_has_the_plugins_of_the_cluster_before_it_serves() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let away = two.killed();
    ran(&one, &["plugin", "add", &echo(), "--name", "added"]);
    let two = cluster.host_in("two", away);
    assert_eq!(says(&two, "added").as_deref(), Some("hello"), "{}", two.server.log());
    let away = two.killed();
    ran(&one, &["plugin", "remove", "added"]);
    ran(&one, &["plugin", "add", &echo(), "--name", "other"]);
    let two = cluster.host_in("two", away);
    assert_eq!((says(&two, "added"), says(&two, "other").as_deref()), (None, Some("hello")), "{}", two.server.log());
}

#[test]
fn plugins_that_are_added_at_all_hosts_at_once_are_all_there() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    thread::scope(|scope| {
        for (host, names) in [(&one, ["first", "third"]), (&two, ["second", "fourth"])] {
            scope.spawn(move || {
                for name in names {
                    ran(host, &["plugin", "add", &echo(), "--name", name]);
                }
            });
        }
    });
    for name in ["first", "second", "third", "fourth"] {
        until_all([&one, &two], name, Some("hello"));
    }
}

#[test]
fn a_plugin_that_a_host_which_serves_could_not_serve_changes_nothing() {
    let Some(cluster) = cluster() else { return };
    let one = cluster.host("one");
    let data = cluster.prepare("two", &cluster.authority, Holds::Now);
    let own = std::fs::read_to_string(data.path().join("wharf.toml")).expect("is there");
    let limits = "[host.limits]\ncomponent_bytes = 1000\n";
    data.write("wharf.toml", format!("{own}{limits}[plugin.taken]\nsource = {:?}\n", echo()));
    let two = cluster.host_in("two", data);
    for (name, problem) in [("added", "limit `component_bytes`"), ("taken", "wharf.toml")] {
        let refused = one.command(&["plugin", "add", &echo(), "--name", name]).run();
        let is_told = refused.err.contains("the host two could not serve it") && refused.err.contains(problem);
        assert!(refused.code == Some(3) && is_told, "{refused:?}");
        assert!(!ran(&one, &["plugin", "list"]).contains(name));
        assert_eq!(says(&one, name), None);
    }
    // A host that has left is not asked.
    drop(two.retired());
    ran(&one, &["plugin", "add", &echo(), "--name", "added"]);
    blocking::until("it is served", || says(&one, "added").ok_or("not yet"));
}

/// `wharf` on what was prepared for a host, with another configuration than the cluster's.
fn run_with(data: &Path, configuration: &str, arguments: &[&str]) -> Finished {
    wharf(arguments).config(&data.join(configuration)).data(data).run()
}

#[test]
fn plugins_of_one_host_are_not_lost_when_it_becomes_one_of_a_cluster() {
    let Some(cluster) = cluster() else { return };
    let data = cluster.prepare("one", &cluster.authority, Holds::Now);
    data.write("alone.toml", "");
    let place = data.path();
    let refused = run_with(place, "alone.toml", &["plugin", "add", &echo(), "--name", "own", "--cluster"]);
    assert!(refused.code != Some(0) && refused.err.contains("[cluster]"), "{refused:?}");
    let added = run_with(place, "alone.toml", &["plugin", "add", &echo(), "--name", "own"]);
    assert_eq!(added.code, Some(0), "{added:?}");

    let token = place.join("http-token").display().to_string();
    let serve = ["serve", "--http", "127.0.0.1:0", "--http-token-file", &token];
    for command in [&serve[..], &["plugin", "add", &echo(), "--name", "other"]] {
        let refused = run_with(place, "wharf.toml", command);
        assert!(refused.code != Some(0) && refused.err.contains("put it aside"), "{refused:?}");
    }
    std::fs::rename(place.join("plugins"), place.join("plugins-of-one")).expect("put aside");
    let one = cluster.host_in("one", data);
    ran(&one, &["plugin", "add", &echo(), "--name", "own"]);
    assert_eq!(says(&one, "own").as_deref(), Some("hello"));
}

/// The code with which making a goal in a session ends at a host; nothing where one is made.
fn making_a_goal(host: &ClusterHost, session: &str) -> Option<String> {
    host.code(session, "plans__create_goal", &json!({"goal": "Ship it"}))
}

#[track_caller]
pub(super) fn until_goals_end_with(hosts: [&ClusterHost; 2], code: Option<&str>) {
    for host in hosts {
        blocking::until("every host grants what the cluster grants", || {
            let found = making_a_goal(host, "s");
            if found.as_deref() == code { Ok(()) } else { Err(format!("{}: {found:?}", host.name)) }
        });
    }
}

#[test]
fn what_is_granted_and_revoked_at_one_host_is_so_at_all() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let planning = component("planning");
    ran(&one, &["plugin", "add", planning.to_str().expect("text"), "--name", "plans"]);
    until_all_know([&one, &two], "plans__create_goal");
    until_goals_end_with([&one, &two], Some("denied"));

    let said = ran(&one, &["grant", "plans", "--allow", "state", "--reason", "keeps plans"]);
    assert!(said.contains("all hosts of the cluster"), "{said}");
    until_goals_end_with([&one, &two], None);
    let listed = two.called("s", "plans__list_goals", &json!({}));
    assert!(listed.to_string().contains("Ship it"), "{listed}");

    // A host that was away has the grants before it serves, and what is revoked nowhere.
    let away = two.killed();
    ran(&one, &["grant", "plans", "--revoke", "all"]);
    let two = cluster.host_in("two", away);
    assert_eq!(making_a_goal(&two, "s").as_deref(), Some("denied"), "{}", two.server.log());
    until_goals_end_with([&one, &two], Some("denied"));
    ran(&two, &["grant", "plans", "--allow", "state", "--reason", "keeps plans"]);
    until_goals_end_with([&one, &two], None);
}

#[test]
fn a_table_in_the_file_of_a_host_goes_before_that_of_all_hosts() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let said = ran(&one, &["grant", "planning", "--revoke", "all"]);
    assert!(said.contains("all hosts of the cluster"), "{said}");
    // A bundled plugin that is granted nothing is off.
    let goal = json!({"goal": "Ship it"});
    let made = |host: &ClusterHost| host.attempt("planning__create_goal", &goal, &json!({"dev.wharf/sessionId": "s"}));
    blocking::until("no host grants it anything", || {
        let made = [&one, &two].map(made);
        if made == [None, None] { Ok(()) } else { Err(made) }
    });
    let data = two.killed();
    let own = std::fs::read_to_string(data.path().join("wharf.toml")).expect("is there");
    let own = format!("{own}[plugin.planning.grants.state]\nreason = \"this host alone\"\n");
    data.write("wharf.toml", own);
    let two = cluster.host_in("two", data);
    assert!(made(&two).is_some_and(|made| made["isError"] != true));
    assert_eq!(made(&one), None);
    let said = ran(&two, &["grant", "planning", "--revoke", "all"]);
    assert!(said.contains("wharf.toml"), "{said}");
}
