//! From the previous version to today's, host by host, and back.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use serde_json::{Value, json};
use wharf_tests::{
    balancer::Balancer,
    blocking,
    cluster::{Cluster, ClusterHost, code_of},
    previous, program,
};

use super::{ADD, POLL, READ, STATE, cluster, poll, read, started, todo, todos, wrote};

#[test]
fn the_previous_version_serves_on_and_starts_again_on_a_database_that_todays_has_brought_up_to_date() {
    let Some(previous) = previous() else { return };
    let Some(cluster) = cluster() else { return };
    let old = cluster.host_of(&previous, "old");
    let process = started(&old, "s", "while [ ! -e release ]; do sleep 0.05; done");
    wrote(&old, "kept", "of before");
    let _ = old.called("s", ADD, &todo("before"));

    let new = cluster.host("new");
    for host in [&old, &new] {
        assert_eq!(host.code("s", POLL, &poll(&process)), None, "what ran goes on, at {}", host.name);
        assert!(host.called("kept", READ, &read()).to_string().contains("of before"));
        let _ = host.called("s", ADD, &todo(&host.name));
    }
    assert_eq!(todos(&old, "s"), ["before", "old", "new"]);

    let _ = new.called("s", "workspace__write_file", &json!({"path": "release", "content": ""}));
    let old = cluster.replaced(old, &previous);
    for host in [&old, &new] {
        assert_eq!(todos(host, "s"), ["before", "old", "new"], "at {}", host.name);
    }
    keeps(&old, "of before");
    // It takes new sessions, too.
    let process = started(&old, "later", "sleep 1000");
    assert_eq!(new.code("later", POLL, &poll(&process)), None);
}

/// The file of a session whose host has started again is there, once that host is the home again.
#[track_caller]
fn keeps(host: &ClusterHost, content: &str) {
    blocking::until("its host is the home again", || {
        let result = host.call("kept", READ, &read()).to_string();
        assert!(!result.contains("are lost") && !result.contains("not-found"), "{result}");
        if result.contains(content) { Ok(()) } else { Err(result) }
    });
}

#[test]
fn a_host_goes_back_to_the_previous_version_and_forth_again_with_what_it_had() {
    let Some(previous) = previous() else { return };
    let Some(cluster) = cluster() else { return };
    let (mut one, two) = (cluster.host("one"), cluster.host("two"));
    wrote(&one, "kept", "written by today's");
    let mut expected = vec!["today".to_owned()];
    let _ = one.called("s", ADD, &todo("today"));
    for (program, name) in [(&previous, "back"), (&program(), "forth")] {
        one = cluster.replaced(one, program);
        keeps(&one, "written by today's");
        let _ = one.called("s", ADD, &todo(name));
        expected.push(name.to_owned());
        for host in [&one, &two] {
            assert_eq!(todos(host, "s"), expected, "{name}, at {}", host.name);
        }
        let process = started(&one, name, "sleep 0.1");
        assert_eq!(two.code(name, POLL, &poll(&process)), None, "{name}");
    }
}

/// Agents whose calls need no home, while hosts are upgraded.
const AGENTS: usize = 2;
/// A session has so many todos at most: an answer has room for all of them.
const OF_ONE_SESSION: usize = 40;

/// What clients of a cluster share that is upgraded behind a balancer.
struct Load<'c> {
    client: &'c ClusterHost,
    balancer: &'c Balancer,
    is_over: AtomicBool,
    answered: AtomicUsize,
}

