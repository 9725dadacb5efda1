//! Hosts whose way to the database is cut, or long.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_tests::{
    blocking,
    cluster::{ClusterHost, DEAD},
    link::Passage,
    lives,
};

use super::{LONG, POLL, SHELL, all_the_while, cluster, nobody_is_dead, poll, started};

fn state(host: &ClusterHost) -> Value {
    host.called("s", "planning__get_current_state", &json!({}))["structuredContent"]["todos"].clone()
}

#[test]
fn a_host_that_is_cut_off_from_the_database_acts_no_more_once_the_others_may_take_its_place() {
    let Some(cluster) = cluster() else { return };
    let link = cluster.link();
    let one = cluster.host_over(&link, "one");
    let (two, three) = (cluster.host("two"), cluster.host("three"));
    let mark = "98127635";
    let process = started(&one, "s", &format!("sleep {mark}"));
    blocking::until("it runs", || lives(mark).then_some(()).ok_or("not yet"));
    assert_eq!(two.code("s", POLL, &poll(&process)), None);
    link.set(Passage::Silent);
    assert_eq!(one.code("s", POLL, &poll(&process)), None, "it is at home for ten seconds more");
    assert_eq!(two.code("s", POLL, &poll(&process)), None, "and for the others, too");
    blocking::until("it is declared dead", || {
        let state = two.state_of("one");
        let code = one.code("s", POLL, &poll(&process));
        if state != "dead" {
            return Err(format!("{state}, {code:?}"));
        }
        assert_eq!(code.as_deref(), Some("unavailable"), "others may act for its sessions by now");
        Ok(())
    });
    assert!(two.silence_of("one") >= DEAD, "its beat must have stood still");
    assert!(!one.is_ready(), "a balancer goes elsewhere");
    assert_eq!(one.code("s", "planning__list_goals", &json!({})).as_deref(), Some("unavailable"));
    assert_eq!(three.code("s", POLL, &poll(&process)).as_deref(), Some("gone"));
    blocking::until("another host is the home", || match two.code("s", SHELL, &json!({"command": "echo again"})) {
        None => Ok(()),
        code => Err(format!("{code:?}")),
    });
    assert!(lives(mark), "nobody has told it");

    link.set(Passage::Open);
    blocking::until("what it ran has ended", || (!lives(mark)).then_some(()).ok_or_else(|| one.server.log()));
    one.server.until_logged("declared this one dead");
    blocking::until("it takes up a new life", || one.is_ready().then_some(()).ok_or_else(|| one.server.log()));
    assert_eq!(one.code("s", POLL, &poll(&process)).as_deref(), Some("gone"));
    assert_eq!(one.code("s", SHELL, &json!({"command": "echo passed on"})), None, "by the new home");
    let again = started(&one, "another", "sleep 1000");
    assert_eq!(two.code("another", POLL, &poll(&again)), None);
}

#[test]
fn a_host_whose_way_to_the_database_is_back_in_time_goes_on_as_it_was() {
    let Some(cluster) = cluster() else { return };
    let link = cluster.link();
    let one = cluster.host_over(&link, "one");
    let two = cluster.host("two");
    for passage in [Passage::Silent, Passage::Reset, Passage::Refused] {
        blocking::soon_once("the way is back before the host is declared dead", || {
            let process = started(&one, "s", "sleep 1000");
            link.set(passage);
            blocking::until("it has lost contact", || match one.code("s", POLL, &poll(&process)).as_deref() {
                Some("unavailable") => Ok(()),
                code => Err(format!("{passage:?}: {code:?}")),
            });
            link.set(Passage::Open);
            let code = blocking::until("it is in contact", || match one.code("s", POLL, &poll(&process)) {
                Some(code) if code == "unavailable" => Err(code),
                code => Ok(code),
            });
            // The handle tells whether it is the same life.
            if code.is_some() {
                return Err(code);
            }
            assert_eq!(two.code("s", POLL, &poll(&process)), None, "{passage:?}");
            Ok(())
        });
    }
}

#[test]
fn a_database_that_is_far_away_makes_calls_slow_and_nobody_dead() {
    let Some(cluster) = cluster() else { return };
    let late = Duration::from_millis(50);
    let links = ["one", "two", "three"].map(|name| (name, cluster.link()));
    let hosts = links.each_ref().map(|(name, link)| {
        link.set(Passage::Slow(late));
        cluster.host_over(link, name)
    });
    let process = started(&hosts[0], "s", "sleep 1000");
    let mut names = Vec::new();
    all_the_while(LONG, || {
        for host in &hosts {
            let name = format!("todo {}", names.len());
            let asked = Instant::now();
            let _ = host.called("s", "planning__add_todo", &json!({"name": name}));
            assert!(asked.elapsed() >= late * 2, "it has gone another way");
            names.push(name);
            assert_eq!(host.code("s", POLL, &poll(&process)), None, "{}", host.server.log());
        }
        nobody_is_dead(&hosts[0]);
    });
    for host in &hosts {
        let todos = state(host);
        let there: Vec<_> = todos.as_array().expect("a list").iter().filter_map(|todo| todo["name"].as_str()).collect();
        assert_eq!(there, names, "{}", host.name);
    }
    let doctor = hosts[1].command(&["doctor", "--cluster"]).run();
    assert!(doctor.out.contains("place the database nearer to the hosts"), "{doctor:?}");
}
