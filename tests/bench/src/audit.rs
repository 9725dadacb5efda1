//! What the audit costs a call: one host that keeps lines beside one that keeps
//! none, in one process and in turns.

use anyhow::Result;
use wharf::Host;

use crate::{
    Setting,
    engine::{echo_p50, open_host, runtime},
    report::{Report, median},
};

const ROUNDS: usize = 15;

/// Lines of calls, and of what a call asks the host for.
pub(crate) fn overhead(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, with, without) = (runtime(2)?, setting.data()?, setting.data()?);
    let audited = open_host(&runtime, &setting.echo_component, with.path(), "")?;
    let silent = open_host(&runtime, &setting.echo_component, without.path(), "[audit]\nenabled = false")?;
    let calls = setting.calls(3_000);
    let measure = |host: &Host| echo_p50(&runtime, host, calls);
    let (mut of_audited, mut of_silent) = (Vec::new(), Vec::new());
    for round in 0..=setting.rounds(ROUNDS) {
        let (one, other) = (measure(&silent)?, measure(&audited)?);
        // The first round warms up.
        if round > 0 {
            of_silent.push(one);
            of_audited.push(other);
        }
    }
    report.note(
        "audit_overhead",
        median(of_audited.iter().zip(&of_silent).map(|(one, other)| one / other).collect()),
        &format!(
            "a call that leaves a line p50 {:.1} us, without {:.1} us",
            median(of_audited.clone()),
            median(of_silent)
        ),
    );
    Ok(())
}
