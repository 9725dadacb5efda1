//! Calls over standard input and output: `wharf serve --stdio` beside the server without
//! Wasm, driven by the same client in turns.

use anyhow::Result;

use crate::{
    Setting,
    report::{Report, median, quantile},
    stdio_client::{IN_FLIGHT, Server, opened},
};

const ROUNDS: usize = 5;
/// How many calls are on their way at once in the plot of throughput.
pub(crate) const SWEEP: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

pub(crate) fn calls(setting: &Setting, report: &mut Report) -> Result<()> {
    let data = setting.data()?;
    let warm_up = setting.calls(5_000);
    let mut wharf = opened(Server::wharf(setting, data.path())?, warm_up)?;
    let mut echo = opened(Server::echo()?, warm_up)?;
    let (mut latencies, mut rates) = (Vec::new(), Vec::new());
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..setting.rounds(ROUNDS) {
        let calls = setting.calls(5_000);
        samples = [wharf.latencies(calls)?, echo.latencies(calls)?];
        latencies.push(samples.each_mut().map(|samples| quantile(samples, 0.5)));
        let calls = setting.calls(100_000);
        rates.push([wharf.throughput(calls, IN_FLIGHT)?, echo.throughput(calls, IN_FLIGHT)?]);
    }
    let ratio = |pairs: &[[f64; 2]]| median(pairs.iter().map(|pair| pair[0] / pair[1]).collect());
    let of = |pairs: &[[f64; 2]], side: usize| median(pairs.iter().map(|pair| pair[side]).collect());
    report.note(
        "stdio_latency",
        ratio(&latencies),
        &format!("p50 {:.0} us, without Wasm {:.0} us", of(&latencies, 0), of(&latencies, 1)),
    );
    report.note(
        "stdio_throughput",
        ratio(&rates),
        &format!("{:.1}k calls/s, without Wasm {:.1}k", of(&rates, 0) / 1e3, of(&rates, 1) / 1e3),
    );
    if setting.plots {
        for (server, (side, samples)) in
            [&mut wharf, &mut echo].into_iter().zip(["Wharf", "without Wasm"].into_iter().zip(samples))
        {
            report.distribution("latency_stdio", side, samples);
            let points = sweep(setting, server)?;
            report.series("throughput_by_in_flight", &format!("{side}, stdio"), points);
        }
    }
    Ok(())
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
