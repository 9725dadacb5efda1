//! Plugins in processes of their own beside plugins in the host: what a call costs more, and what
//! an idle tenant takes.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::json;
use wharf::{CallRequest, Context, SessionId};
use wharf_test_support::processes::below;

use crate::{
    Setting,
    engine::{echo_p50, open_host, runtime},
    report::{Report, median},
};

const ROUNDS: usize = 9;
const TENANTS: usize = 100;
const IN_PROCESSES: &str = "[isolation]\nlevel = \"process\"\n";

/// A call of a worker that is there, beside one in the host.
pub(crate) fn call(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data, other) = (runtime(2)?, setting.data()?, setting.data()?);
    let isolated = open_host(&runtime, &setting.echo_component, data.path(), IN_PROCESSES)?;
    let plain = open_host(&runtime, &setting.echo_component, other.path(), "")?;
    let calls = setting.calls(2_000);
    let (mut of_isolated, mut of_plain) = (Vec::new(), Vec::new());
    for round in 0..=setting.rounds(ROUNDS) {
        let (isolated, plain) = (echo_p50(&runtime, &isolated, calls)?, echo_p50(&runtime, &plain, calls)?);
        // The first round warms up.
        if round > 0 {
            of_isolated.push(isolated);
            of_plain.push(plain);
        }
    }
    let ratio = median(of_isolated.iter().zip(&of_plain).map(|(isolated, plain)| isolated / plain).collect());
    let absolute =
        format!("p50 {:.1} us in a process of the tenant, {:.1} us in the host", median(of_isolated), median(of_plain));
    report.note("isolation_call", ratio, &absolute);
    Ok(())
}

/// Memory of the processes of tenants that made one call each and then none.
#[expect(clippy::cast_precision_loss, reason = "a count of tenants")]
pub(crate) fn memory(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data) = (runtime(2)?, setting.data()?);
    let tables = format!("{IN_PROCESSES}ahead = 0\n");
    let host = open_host(&runtime, &setting.echo_component, data.path(), &tables)?;
    let tenants = setting.calls(TENANTS).max(2);
    let own = std::process::id();
    ensure!(rustix::process::geteuid().is_root(), "only root may see how much memory a worker shares");
    let before = memory_of(&below(own))?;
    runtime.block_on(async {
        for tenant in 0..tenants {
            let context = Context::new(format!("tenant-{tenant}").parse()?, SessionId::default_session());
            let arguments = json!({"text": "hello"}).as_object().cloned().unwrap_or_default();
            host.call(CallRequest::new(context, "echo__echo", arguments)).await?;
        }
        anyhow::Ok(())
    })?;
    let processes = below(own);
    ensure!(processes.len() >= tenants, "{} processes for {tenants} tenants", processes.len());
    let bytes = (memory_of(&processes)? - before) / tenants as f64;
    let absolute = format!(
        "{:.2} MiB for each of {tenants} idle tenants, supervisors included ({} processes)",
        bytes / f64::from(1 << 20),
        processes.len()
    );
    report.note("isolation_memory", bytes, &absolute);
    Ok(())
}

/// Memory of these processes. What several of them have mapped, such as the program, compiled code and
/// pages of supervisors that were forked, counts for each by its share.
fn memory_of(processes: &[u32]) -> Result<f64> {
    let mut sum = 0.0;
    for process in processes {
        // It may just have ended. Only root may look into a worker.
        let Ok(shares) = fs::read_to_string(format!("/proc/{process}/smaps_rollup")) else { continue };
        let kib = shares.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB"));
        sum += kib.map(str::parse::<f64>).transpose()?.unwrap_or_default() * 1_024.0;
    }
    Ok(sum)
}
