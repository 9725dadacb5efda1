//! Whether a server that serves for long grows.

use anyhow::{Context as _, Result};

use crate::{
    Setting,
    report::{Bar, Report},
    stdio::{Server, opened},
};

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
    wharf.throughput(many)?;
    let late = resident(wharf.id())?;
    report.note(
        "memory_growth",
        late / early,
        Bar::AtMost(1.1),
        &format!("{late:.1} MiB after {} calls, {early:.1} MiB after {few}", few + many),
    );
    Ok(())
}
