//! Hosts of one cluster: a call that another host passes on beside one at home, three hosts beside
//! one, how long after the death of a host its sessions hear of it, and when a plugin is everywhere.

mod hosts;
mod lost;

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};

use self::hosts::{Cluster, ClusterHost};
pub(crate) use self::lost::lost;
use crate::{
    Setting,
    http::{Connection, Load, Server, client},
    report::{Report, median},
};

/// The keys of this file.
pub(crate) const KEYS: [&str; 9] = [
    "cluster_routed_latency",
    "cluster_routed_throughput",
    "cluster_three",
    "cluster_three_homed",
    "cluster_gone_seconds",
    "cluster_contention",
    "cluster_plugin_seconds",
    "cluster_plugin_seconds_nats",
    "cluster_lost",
];

const ROUNDS: usize = 9;
/// Calls one after the other, in each round.
const CALLS: usize = 2_000;
/// Calls with [`IN_FLIGHT`] on their way, in each round.
const RATED: usize = 20_000;
/// The same for writes of one entry.
const WRITES: usize = 1_000;
const IN_FLIGHT: usize = 64;
const KILLS: usize = 60;
const ADDITIONS: usize = 30;
/// Nothing of this takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

const TOOL: &str = "echo__echo";
/// Adds to a list that keeps the last ten.
const MEMO: &str = "planning__add_memo";
/// What needs a home.
const FILES: &str = "[plugin.echo.grants.workspace]\nreason = \"a benchmark\"\n";

/// Has a host become the home of a session.
async fn claim(host: &ClusterHost, session: &str) -> Result<()> {
    Connection::to(&host.server).await?.echo(&host.server.call_in(session, TOOL, 1)).await
}

/// A call that its host passes on to the home, beside the same at the home.
pub(crate) fn routed(setting: &Setting, report: &mut Report) -> Result<()> {
    let Some(cluster) = Cluster::new(setting, FILES, &KEYS[..2]) else { return Ok(()) };
    let client = client()?;
    let (home, other) = (cluster.host("one")?, cluster.host("two")?);
    client.block_on(async {
        claim(&home, "s").await?;
        let call = |server: &Server| {
            let server = server.call_in("s", TOOL, 1);
            move |_| server.clone()
        };
        let mut loads = Vec::new();
        for host in [&other, &home] {
            loads.push(Load::new(&host.server, IN_FLIGHT, call(&host.server)).await?);
        }
        let mut latencies = [const { Vec::new() }; 2];
        let mut rates = [const { Vec::new() }; 2];
        for round in 0..=setting.rounds(ROUNDS) {
            for (side, load) in loads.iter_mut().enumerate() {
                let took = load.latencies(setting.calls(CALLS)).await?;
                let rate = load.rate(setting.calls(RATED)).await?;
                // The first round warms up.
                if round > 0 {
                    latencies[side].push(median(took));
                    rates[side].push(rate);
                }
            }
        }
        let ratio = ratios(&latencies);
        let [routed, local] = latencies.map(median);
        report.note(KEYS[0], ratio, &format!("p50 {routed:.0} us, at home {local:.0} us"));
        let ratio = ratios(&rates);
        let [routed, local] = rates.map(median);
        report.note(KEYS[1], ratio, &format!("{:.1}k calls/s, at home {:.1}k", routed / 1e3, local / 1e3));
        Ok(())
    })
}

/// Round by round, the first side divided by the second.
fn ratios([ours, theirs]: &[Vec<f64>; 2]) -> f64 {
    median(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect())
}

/// What three hosts are asked, and one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Calls that run where they arrive.
    Anywhere,
    /// Calls that need the home of their session, of as many sessions as there are connections.
    AtHome,
    /// Writes of one entry.
    OneEntry,
}

impl Work {
    fn call(self, server: &Server, session: &str, id: usize) -> Vec<u8> {
        match self {
            Self::Anywhere | Self::AtHome => server.call_in(session, TOOL, id),
            Self::OneEntry => server.call_with(MEMO, &json!({"memo": "hello"}), id, Some("one")),
        }
    }
}

/// Three hosts beside one, on the same processors.
pub(crate) fn three(setting: &Setting, report: &mut Report) -> Result<()> {
    let Some(cluster) = Cluster::new(setting, "", &KEYS[2..3]) else { return Ok(()) };
    three_beside_one(&cluster, report, KEYS[2], Work::Anywhere, RATED)
}

/// The same with homes: calls arrive at each host as a balancer spreads them.
pub(crate) fn three_homed(setting: &Setting, report: &mut Report) -> Result<()> {
    let Some(cluster) = Cluster::new(setting, FILES, &KEYS[3..4]) else { return Ok(()) };
    three_beside_one(&cluster, report, KEYS[3], Work::AtHome, RATED)
}

/// The same with writers of one entry.
pub(crate) fn contention(setting: &Setting, report: &mut Report) -> Result<()> {
    let Some(cluster) = Cluster::new(setting, "", &KEYS[5..6]) else { return Ok(()) };
    three_beside_one(&cluster, report, KEYS[5], Work::OneEntry, WRITES)
}

