//! What one host pays for clusters that it has no part in: the command as it comes beside a
//! build without the feature `postgres`, in turns.

use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::{
    Setting, http,
    report::{Report, median, quantile},
    stdio_client::{IN_FLIGHT, Server, opened},
};

const ROUNDS: usize = 10;

pub(crate) const KEYS: [&str; 4] =
    ["cluster_off_latency", "cluster_off_throughput", "cluster_off_http", "cluster_off_start"];

/// With clusters, and without.
type Sides<T> = [T; 2];
/// Which side is started, and then asked, first: whatever comes first may be better off.
const ORDERS: [Sides<usize>; 2] = [[0, 1], [1, 0]];

/// Each round's pair of figures.
#[derive(Default)]
struct Rounds(Vec<Sides<f64>>);

impl Rounds {
    fn add(&mut self, order: Sides<usize>, mut measure: impl FnMut(usize) -> Result<f64>) -> Result<()> {
        let mut pair = [0.0; 2];
        for side in order {
            pair[side] = measure(side)?;
        }
        self.0.push(pair);
        Ok(())
    }

    fn note(&self, report: &mut Report, key: &str, unit: &str) {
        let of = |side: usize| median(self.0.iter().map(|pair| pair[side]).collect());
        let ratio = median(self.0.iter().map(|[with, without]| with / without).collect());
        report.note(key, ratio, &format!("{:.1} {unit}, without clusters {:.1}", of(0), of(1)));
    }
}

pub(crate) fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let without = setting.without_cluster().context("the build without clusters is named by --without-cluster")?;
    let sides = [setting, &without];
    over_stdio(sides, report)?;
    over_http(sides, report)?;
    starts(sides, report)
}

/// What `start` makes of both sides, made in this order.
fn in_order<T>(order: Sides<usize>, mut start: impl FnMut(usize) -> Result<T>) -> Result<Sides<T>> {
    let [first, second] = [start(order[0])?, start(order[1])?];
    Ok(if order[0] == 0 { [first, second] } else { [second, first] })
}

fn over_stdio(sides: Sides<&Setting>, report: &mut Report) -> Result<()> {
    let [setting, _] = sides;
    let (mut latency, mut throughput) = (Rounds::default(), Rounds::default());
    for order in ORDERS {
        let data = [setting.data()?, setting.data()?];
        let start = |side: usize| opened(Server::wharf(sides[side], data[side].path())?, setting.calls(5_000));
        let mut servers = in_order(order, start)?;
        for _ in 0..setting.rounds(ROUNDS) {
            latency.add(order, |side| Ok(quantile(&mut servers[side].latencies(setting.calls(5_000))?, 0.5)))?;
            throughput.add(order, |side| servers[side].throughput(setting.calls(50_000), IN_FLIGHT))?;
        }
    }
    latency.note(report, KEYS[0], "us");
    throughput.note(report, KEYS[1], "calls/s");
    Ok(())
}

fn over_http(sides: Sides<&Setting>, report: &mut Report) -> Result<()> {
    let [setting, _] = sides;
    let (client, mut rates) = (http::client()?, Rounds::default());
    for order in ORDERS {
        let data = [setting.data()?, setting.data()?];
        let servers = in_order(order, |side| http::Server::wharf(sides[side], data[side].path()))?;
        let mut loads = in_order(order, |side| {
            let server = &servers[side];
            client.block_on(async {
                server.open().await?;
                let mut load = http::Load::new(server, IN_FLIGHT, |id| server.call("echo__echo", id)).await?;
                load.rate(setting.calls(10_000)).await?;
                Ok(load)
            })
        })?;
        for _ in 0..setting.rounds(ROUNDS) {
            rates.add(order, |side| client.block_on(loads[side].rate(setting.calls(40_000))))?;
        }
    }
    rates.note(report, KEYS[2], "calls/s");
    Ok(())
}

fn starts(sides: Sides<&Setting>, report: &mut Report) -> Result<()> {
    let [setting, _] = sides;
    let data = [setting.data()?, setting.data()?];
    let start = |side: usize| {
        let began = Instant::now();
        let mut server = Server::bundled(sides[side], data[side].path(), "developer")?;
        server.begin()?;
        let took = began.elapsed().as_secs_f64() * 1e3;
        server.leave()?;
        Ok(took)
    };
    // The first ones fill the data directories.
    in_order(ORDERS[0], start)?;
    let mut rounds = Rounds::default();
    for _ in 0..setting.calls(50) {
        for order in ORDERS {
            rounds.add(order, start)?;
        }
    }
    rounds.note(report, KEYS[3], "ms");
    Ok(())
}
