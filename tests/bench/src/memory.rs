//! What a server that serves for long keeps resident.

use anyhow::{Context as _, Result};

use crate::{
    Setting,
    bare::Bare,
    report::Report,
    stdio_client::{IN_FLIGHT, Server, opened},
};

/// Calls of a side, and in how many steps its memory is looked at.
const CALLS: usize = 100_000;
const STEPS: usize = 20;

/// Resident memory of a process, in MiB.
pub(crate) fn resident(process: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<f64>().ok())
        .context("the system does not tell resident memory")?;
    Ok(kib / 1024.0)
}

pub(crate) fn growth(setting: &Setting, report: &mut Report) -> Result<()> {
    let data = setting.data()?;
    let mut wharf = opened(Server::wharf(setting, data.path())?, setting.calls(1_000))?;
    let early = resident(wharf.id())?;
    let (few, many) = (setting.calls(1_000), setting.calls(99_000));
    wharf.throughput(many, IN_FLIGHT)?;
    let late = resident(wharf.id())?;
    report.note(
        "memory_growth",
        late / early,
        &format!("{late:.1} MiB after {} calls, {early:.1} MiB after {few}", few + many),
    );
    Ok(())
}

/// Resident memory of a server by the number of calls that it has answered.
#[expect(clippy::cast_precision_loss, reason = "a count of calls")]
fn over_calls(setting: &Setting, mut server: Server) -> Result<Vec<(f64, f64)>> {
    server.open()?;
    let mut points = vec![(0.0, resident(server.id())?)];
    let step = setting.calls(CALLS / STEPS);
    for number in 1..=STEPS {
        server.throughput(step, IN_FLIGHT)?;
        points.push(((number * step) as f64, resident(server.id())?));
    }
    Ok(points)
}

/// Wharf beside bare wasmtime, each behind the same protocol library, as many threads and
/// the same allocator. The bare server's code was compiled before it started: a compiler in
/// the process would leave memory behind that serving needs not.
pub(crate) fn beside_bare(setting: &Setting, report: &mut Report) -> Result<()> {
    let (data, code) = (setting.data()?, Bare::precompiled(&setting.echo_component)?);
    // The first host compiles the plugin, the one that is measured finds it.
    opened(Server::wharf(setting, data.path())?, 1)?;
    let wharf = over_calls(setting, Server::wharf(setting, data.path())?)?;
    let bare = over_calls(setting, Server::bare(code.path())?)?;
    let last = |points: &[(f64, f64)]| points.last().map_or((0.0, 0.0), |point| *point);
    let ((calls, ours), (_, theirs)) = (last(&wharf), last(&bare));
    report.note(
        "resident",
        ours / theirs,
        &format!("{ours:.1} MiB after {calls:.0} calls, bare wasmtime {theirs:.1} MiB"),
    );
    report.series("memory_over_calls", "Wharf", wharf);
    report.series("memory_over_calls", "bare wasmtime", bare);
    Ok(())
}