fn three_beside_one(cluster: &Cluster<'_>, report: &mut Report, key: &str, work: Work, rated: usize) -> Result<()> {
    let (setting, client) = (cluster.setting, client()?);
    let hosts = cluster.hosts()?;
    client.block_on(async {
        let session = |number: usize| format!("s-{number}");
        let home_of = |number: usize| &hosts[number / hosts.len() % hosts.len()];
        let mut spread = Vec::new();
        for (at, host) in hosts.iter().enumerate() {
            let mine: Vec<_> = (0..IN_FLIGHT).filter(|number| number % hosts.len() == at).collect();
            for number in mine.iter().filter(|_| work == Work::AtHome) {
                claim(home_of(*number), &session(*number)).await?;
            }
            let call = |index: usize| work.call(&host.server, &session(mine[index - 1]), index);
            spread.push(Load::new(&host.server, mine.len(), call).await?);
        }
        let own = |index: usize| format!("own-{index}");
        for index in (1..=IN_FLIGHT).filter(|_| work == Work::AtHome) {
            claim(&hosts[0], &own(index)).await?;
        }
        let call = |index: usize| work.call(&hosts[0].server, &own(index), index);
        let mut one = Load::new(&hosts[0].server, IN_FLIGHT, call).await?;
        let mut rates = [const { Vec::new() }; 2];
        for round in 0..=setting.rounds(ROUNDS) {
            let calls = setting.calls(rated);
            let [first, second, third] = spread.as_mut_slice() else { bail!("three hosts have three loads") };
            let each = calls.div_ceil(hosts.len());
            let began = Instant::now();
            tokio::try_join!(first.rate(each), second.rate(each), third.rate(each))?;
            let took = began.elapsed().as_secs_f64();
            #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
            let of_three = (each * hosts.len()) as f64 / took;
            let of_one = one.rate(calls).await?;
            if round > 0 {
                rates[0].push(of_three);
                rates[1].push(of_one);
            }
        }
        let ratio = ratios(&rates);
        let [three, of_one] = rates.map(median);
        let slowest = spread.iter().map(|load| load.slowest).max().unwrap_or_default();
        let text = format!(
            "{:.2}k calls/s with {IN_FLIGHT} in flight, one host {:.2}k; the slowest {:.0} ms, one host {:.0} ms",
            three / 1e3,
            of_one / 1e3,
            slowest.as_secs_f64() * 1e3,
            one.slowest.as_secs_f64() * 1e3
        );
        report.note(key, ratio, &text);
        Ok(())
    })
}

/// From the death of a host to the first `gone` of a session that it was the home of, asked at
/// another host without a pause: the worst.
pub(crate) fn gone(setting: &Setting, report: &mut Report) -> Result<()> {
    let Some(cluster) = Cluster::new(setting, FILES, &KEYS[4..5]) else { return Ok(()) };
    let client = client()?;
    let [mut dying, other, _witness] = cluster.hosts()?;
    client.block_on(async {
        let mut took = Vec::new();
        for round in 0..setting.calls(KILLS) {
            let session = format!("s-{round}");
            claim(&dying, &session).await?;
            let call = other.server.call_in(&session, TOOL, 1);
            Connection::to(&other.server).await?.echo(&call).await?;
            dying.server.kill()?;
            took.push(until_gone(&other, &call).await?.as_secs_f64());
            cluster.restart(&mut dying)?;
        }
        note_worst(report, KEYS[4], took);
        Ok(())
    })
}

/// Notes the worst of so many seconds.
fn note_worst(report: &mut Report, key: &str, took: Vec<f64>) {
    let worst = took.iter().copied().fold(0.0, f64::max);
    let text = format!("seconds, the worst of {}; p50 {:.3} s", took.len(), median(took));
    report.note(key, worst, &text);
}

async fn until_gone(host: &ClusterHost, call: &[u8]) -> Result<Duration> {
    let began = Instant::now();
    let mut connection = Connection::to(&host.server).await?;
    loop {
        let (_, body) = connection.ask(call, 200).await?;
        let answer: Value = serde_json::from_slice(body)?;
        let code = &answer["result"]["_meta"]["dev.wharf/error"]["code"];
        if code == "gone" {
            return Ok(began.elapsed());
        }
        ensure!(code == "unavailable", "not gone: {answer}");
        ensure!(began.elapsed() < PATIENCE, "not gone for {PATIENCE:?}: {answer}");
    }
}

/// From the end of `wharf plugin add` at one host until every host serves the plugin: the worst.
pub(crate) fn plugin(setting: &Setting, report: &mut Report) -> Result<()> {
    let Some(cluster) = Cluster::new(setting, "", &KEYS[6..7]) else { return Ok(()) };
    plugin_everywhere(&cluster, KEYS[6], report)
}

/// The same where NATS carries the news.
pub(crate) fn plugin_over_nats(setting: &Setting, report: &mut Report) -> Result<()> {
    let Some(cluster) = Cluster::over_nats(setting, &KEYS[7..8]) else { return Ok(()) };
    plugin_everywhere(&cluster, KEYS[7], report)
}

fn plugin_everywhere(cluster: &Cluster<'_>, key: &str, report: &mut Report) -> Result<()> {
    let (setting, client) = (cluster.setting, client()?);
    let hosts = cluster.hosts()?;
    client.block_on(async {
        let mut took = Vec::new();
        for round in 0..setting.calls(ADDITIONS) {
            let name = format!("added-{round}");
            hosts[round % hosts.len()].add(setting, &name)?;
            let began = Instant::now();
            for host in &hosts {
                until_served(host, &name).await?;
            }
            took.push(began.elapsed().as_secs_f64());
        }
        note_worst(report, key, took);
        Ok(())
    })
}

async fn until_served(host: &ClusterHost, plugin: &str) -> Result<()> {
    let began = Instant::now();
    let mut connection = Connection::to(&host.server).await?;
    let call = host.server.call_with(&format!("{plugin}__echo"), &json!({"text": "hello"}), 1, None);
    loop {
        let (_, body) = connection.ask(&call, 200).await?;
        let answer: Value = serde_json::from_slice(body)?;
        if answer["result"].is_object() {
            return Ok(());
        }
        ensure!(began.elapsed() < PATIENCE, "not served for {PATIENCE:?}: {answer}");
    }
}
