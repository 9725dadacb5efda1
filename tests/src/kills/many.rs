//! The same with many hosts that serve as one: any of them is killed, while callers go to all.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::{Value, json};
use wharf_test_support::blocking;

use super::{
    content,
    counters::{Counters, Of},
    files::Files,
    lane::{AtHome, Lane, is_of_a_dead_host},
    planning::Planning,
    playbook::Playbooks,
};
use crate::cluster::{Cluster, ClusterHost};

/// All callers show one token.
const TABLES: &str = "profile = \"developer\"\n[http.limits]\nrequests_per_second = 100000\n";
const SHELL: &str = "workspace__execute_shell";
const POLL: &str = "workspace__poll_process";

/// How many rounds, from which randomness.
#[derive(Debug, Clone, Copy)]
pub struct ManyKills {
    /// Kills, each of one host of three.
    pub rounds: u32,
    /// Chooses tools, hosts and moments.
    pub seed: u64,
}

/// What came of the rounds.
#[derive(Debug, Clone, Default)]
pub struct ManySurvived {
    /// Changes that a host had acknowledged.
    pub acknowledged: u64,
    /// How often the files of a session were told as lost.
    pub files_lost: u64,
    /// How long it took after each kill until another host said that what the dead one had is
    /// gone.
    pub gone: Vec<Duration>,
}

/// A process that runs in a session whose home is a certain host.
struct Held {
    session: String,
    process: Value,
}

/// Kills hosts of a cluster so often, and checks it each time; nothing where this machine has no
/// PostgreSQL.
///
/// # Panics
/// Where anything acknowledged is missing, anything is there by half, two hosts acted for one
/// session, or a handle of a dead host is answered.
#[must_use]
pub fn run_many(kills: ManyKills) -> Option<ManySurvived> {
    let cluster = Cluster::new(TABLES)?;
    let mut random = Rng::with_seed(kills.seed);
    let mut hosts: Vec<ClusterHost> = ["one", "two", "three"].map(|name| cluster.host(name)).into();
    let mut lanes: Vec<Box<dyn Lane>> = Vec::new();
    lanes.extend((0..2).map(|number| Box::new(Planning::new(number)) as Box<dyn Lane>));
    lanes.push(Box::new(Playbooks::new(0)));
    lanes.extend(content::is_there().then(|| Box::new(content::Contents::new(0)) as Box<dyn Lane>));
    let mut files: Vec<Files> = (0..3).map(Files::new).collect();
    let mut counters = vec![Counters::new(Of::Shell, 0), Counters::new(Of::Shell, 1), Counters::new(Of::Page, 0)];
    let mut survived = ManySurvived::default();
    for round in 0..kills.rounds {
        let victim = random.usize(0..hosts.len());
        let held = hold(&hosts[victim], round);
        let (acknowledged, gone) =
            load(&hosts, victim, &held, &mut lanes, at_home(&mut files, &mut counters), &mut random);
        survived.acknowledged += acknowledged;
        survived.gone.push(gone);
        let victim = hosts.swap_remove(victim);
        let name = victim.name.clone();
        let left = victim.killed();
        // A host that is back soon is the home of its sessions again, and has their files. One that
        // is not has lost both to the others.
        let (soon, late) = if round % 2 == 0 { (Some(left), None) } else { (None, Some(left)) };
        let again = thread::scope(|scope| {
            let again = soon.map(|left| scope.spawn(|| cluster.host_in(&name, left)));
            // What the killed host asked for may go on there.
            cluster.database.rest();
            for lane in &mut lanes {
                let mut host = &hosts[random.usize(0..hosts.len())];
                lane.verify(&mut host);
            }
            for caller in at_home(&mut files, &mut counters) {
                caller.verify(&hosts[random.usize(0..hosts.len())]);
            }
            again.map(|again| again.join().expect("it starts again"))
        });
        let again = again.unwrap_or_else(|| cluster.host_in(&name, late.expect("it is one of both")));
        hosts.push(again);
        for host in &hosts {
            let code = poll(host, &held);
            assert_eq!(code.as_deref(), Some("gone"), "{}: what the dead host had", host.name);
        }
    }
    survived.files_lost = files.iter().map(|files| files.lost).sum();
    Some(survived)
}

/// Callers of what is on one host alone.
fn at_home<'c>(files: &'c mut [Files], counters: &'c mut [Counters]) -> Vec<&'c mut dyn AtHome> {
    let files = files.iter_mut().map(|files| files as &mut dyn AtHome);
    files.chain(counters.iter_mut().map(|counters| counters as _)).collect()
}

/// Starts something in a new session, whose home is this host then.
fn hold(host: &ClusterHost, round: u32) -> Held {
    let session = format!("held-{round}");
    let started = host.called(&session, SHELL, &json!({"command": "sleep 1000", "run_mode": "async"}));
    Held { session, process: started["structuredContent"]["process_id"].clone() }
}

fn poll(host: &ClusterHost, held: &Held) -> Option<String> {
    host.code(&held.session, POLL, &json!({"process_id": held.process}))
}

/// Keeps every lane busy by way of all hosts, and kills one of them meanwhile. How many calls were
/// answered, and how long after the kill another host knew.
fn load(
    hosts: &[ClusterHost],
    victim: usize,
    held: &Held,
    lanes: &mut [Box<dyn Lane>],
    at_home: Vec<&mut dyn AtHome>,
    random: &mut Rng,
) -> (u64, Duration) {
    let (is_over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let (is_over, answered) = (&is_over, &answered);
    let any = |random: &mut Rng| &hosts[random.usize(0..hosts.len())];
    let gone = thread::scope(|scope| {
        for lane in lanes {
            let mut random = random.fork();
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    let (tool, arguments) = lane.next(&mut random);
                    let answer = any(&mut random).attempt(tool, &arguments, &lane.context());
                    // Whether the call happened is not known.
                    let Some(answer) = answer.filter(|answer| !is_of_a_dead_host(answer)) else { return };
                    lane.acknowledge(&answer);
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for caller in at_home {
            let mut random = random.fork();
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    if caller.step(any(&mut random)) {
                        answered.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        let other = &hosts[(victim + 1 + random.usize(0..hosts.len() - 1)) % hosts.len()];
        blocking::until("the other host reaches the home", || match poll(other, held) {
            None => Ok(()),
            code => Err(format!("{code:?}")),
        });
        let time = Duration::from_millis(random.u64(0..150));
        blocking::let_time_pass(time, "a kill comes at any moment");
        hosts[victim].crash();
        let killed = Instant::now();
        blocking::until("another host knows", || match poll(other, held).as_deref() {
            Some("gone") => Ok(()),
            code => Err(format!("{code:?}")),
        });
        let gone = killed.elapsed();
        let time = Duration::from_millis(random.u64(0..150));
        blocking::let_time_pass(time, "calls go on after a kill");
        is_over.store(true, Ordering::SeqCst);
        gone
    });
    (answered.load(Ordering::SeqCst), gone)
}
