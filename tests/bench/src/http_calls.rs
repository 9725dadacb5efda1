//! Calls over HTTP: `wharf serve --http` beside the server without Wasm, in turns.

use anyhow::Result;

use crate::{
    Setting,
    http::{Load, Server, client},
    report::{Report, median},
    stdio::SWEEP,
};

const ROUNDS: usize = 9;
/// Connections, each with one call on its way.
const IN_FLIGHT: usize = 64;

/// Beside the server without Wasm with the allocator of `wharf`, and with the system's.
pub(crate) const KEYS: [&str; 4] =
    ["http_throughput", "http_throughput_session", "http_throughput_system", "http_throughput_session_system"];

pub(crate) fn throughput(setting: &Setting, report: &mut Report) -> Result<()> {
    let (data, client) = (setting.data()?, client()?);
    let servers = [Server::wharf(setting, data.path())?, Server::echo()?, Server::echo_with_system_allocator()?];
    client.block_on(async {
        // Of each server: each request for itself, and in a session.
        let mut loads = Vec::new();
        for server in &servers {
            let headers = server.open().await?;
            loads.push([
                Load::new(server, IN_FLIGHT, |id| server.call("echo__echo", id)).await?,
                Load::new(server, IN_FLIGHT, |id| server.older_call(&headers, id)).await?,
            ]);
        }
        let mut rates = [const { Vec::new() }; 2];
        for round in 0..=setting.rounds(ROUNDS) {
            // The first round warms up.
            let calls = setting.calls(if round == 0 { 10_000 } else { 40_000 });
            for (era, rates) in rates.iter_mut().enumerate() {
                let mut of_servers = Vec::new();
                for load in &mut loads {
                    of_servers.push(load[era].rate(calls).await?);
                }
                if round > 0 {
                    rates.push(of_servers);
                }
            }
        }
        let eras = ["each request for itself (2026-07-28)", "in a session (2025-11-25), the other without one"];
        for (yardstick, keys) in KEYS.chunks(2).enumerate() {
            for ((key, rates), era) in keys.iter().zip(&rates).zip(eras) {
                let allocator =
                    if yardstick == 0 { "both with mimalloc" } else { "the other with the system's allocator" };
                note(report, key, rates, yardstick + 1, &format!("{era}; {allocator}"));
            }
        }
        if setting.plots {
            for (server, side) in servers.iter().zip(["Wharf", "without Wasm"]) {
                plots(setting, report, server, side).await?;
            }
        }
        Ok(())
    })
}

/// The first server's rates beside those of another one, round by round.
fn note(report: &mut Report, key: &str, rates: &[Vec<f64>], other: usize, how: &str) {
    let of = |server: usize| median(rates.iter().map(|round| round[server] / 1e3).collect());
    let ratio = median(rates.iter().map(|round| round[0] / round[other]).collect());
    let absolute = format!("{:.1}k calls/s with {IN_FLIGHT} in flight, without Wasm {:.1}k; {how}", of(0), of(other));
    report.note(key, ratio, &absolute);
}

#[expect(clippy::cast_precision_loss, reason = "a count of calls")]
async fn plots(setting: &Setting, report: &mut Report, server: &Server, side: &str) -> Result<()> {
    let mut points = Vec::new();
    for in_flight in SWEEP {
        let mut load = Load::new(server, in_flight, |id| server.call("echo__echo", id)).await?;
        if in_flight == 1 {
            report.distribution("latency_http", side, load.latencies(setting.calls(5_000)).await?);
        }
        let mut best: f64 = 0.0;
        for _ in 0..setting.rounds(3) {
            // The best of three: less is another program's doing.
            best = best.max(load.rate(setting.calls(20_000)).await?);
        }
        points.push((in_flight as f64, best));
    }
    report.series("throughput_by_in_flight", &format!("{side}, HTTP"), points);
    Ok(())
}
