//! A session has one home, whichever host is asked.

use serde_json::json;
use wharf_tests::blocking;

use super::{POLL, READ, cluster, poll, read, started, wrote};

#[test]
fn what_a_session_has_on_one_host_is_there_at_every_host() {
    let Some(cluster) = cluster() else { return };
    let hosts = ["one", "two", "three"].map(|name| cluster.host(name));
    let [one, two, three] = &hosts;
    let process = started(one, "s", "echo begun; sleep 1000");
    wrote(two, "s", "of the session");
    for host in &hosts {
        blocking::until("the output is there", || {
            let output =
                host.called("s", "workspace__read_process_output", &json!({"process_id": process})).to_string();
            if output.contains("begun") { Ok(()) } else { Err(output) }
        });
        assert!(host.called("s", READ, &read()).to_string().contains("of the session"), "{}", host.name);
    }
    // Each host has the goals of the session without asking another one.
    let _ = three.called("s", "planning__create_goal", &json!({"goal": "Ship it"}));
    assert!(one.called("s", "planning__list_goals", &json!({})).to_string().contains("Ship it"));
    // Another session may have its home anywhere, and its handles are its own.
    assert_eq!(two.code("other", POLL, &poll(&process)).as_deref(), Some("gone"), "nothing is told of it");
    assert_eq!(one.code("stranger", POLL, &poll(&process)).as_deref(), Some("not-found"));
    blocking::until("all are listed", || {
        let listed = one.hosts();
        let names: Vec<_> = listed.iter().map(|(name, state, _)| (name.as_str(), state.as_str())).collect();
        let sessions: u64 = listed.iter().map(|(.., sessions)| sessions).sum();
        let all = [("one", "alive"), ("three", "alive"), ("two", "alive")];
        if names == all && sessions == 3 { Ok(()) } else { Err(format!("{listed:?}")) }
    });
    let table = one.command(&["hosts"]).run();
    assert!(table.code == Some(0) && table.out.starts_with("host") && table.out.contains("alive"), "{table:?}");
}

#[test]
fn a_command_that_is_no_host_makes_no_call_that_needs_one() {
    let Some(cluster) = cluster() else { return };
    let one = cluster.host("one");
    let run = one.command(&["call", "workspace__list_directory", "--session", "s"]).run();
    assert!(run.code == Some(1) && run.err.contains("over HTTP at one of its hosts"), "{run:?}");
    let run = one.command(&["call", "planning__list_goals", "--session", "s"]).run();
    assert_eq!(run.code, Some(0), "{run:?}");
}
