//! Terminals: a flood beside a bare terminal, the memory of a session, the ends
//! of live turns. The measuring itself is in tests/terminals.

use anyhow::Result;
use wharf_terminal_bench::{
    flood::Kind,
    memory, pairs, throughput,
    turns::{Plan, hold},
};

use crate::{Setting, engine::runtime, report::Report};

const MIB: f64 = 1_048_576.0;

/// The worst kind of flood is the figure.
pub(crate) fn throughput(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut measured = throughput::measure(&Kind::ALL, setting.calls(80) << 17, setting.rounds(7))?;
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
    report.note("terminal_throughput", worst, &absolute);
    Ok(())
}

/// The pair that is the default here beside the other one. Where it is slower to
/// open or costs more to read, the default is wrong.
pub(crate) fn pairs(setting: &Setting, report: &mut Report) -> Result<()> {
    let rounds = setting.rounds(7);
    let opening = pairs::opening(rounds)?;
    let [own, portable] = opening.each.map(|took| took * 1e6);
    let absolute = format!("{own:.0} µs, with portable-pty {portable:.0} µs");
    report.note("terminal_pty_open", opening.ratio, &absolute);
    let mut all = pairs::reading(&Kind::ALL, setting.calls(80) << 17, rounds)?;
    all.sort_by(|one, other| one.computed.ratio.total_cmp(&other.computed.ratio));
    let lines = all.iter().map(|reading| {
        let [own, portable] = reading.computed.each.map(|rate| rate / MIB);
        let passed = reading.passed.ratio;
        format!(
            "{} {own:.0} and {portable:.0} MiB for a second of computing ({passed:.2} of time)",
            reading.kind.name()
        )
    });
    let absolute = lines.collect::<Vec<_>>().join(", ");
    let worst = all.first().map_or(0.0, |reading| reading.computed.ratio);
    report.note("terminal_pty_read", worst, &absolute);
    Ok(())
}

/// MiB of a session without its history.
pub(crate) fn memory(setting: &Setting, report: &mut Report) -> Result<()> {
    let count = setting.calls(memory::SESSIONS);
    let measured = memory::measure(count)?;
    let absolute = format!(
        "{:.0} bytes a session, with the usual history full {:.0}; {count} sessions at a time",
        measured.bare, measured.full
    );
    report.note("terminal_memory", measured.bare / MIB, &absolute);
    Ok(())
}

/// How many turns were told too early, and which share of them late.
pub(crate) fn turns(setting: &Setting, report: &mut Report) -> Result<()> {
    let plan = Plan { seed: 1, rounds: setting.rounds(2), turns: setting.calls(100).div_ceil(5) };
    let held = runtime(2)?.block_on(hold(plan))?;
    let lines = [held.known.lines("known programs"), held.strange.lines("other programs")].concat();
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let count =
        |count: fn(&wharf_terminal_bench::turns::Tally) -> usize| (count(&held.known) + count(&held.strange)) as f64;
    let turns = count(|tally| tally.turns);
    report.note("turn_false_early", count(|tally| tally.premature.len()), &lines.join("\n    "));
    let late = count(|tally| tally.late.len());
    report.note("turn_late", late / turns.max(1.0), &format!("{late:.0} of {turns:.0} turns"));
    Ok(())
}
