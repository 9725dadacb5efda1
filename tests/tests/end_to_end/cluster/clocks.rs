//! Hosts whose clocks are wrong. The database says what time it is, and spans are measured by clocks
//! that nobody sets.

use serde_json::{Value, json};
use wharf_tests::{
    Holds, blocking,
    clock::WrongClock,
    cluster::{Cluster, ClusterHost, DEAD},
};

use super::{LONG, POLL, READ, SHELL, TABLES, all_the_while, nobody_is_dead, poll, read, started, wrote};

/// Further than any patience of hosts.
const OFF_SECONDS: i64 = 600;
/// State that is idle for less than a clock is wrong.
const EXPIRY: &str = "[plugin.planning.grants.state]\nreason = \"a test\"\nthread_expiry_seconds = 300\n\
    session_expiry_seconds = 300\nassistant_expiry_seconds = 300\n";

fn todos(host: &ClusterHost) -> Value {
    let state = host.called("s", "planning__get_current_state", &json!({}));
    state["structuredContent"]["todos"].as_array().expect("a list").iter().map(|todo| todo["name"].clone()).collect()
}

fn doctor(clock: &WrongClock, host: &ClusterHost, ahead: i64) -> String {
    clock.ahead(ahead, host.command(&["doctor", "--cluster"])).run().out
}

#[test]
fn hosts_whose_clocks_are_wrong_serve_beat_and_die_as_others_do() {
    let Some(clock) = WrongClock::find() else { return };
    let Some(cluster) = Cluster::new(&format!("{TABLES}{EXPIRY}")) else { return };
    let wrong = |name: &str, ahead: i64| {
        let data = cluster.prepare(name, &cluster.authority, Holds::Now);
        cluster.host_by(name, data, |command| clock.ahead(ahead, command))
    };
    let (early, late) = (wrong("early", -OFF_SECONDS), wrong("late", OFF_SECONDS));
    let mut right = cluster.host("right");
    let process = started(&late, "s", "sleep 1000");
    wrote(&early, "s", "of the session");
    all_the_while(LONG, || {
        for host in [&early, &late, &right] {
            assert_eq!(host.code("s", POLL, &poll(&process)), None, "{}", host.server.log());
            assert!(host.called("s", READ, &read()).to_string().contains("of the session"));
        }
        nobody_is_dead(&right);
    });
    let mut names = Vec::new();
    // What one has written is there for each, as state that is in use.
    for writer in [&early, &late, &right] {
        let _ = writer.called("s", "planning__add_todo", &json!({"name": writer.name}));
        names.push(json!(writer.name));
        for reader in [&early, &late, &right] {
            assert_eq!(todos(reader), Value::Array(names.clone()), "{} wrote, {} reads", writer.name, reader.name);
        }
    }

    let found = doctor(&clock, &right, 0);
    assert!(found.contains("the one here agrees with the one of the database server"), "{found}");
    for (name, side) in [("early", "behind"), ("late", "ahead of")] {
        let told = found.lines().find(|line| line.contains(&format!("the clock of {name} is"))).unwrap_or_default();
        assert!(told.contains(&format!("seconds {side} the one here")), "{found}");
    }
    let found = doctor(&clock, &late, OFF_SECONDS);
    assert!(
        found.contains("the one of the database server is") && found.contains("seconds behind the one here"),
        "{found}"
    );

    // Who declares it dead has a wrong clock, and so has the witness.
    let of_right = blocking::until("a session has its home at the right one", || {
        let process = started(&right, "r", "sleep 1000");
        (late.code("r", POLL, &poll(&process)).is_none()).then_some(process)
    });
    right.server.kill();
    assert_eq!(late.code("r", POLL, &poll(&of_right)).as_deref(), Some("gone"), "{}", late.server.log());
    early.stop(true);
    blocking::until("a silent one is declared dead", || match late.state_of("early").as_str() {
        "dead" => Ok(()),
        state => Err(state.to_owned()),
    });
    assert!(late.silence_of("early") >= DEAD, "its beat must have stood still");
    early.stop(false);
    blocking::until("it takes up a new life", || match early.code("s", SHELL, &json!({"command": "true"})) {
        None => Ok(()),
        code => Err(format!("{code:?}")),
    });
    assert_eq!(early.code("s", POLL, &poll(&process)), None, "at the host that is ahead");
}
