//! Hosts that die, are silent, or lose the database.

use serde_json::json;
use wharf_tests::{blocking, cluster::ClusterHost, lives};

use super::{POLL, READ, SHELL, cluster, poll, read, started, wrote};

/// Asks until another host is the session's home, and something runs in it.
#[track_caller]
fn taken_over(host: &ClusterHost, session: &str) {
    let command = json!({"command": "echo again"});
    blocking::until("another host is the home", || {
        let result = host.call(session, SHELL, &command);
        if result["isError"] == true { Err(result.to_string()) } else { Ok(()) }
    });
}

#[test]
fn what_a_killed_host_held_is_gone_at_once_and_the_session_goes_on_elsewhere() {
    let Some(cluster) = cluster() else { return };
    // The second one knows a third that sees the death, too, from its start.
    let (three, two, mut one) = (cluster.host("three"), cluster.host("two"), cluster.host("one"));
    let process = started(&one, "s", "sleep 1000");
    wrote(&one, "s", "lost with its host");
    assert_eq!(two.code("s", POLL, &poll(&process)), None);
    one.server.kill();
    // The first answer says so: nobody waits for a beat.
    let code = two.code("s", POLL, &poll(&process));
    assert_eq!(code.as_deref(), Some("gone"), "{}\n{}", two.server.log(), three.server.log());
    let _ = three.called("s", "planning__list_goals", &json!({}));
    assert_eq!(two.state_of("one"), "dead");
    // The files are told as lost, once, and never silently empty.
    let mut codes = Vec::new();
    blocking::until("another host is the home", || match three.code("s", READ, &read()).as_deref() {
        Some("gone") => {
            codes.push("gone");
            Err("gone")
        }
        code => {
            codes.push("other");
            assert_eq!(code, Some("not-found"), "the workspace is empty now");
            Ok(())
        }
    });
    assert!(codes.starts_with(&["gone"]), "{codes:?}");
    assert_eq!(three.code("s", POLL, &poll(&process)).as_deref(), Some("gone"), "for ever");
    taken_over(&two, "s");
}

#[test]
fn files_that_were_told_as_lost_do_not_come_back_with_their_host_and_neither_do_its_processes() {
    let Some(cluster) = cluster() else { return };
    let [one, two, three] = ["one", "two", "three"].map(|name| cluster.host(name));
    let process = started(&one, "s", "echo of the first life");
    wrote(&one, "s", "lost with its host");
    let left = one.killed();
    taken_over(&two, "s");
    wrote(&two, "s", "later");
    drop(two.killed());
    let one = cluster.host_in("one", left);
    let mut codes = Vec::new();
    blocking::until("the first host is the home again", || {
        let result = one.call("s", READ, &read());
        assert!(!result.to_string().contains("lost with its host"), "{result}");
        let code = one.code("s", READ, &read()).unwrap_or_default();
        codes.push(code.clone());
        if code == "not-found" { Ok(()) } else { Err(result) }
    });
    assert_eq!(one.code("s", POLL, &poll(&process)).as_deref(), Some("gone"), "{codes:?}");
    let _ = one.called("s", SHELL, &json!({"command": "test ! -e file.txt"}));
    assert_eq!(three.code("s", READ, &read()).as_deref(), Some("not-found"));
}

#[test]
fn a_session_keeps_its_files_where_its_host_starts_again_at_once() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    wrote(&one, "s", "kept");
    let one = cluster.host_in("one", one.killed());
    blocking::until("its host is the home again", || {
        let result = two.call("s", READ, &read()).to_string();
        assert!(!result.contains("are lost") && !result.contains("not-found"), "{result}");
        if result.contains("kept") { Ok(()) } else { Err(result) }
    });
    assert!(one.called("s", READ, &read()).to_string().contains("kept"));
}

#[test]
fn a_stopped_host_is_unavailable_and_goes_on_when_it_runs_again() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let process = started(&one, "s", "sleep 1000");
    assert_eq!(two.code("s", POLL, &poll(&process)), None);
    one.stop(true);
    let code = two.code("s", POLL, &poll(&process));
    assert_eq!(code.as_deref(), Some("unavailable"), "it is silent, and not dead");
    let _ = two.called("s", "planning__list_goals", &json!({}));
    one.stop(false);
    blocking::until("it answers again", || match two.code("s", POLL, &poll(&process)) {
        None => Ok(()),
        code => Err(format!("{code:?}")),
    });
    blocking::until("its next beat comes", || match two.state_of("one").as_str() {
        "alive" => Ok(()),
        state => Err(state.to_owned()),
    });
}

#[test]
fn a_host_that_was_stopped_for_too_long_finds_its_sessions_elsewhere_and_ends_what_it_ran() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let mark = "sleep 98127634";
    let process = started(&one, "s", mark);
    blocking::until("it runs", || lives("98127634").then_some(()).ok_or("not yet"));
    assert_eq!(two.code("s", POLL, &poll(&process)), None);
    one.stop(true);
    blocking::until("it is declared dead", || match two.state_of("one").as_str() {
        "dead" => Ok(()),
        state => Err(state.to_owned()),
    });
    // Since its last beat, which may have been a second before it was stopped.
    assert!(two.silence_of("one") >= wharf_tests::cluster::DEAD, "its beat must have stood still");
    taken_over(&two, "s");
    one.stop(false);
    // Whatever it is asked first, it does not act as the home that it was.
    let first = one.call("s", POLL, &poll(&process));
    assert_eq!(first["isError"], true, "{first}");
    blocking::until("what it ran has ended", || (!lives("98127634")).then_some(()).ok_or_else(|| one.server.log()));
    one.server.until_logged("declared this one dead");
    blocking::until("it serves anew", || match one.code("s", SHELL, &json!({"command": "echo passed on"})) {
        None => Ok(()),
        code => Err(format!("{code:?}")),
    });
    assert_eq!(one.code("s", POLL, &poll(&process)).as_deref(), Some("gone"));
}

#[test]
fn without_the_database_sessions_go_on_for_a_while_and_nobody_is_declared_dead() {
    let Some(mut cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let process = started(&one, "s", "sleep 1000");
    assert_eq!(two.code("s", POLL, &poll(&process)), None);
    cluster.database.kill();
    assert_eq!(two.code("s", POLL, &poll(&process)), None, "it is at home for ten seconds more");
    assert_eq!(two.code("s", "planning__list_goals", &json!({})).as_deref(), Some("unavailable"));
    blocking::until("the home has lost contact", || match one.code("s", POLL, &poll(&process)).as_deref() {
        Some("unavailable") => Ok(()),
        code => Err(format!("{code:?}")),
    });
    assert!(!one.is_ready(), "a balancer goes elsewhere");
    cluster.database.resume();
    blocking::until("all goes on", || match two.code("s", POLL, &poll(&process)) {
        None => Ok(()),
        code => Err(format!("{code:?}")),
    });
    assert_eq!((two.state_of("one").as_str(), two.state_of("two").as_str()), ("alive", "alive"));
}
