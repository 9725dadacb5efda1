//! Calls over standard input and output: `wharf serve --stdio` beside the server without
//! Wasm, driven by the same client in turns. What a sandbox for each call costs in any case is
//! shown by the same server with bare wasmtime behind it.

use anyhow::Result;

use crate::{
    Setting,
    bare::Bare,
    placement::Placement,
    report::{Report, median, quantile},
    stdio_client::{IN_FLIGHT, Server, opened},
};

const ROUNDS: usize = 5;
/// How many calls are on their way at once in the plot of throughput.
pub(crate) const SWEEP: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const SIDES: [&str; 3] = ["Wharf", "without Wasm", "bare wasmtime"];

/// What three servers did: Wharf, the one without Wasm, and that with bare wasmtime.
type Sides<T> = [T; 3];

pub(crate) fn calls(setting: &Setting, report: &mut Report) -> Result<()> {
    let data = setting.data()?;
    let code = Bare::precompiled(&setting.echo_component)?;
    let warm_up = setting.calls(5_000);
    let mut servers: Sides<Server> = [
        opened(Server::wharf(setting, data.path())?, warm_up)?,
        opened(Server::echo()?, warm_up)?,
        opened(Server::bare(code.path())?, warm_up)?,
    ];
    latency(setting, report, &mut servers)?;
    let mut rates: Vec<Sides<f64>> = Vec::new();
    for _ in 0..setting.rounds(ROUNDS) {
        let mut rate = |side: usize| servers[side].throughput(setting.calls(100_000), IN_FLIGHT);
        rates.push([rate(0)?, rate(1)?, rate(2)?]);
    }
    report.note(
        "stdio_throughput",
        ratio(&rates),
        &format!(
            "{:.1}k calls/s, without Wasm {:.1}k, with bare wasmtime {:.1}k",
            median_of(&rates, 0) / 1e3,
            median_of(&rates, 1) / 1e3,
            median_of(&rates, 2) / 1e3
        ),
    );
    if setting.plots {
        for (server, side) in servers.iter_mut().zip(SIDES) {
            let points = sweep(setting, server)?;
            report.series("throughput_by_in_flight", &format!("{side}, stdio"), points);
        }
    }
    Ok(())
}

/// The ratio of the worse placement: the other hides what a call costs behind what waking a
/// processor costs, or that behind what it costs to change threads.
fn latency(setting: &Setting, report: &mut Report, servers: &mut Sides<Server>) -> Result<()> {
    let (mut worst, mut told) = (0.0_f64, Vec::new());
    for placement in Placement::all()? {
        let (mut medians, mut samples): (Vec<Sides<f64>>, Sides<Vec<f64>>) = (Vec::new(), Sides::default());
        for _ in 0..setting.rounds(ROUNDS) {
            for (server, samples) in servers.iter_mut().zip(&mut samples) {
                let _placed = placement.place(server.id())?;
                *samples = server.latencies(setting.calls(5_000))?;
            }
            medians.push(samples.each_mut().map(|samples| quantile(samples, 0.5)));
        }
        worst = worst.max(ratio(&medians));
        let place = match placement {
            Placement::OneProcessor => "one processor",
            Placement::TwoProcessors => "two",
        };
        told.push(format!(
            "on {place} p50 {:.1} us, without Wasm {:.1} us, with bare wasmtime {:.1} us",
            median_of(&medians, 0),
            median_of(&medians, 1),
            median_of(&medians, 2)
        ));
        if setting.plots && placement == Placement::OneProcessor {
            for (side, samples) in SIDES.into_iter().zip(samples) {
                report.distribution("latency_stdio", side, samples);
            }
        }
    }
    report.note("stdio_latency", worst, &told.join("; "));
    Ok(())
}

/// Of Wharf to the server without Wasm.
fn ratio(rounds: &[Sides<f64>]) -> f64 {
    median(rounds.iter().map(|sides| sides[0] / sides[1]).collect())
}

fn median_of(rounds: &[Sides<f64>], side: usize) -> f64 {
    median(rounds.iter().map(|sides| sides[side]).collect())
}

#[expect(clippy::cast_precision_loss, reason = "a count of calls")]
fn sweep(setting: &Setting, server: &mut Server) -> Result<Vec<(f64, f64)>> {
    SWEEP
        .into_iter()
        .map(|in_flight| {
            // The best of three: less is another program's doing.
            let rates = (0..setting.rounds(3)).map(|_| server.throughput(setting.calls(20_000), in_flight));
            let best = rates.collect::<Result<Vec<_>>>()?.into_iter().fold(0.0, f64::max);
            Ok((in_flight as f64, best))
        })
        .collect()
}
