//! Hosts that drain, and end in order.

use serde_json::json;
use wharf_tests::blocking;

use super::{POLL, READ, SHELL, cluster, poll, read, started, wrote};

#[test]
fn a_host_that_drains_keeps_its_sessions_and_takes_no_other() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let process = started(&one, "kept", "sleep 1000");
    let unknown = one.command(&["hosts", "drain", "nobody"]).run();
    assert!(unknown.code == Some(1) && unknown.err.contains("no host `nobody`"), "{unknown:?}");
    let drained = two.command(&["hosts", "drain", "one"]).run();
    assert_eq!(drained.code, Some(0), "{drained:?}");
    blocking::until("it hears of it", || (!one.is_ready()).then_some(()).ok_or("ready"));
    assert!(two.is_ready());
    assert_eq!(one.code("kept", POLL, &poll(&process)), None);
    let elsewhere = started(&one, "new", "sleep 1000");
    blocking::until("the other host is its home", || {
        let listed = two.hosts();
        let expected = [("one".to_owned(), "draining".to_owned(), 1), ("two".to_owned(), "alive".to_owned(), 1)];
        if listed == expected { Ok(()) } else { Err(format!("{listed:?}\n{}", one.server.log())) }
    });
    assert_eq!(two.code("new", POLL, &poll(&elsewhere)), None);
    assert_eq!(two.command(&["hosts", "resume", "one"]).run().code, Some(0));
    blocking::until("it serves again", || one.is_ready().then_some(()).ok_or("not ready"));
}

#[test]
fn a_host_that_is_told_to_end_waits_for_what_its_sessions_run() {
    let Some(cluster) = cluster() else { return };
    let (mut one, two) = (cluster.host("one"), cluster.host("two"));
    let release = one.server.data.path().join("release");
    let release = release.to_str().expect("text");
    let process = started(&one, "s", "while [ ! -e release ]; do sleep 0.05; done; echo released");
    let _ = one.called("idle", SHELL, &json!({"command": "echo over"}));
    wrote(&one, "idle", "stays behind");
    one.server.terminate();
    blocking::until("it is not ready", || (!one.is_ready()).then_some(()).ok_or("ready"));
    // What runs goes on, also for who asks elsewhere; what is idle is free.
    assert_eq!(two.code("s", POLL, &poll(&process)), None);
    let mut codes = Vec::new();
    blocking::until("the idle session has another home", || {
        let code = two.code("idle", READ, &read());
        codes.push(code.clone());
        if code.as_deref() == Some("not-found") { Ok(()) } else { Err(format!("{code:?}")) }
    });
    assert!(codes.iter().any(|code| code.as_deref() == Some("gone")), "its files are told as lost: {codes:?}");
    let _ = two.called("s", "workspace__write_file", &json!({"path": "release", "content": ""}));
    assert_eq!(one.server.ended(), Some(0), "{release}");
    assert!(two.hosts().iter().all(|(name, ..)| name != "one"), "it has left");
    blocking::until("the session goes on", || match two.code("s", POLL, &poll(&process)).as_deref() {
        Some("gone") => Ok(()),
        code => Err(format!("{code:?}")),
    });
}
