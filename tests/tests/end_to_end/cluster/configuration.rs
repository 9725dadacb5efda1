//! Tokens, limits and the profile that all hosts of a cluster have.

use serde_json::json;
use wharf_tests::{Finished, blocking, cluster::ClusterHost};

use super::{cluster, poll, started};
use crate::front_ends;

#[track_caller]
fn ran(host: &ClusterHost, arguments: &[&str]) -> String {
    let run = host.command(arguments).run();
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run.out
}

#[track_caller]
fn refused(host: &ClusterHost, arguments: &[&str], word: &str) -> Finished {
    let run = host.command(arguments).run();
    assert!(run.code == Some(3) && run.err.contains(word), "{arguments:?}: {run:?}");
    run
}

/// The status of a request with this token.
fn status(host: &mut ClusterHost, token: &str) -> u16 {
    let own = std::mem::replace(&mut host.server.token, token.to_owned());
    let status = host.server.ask("GET", "/v1/terminals", "s", None).status;
    host.server.token = own;
    status
}

#[track_caller]
fn until_answered(host: &mut ClusterHost, token: &str, expected: u16) {
    let name = host.name.clone();
    blocking::until(format_args!("{name} answers a token with {expected}"), || {
        let status = status(host, token);
        if status == expected { Ok(()) } else { Err(status) }
    });
}

/// What is written for all hosts.
#[track_caller]
fn write(host: &ClusterHost, text: &str) {
    let file = host.server.data.write("all.toml", text);
    ran(host, &["config", "cluster", "--write", file.to_str().expect("text")]);
}

#[test]
fn a_token_that_is_made_at_one_host_holds_at_all_until_it_is_taken_back() {
    let Some(cluster) = cluster() else { return };
    let (mut one, mut two) = (cluster.host("one"), cluster.host("two"));
    let said = ran(&one, &["token", "new", "--name", "ci", "--front-ends", "--cluster"]);
    let token = said.lines().nth(1).expect("the token").to_owned();
    for host in [&mut one, &mut two] {
        until_answered(host, &token, 200);
    }
    assert!(ran(&two, &["config", "cluster"]).contains("name = \"ci\""), "every host tells");
    refused(&two, &["token", "new", "--name", "ci", "--cluster"], "two entries");
    // A host that comes later knows it from the start.
    let mut three = cluster.host("three");
    assert_eq!(status(&mut three, &token), 200, "{}", three.server.log());
    // What its client follows ends with it.
    let own = std::mem::replace(&mut two.server.token, token.clone());
    let page = front_ends::with_tools("editor", [front_ends::tool("t")]);
    let page = two.server.ask("POST", "/v1/front-ends", "page", Some(page));
    let place = page.header("location").expect("a place");
    let following = two.server.follow("GET", &format!("{place}/calls/events"), "page", "");
    two.server.token = own;
    ran(&two, &["token", "remove", "ci"]);
    assert_eq!(following.rest(), []);
    for host in [&mut one, &mut two, &mut three] {
        until_answered(host, &token, 401);
    }
    refused(&one, &["token", "remove", "ci"], "there is no token");
}

#[test]
fn limits_that_all_hosts_have_hold_from_their_next_start_on_and_their_own_go_before() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    write(&one, "[process.limits]\nrunning_per_session = 1\n");
    let unstarted = |host: &ClusterHost| -> Vec<bool> {
        let found = host.command(&["doctor", "--cluster"]).run().out;
        let names = ["one", "two"].map(|name| format!("{name} (localhost:"));
        let line = |name| found.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{found}"));
        names.iter().map(|name| line(name).contains("has not started since the settings")).collect()
    };
    assert_eq!(unstarted(&two), [true, true]);
    let two = cluster.host_in("two", two.retired());
    assert_eq!(unstarted(&one), [true, false]);
    let process = started(&two, "s", "sleep 1000");
    let second = json!({"command": "sleep 1000", "run_mode": "async"});
    assert_eq!(two.code("s", super::SHELL, &second).as_deref(), Some("limit"));
    assert_eq!(two.code("s", super::POLL, &poll(&process)), None);
    let three = cluster.prepare("three", &cluster.authority, wharf_tests::Holds::Now);
    let own = std::fs::read_to_string(three.path().join("wharf.toml")).expect("its configuration");
    three.write("wharf.toml", format!("{own}[process.limits]\nrunning_per_session = 2\n"));
    let three = cluster.host_in("three", three);
    for expected in [None, None, Some("limit")] {
        assert_eq!(three.code("t", super::SHELL, &second).as_deref(), expected);
    }
}

#[test]
fn what_a_host_that_serves_could_not_use_is_refused_with_its_name_and_changes_nothing() {
    let Some(cluster) = cluster() else { return };
    let one = cluster.host("one");
    let strict = cluster.prepare("strict", &cluster.authority, wharf_tests::Holds::Now);
    let own = std::fs::read_to_string(strict.path().join("wharf.toml")).expect("its configuration");
    strict.write("wharf.toml", format!("{own}[ceilings]\nwall_time_milliseconds = 50000\n"));
    let _strict = cluster.host_in("strict", strict);
    let file = one.server.data.write("all.toml", "[limits]\nwall_time_milliseconds = 60000\n");
    let write = ["config", "cluster", "--write", file.to_str().expect("text")];
    let run = refused(&one, &write, "the host strict could not use it");
    assert!(run.err.contains("50000"), "it says why: {run:?}");
    let of_one_host = one.server.data.write("all.toml", "[state]\ndurability = \"power\"\n");
    refused(&one, &["config", "cluster", "--write", of_one_host.to_str().expect("text")], "wharf.toml of a host");
    assert_eq!(ran(&one, &["config", "cluster"]), "");
}
