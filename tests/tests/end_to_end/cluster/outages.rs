//! A database that ends under hosts that write, fails over, or has no room.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
};

use fastrand::Rng;
use serde_json::json;
use wharf_test_support::postgres::PostgresServer;
use wharf_tests::{
    Disk, blocking,
    cluster::{Cluster, ClusterHost, code_of},
    kills::{Outlived, run_outages},
    link::Destination,
};

use super::{LONG, POLL, TABLES, all_the_while, nobody_is_dead, poll, started};

/// All plugins that keep state.
const WRITERS: &str =
    "profile = \"developer\"\n[plugin.browser]\nenabled = false\n[plugin.terminal]\nenabled = false\n";
const ROUNDS: u32 = 5;
const SEED: u64 = 20;

#[track_caller]
fn proves_something(outlived: Outlived) {
    assert!(outlived.acknowledged >= u64::from(ROUNDS), "{outlived:?}");
    assert!(outlived.happened + outlived.lost > 0, "no outage met a call: {outlived:?}");
}

/// What a session has, once the database answers.
#[track_caller]
fn goals_of(host: &ClusterHost, session: &str) -> String {
    blocking::until("the database answers", || {
        let result = host.call(session, "planning__list_goals", &json!({}));
        if result["isError"] == true { Err(result.to_string()) } else { Ok(result["structuredContent"].to_string()) }
    })
}

/// Has a server keep its log of changes on this disk, as an operator would.
fn place_log(server: &mut PostgresServer, disk: &Path) {
    server.kill();
    let place = server.socket().with_file_name("cluster").join("pg_wal");
    let moved = Command::new("cp").arg("-a").arg(&place).arg(disk).status();
    assert!(moved.is_ok_and(|moved| moved.success()), "the log can be moved");
    fs::set_permissions(disk, fs::Permissions::from_mode(0o755)).expect("open to the server");
    fs::remove_dir_all(&place).expect("removed");
    symlink(disk.join("pg_wal"), &place).expect("a link");
    server.resume();
}

/// Words that cannot be stored in less room than they have.
fn text(word: &str, random: &mut Rng) -> String {
    let letters = (0..100_000).map(|at| if at % 9 == 0 { ' ' } else { random.lowercase() });
    letters.chain(" ".chars()).chain(word.chars()).collect()
}

#[test]
fn a_database_that_ends_at_once_under_writers_has_all_that_was_acknowledged() {
    let Some(mut cluster) = Cluster::new(WRITERS) else { return };
    let hosts = ["one", "two", "three"].map(|name| cluster.host(name));
    let outlived = run_outages(&hosts, ROUNDS, SEED, || {
        cluster.database.kill();
        cluster.database.resume();
    });
    proves_something(outlived);
    nobody_is_dead(&hosts[0]);
}

#[test]
fn a_standby_that_takes_over_has_all_that_was_acknowledged_and_hosts_go_on() {
    let Some(mut primary) = PostgresServer::start() else { return };
    let standby = primary.with_standby();
    let mut cluster = Cluster::on(primary, WRITERS);
    let link = cluster.link();
    let hosts = ["one", "two", "three"].map(|name| cluster.host_over(&link, name));
    let process = started(&hosts[0], "s", "sleep 1000");
    let said = cluster.database.said();
    assert!(said.contains("is now a synchronous standby"), "commits do not wait for it: {said}");
    let outlived = run_outages(&hosts, 1, SEED, || {
        // It is ended for good, which is the fence.
        cluster.database.kill();
        standby.promote();
        link.lead_to(Destination::Socket(standby.socket()));
    });
    assert!(outlived.acknowledged > 0 && outlived.happened + outlived.lost > 0, "{outlived:?}");
    for host in &hosts {
        blocking::until("it is in contact again", || host.is_ready().then_some(()).ok_or_else(|| host.server.log()));
        assert_eq!(host.code("s", POLL, &poll(&process)), None, "{}: the home is what it was", host.name);
        let _ = host.called(&host.name, "planning__create_goal", &json!({"goal": "Go on"}));
    }
    nobody_is_dead(&hosts[0]);
}

#[test]
fn a_database_without_room_refuses_writes_in_words_and_goes_on_once_there_is_some() {
    let Some(disk) = Disk::mount() else { return };
    let Some(database) = PostgresServer::start_with_tables_in(disk.path()) else { return };
    let cluster = Cluster::on(database, TABLES);
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let process = started(&one, "s", "sleep 1000");
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    let mut write = |host: &ClusterHost| {
        let session = format!("session-{}", kept.len() + refused.len());
        let result = host.call(&session, "planning__create_goal", &json!({"goal": "g".repeat(400)}));
        let is_refused = result["isError"] == true;
        if is_refused {
            let told = result["content"][0]["text"].as_str().expect("a text");
            assert!(told.contains("the disk that holds the state is full, and nothing was written"), "{told}");
        }
        let sessions = if is_refused { &mut refused } else { &mut kept };
        sessions.push(session);
        is_refused
    };
    assert!(!write(&one), "there is room");
    disk.fill();
    blocking::until("there is no room left in pages", || write(&one));
    all_the_while(LONG, || {
        write(&two);
        assert_eq!(two.code("s", POLL, &poll(&process)), None, "{}", one.server.log());
        assert!(goals_of(&two, "session-0").contains("ggg"), "what is there can be read");
        nobody_is_dead(&one);
        assert!(one.is_ready() && two.is_ready());
    });
    disk.make_room();
    blocking::until("there is room", || !write(&two));
    for session in &kept {
        assert!(goals_of(&one, session).contains("ggg"), "{session} was acknowledged");
    }
    for session in &refused {
        assert!(!goals_of(&two, session).contains("ggg"), "{session} was refused");
    }
}

/// The log of the server is on the full disk: the server itself ends, as PostgreSQL does then.
#[test]
fn a_database_that_ends_for_want_of_room_has_all_that_was_acknowledged_once_it_runs_again() {
    let Some(disk) = Disk::of_mebibytes(48) else { return };
    let Some(database) = PostgresServer::start() else { return };
    let mut cluster = Cluster::on(database, WRITERS);
    place_log(&mut cluster.database, disk.path());
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let process = started(&one, "s", "sleep 1000");
    disk.fill();
    let (mut random, mut kept) = (Rng::with_seed(SEED), Vec::new());
    let refused = blocking::until("there is no room", || {
        let word = format!("zq{}", kept.len());
        let content = json!({"name": word, "text": text(&word, &mut random)});
        let result = two.call("s", "content-store__add_content", &content);
        if result["isError"] == true {
            return Ok(result);
        }
        kept.push(word);
        Err(format!("{} are kept", kept.len()))
    });
    assert!(!kept.is_empty(), "the log had no room from the beginning");
    let code = code_of(&refused).expect("refused");
    assert!(["unavailable", "internal"].contains(&code.as_str()), "{refused}");
    blocking::until("the server has ended", || {
        let said = cluster.database.said();
        if said.contains("database system is shut down\n") { Ok(()) } else { Err(said) }
    });
    disk.make_room();
    cluster.database.resume();
    let listed = blocking::until("the database answers", || {
        let listed = two.call("s", "content-store__list_contents", &json!({"limit": 100}));
        if listed["isError"] == true { Err(listed.to_string()) } else { Ok(listed["structuredContent"].to_string()) }
    });
    for word in &kept {
        assert!(listed.contains(&format!("\"{word}\"")), "{word} was acknowledged: {listed}");
    }
    assert_eq!(one.code("s", POLL, &poll(&process)), None, "a process outlives the database");
}
