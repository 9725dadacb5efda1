//! Terminals: a flood beside a bare terminal, and the memory of a session. The
//! measuring itself is in tests/terminals.

use anyhow::Result;
use wharf_terminal_bench::{flood::Kind, memory, throughput};

use crate::{
    Setting,
    report::{Bar, Report},
};

const MIB: f64 = 1_048_576.0;

/// The worst kind of flood is the figure.
pub(crate) fn throughput(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut measured = throughput::measure(&Kind::ALL, setting.calls(80) << 17, 7)?;
    measured.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    let all = measured.iter().map(|flood| {
        format!(
            "{} {:.2} ({:.0} of {:.0} MiB/s)",
            flood.kind.name(),
            flood.ratio,
            flood.session / MIB,
            flood.bare / MIB
        )
    });
    let absolute = all.collect::<Vec<_>>().join(", ");
    let worst = measured.first().map_or(0.0, |flood| flood.ratio);
    report.note("terminal_throughput", worst, Bar::AtLeast(0.7), &absolute);
    Ok(())
}

/// MiB of a session without its history.
pub(crate) fn memory(_: &Setting, report: &mut Report) -> Result<()> {
    let measured = memory::measure()?;
    let absolute = format!(
        "{:.0} bytes a session, with the usual history full {:.0}; {} sessions at a time",
        measured.bare,
        measured.full,
        memory::SESSIONS
    );
    report.note("terminal_memory", measured.bare / MIB, Bar::AtMost(1.0), &absolute);
    Ok(())
}