impl Load<'_> {
    fn call(&self, session: &str, tool: &str, arguments: &Value) -> Option<Value> {
        self.client.attempt_at(self.balancer.address, tool, arguments, &json!({"dev.wharf/sessionId": session}))
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Adds todos whose calls need no home: none fails. What each session has then.
    fn plan(&self, agent: usize) -> BTreeMap<String, Vec<String>> {
        let mut added = BTreeMap::<_, Vec<_>>::new();
        for number in 0.. {
            if self.is_over() {
                break;
            }
            let (session, name) = (format!("load-{agent}-{}", number / OF_ONE_SESSION), format!("todo {number}"));
            let answer = self.call(&session, ADD, &todo(&name));
            assert!(answer.as_ref().is_some_and(|result| result["isError"] != true), "{session}, {name}: {answer:?}");
            added.entry(session).or_default().push(name);
            self.answered.fetch_add(1, Ordering::SeqCst);
        }
        added
    }

    /// Reads the file of a session, which is on one host, until it is over, and once more: it has what
    /// was written, or the session is told that its files are lost.
    fn follow(&self, session: &str, content: &str) {
        let mut is_told = false;
        let mut look = || {
            let Some(result) = self.call(session, READ, &read()) else { return Err("no answer".to_owned()) };
            let text = result.to_string();
            match code_of(&result).as_deref() {
                None => assert!(text.contains(content) && !is_told, "{session}: {text}"),
                Some("gone") if text.contains("are lost") => is_told = true,
                Some("not-found") => assert!(is_told, "{session}: the workspace is silently empty: {text}"),
                Some("gone" | "unavailable") => return Err(text),
                Some(_) => panic!("{session}: {text}"),
            }
            Ok(())
        };
        while !self.is_over() {
            let _ = look();
        }
        blocking::until("a host acts for the session", look);
    }
}

/// Ends the load, also where a test fails meanwhile.
struct Ending<'l>(&'l AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Replaces each of the hosts as the operator is told to: drained, ended, started again.
fn upgraded(cluster: &Cluster, load: &Load<'_>, hosts: [ClusterHost; 3]) -> [ClusterHost; 3] {
    let mut hosts = hosts.map(Some);
    for number in 0..hosts.len() {
        let old = hosts[number].take().expect("a host");
        let others: Vec<_> = hosts.iter().flatten().collect();
        assert_eq!(others[0].command(&["hosts", "drain", &old.name]).run().code, Some(0));
        load.balancer.until_sends_to(number, false);
        let new = cluster.replaced(old, &program());
        blocking::until("it is ready", || new.is_ready().then_some(()).ok_or_else(|| new.server.log()));
        load.balancer.until_sends_to(number, true);
        let before = load.answered.load(Ordering::SeqCst);
        blocking::until("calls go on", || {
            let answered = load.answered.load(Ordering::SeqCst);
            if answered > before + 10 * AGENTS { Ok(()) } else { Err(answered) }
        });
        hosts[number] = Some(new);
    }
    hosts.map(|host| host.expect("a host"))
}

#[test]
fn three_hosts_are_upgraded_one_by_one_under_load_and_no_call_fails_that_needs_no_home() {
    let Some(previous) = previous() else { return };
    let Some(cluster) = cluster() else { return };
    let hosts = ["one", "two", "three"].map(|name| cluster.host_of(&previous, name));
    let Some(balancer) = Balancer::haproxy(hosts.each_ref().map(|host| host.server.address)) else { return };
    for host in &hosts {
        wrote(host, &format!("busy-{}", host.name), "of before");
        wrote(host, &format!("quiet-{}", host.name), "of before");
    }
    let client = cluster.host_of(&previous, "client");
    let load =
        Load { client: &client, balancer: &balancer, is_over: AtomicBool::new(false), answered: AtomicUsize::new(0) };
    blocking::until("it serves", || match load.call("s", STATE, &json!({})) {
        Some(result) if result["isError"] != true => Ok(()),
        answer => Err(format!("{answer:?}")),
    });
    let (hosts, added) = thread::scope(|scope| {
        let (load, ending) = (&load, Ending(&load.is_over));
        let agents: Vec<_> = (0..AGENTS).map(|agent| scope.spawn(move || load.plan(agent))).collect();
        for name in ["one", "two", "three"] {
            scope.spawn(move || load.follow(&format!("busy-{name}"), "of before"));
        }
        let hosts = upgraded(&cluster, load, hosts);
        drop(ending);
        let added: Vec<_> = agents.into_iter().map(|agent| agent.join().expect("no call fails")).collect();
        (hosts, added)
    });
    for (session, added) in added.into_iter().flatten() {
        assert_eq!(todos(&hosts[0], &session), added, "each call was made once");
    }
    // Nobody called in these sessions meanwhile: each went with its host.
    for host in &hosts {
        let session = format!("quiet-{}", host.name);
        blocking::until("its host is the home again", || {
            let result = hosts[0].call(&session, READ, &read()).to_string();
            assert!(!result.contains("are lost") && !result.contains("not-found"), "{session}: {result}");
            if result.contains("of before") { Ok(()) } else { Err(result) }
        });
    }
}
