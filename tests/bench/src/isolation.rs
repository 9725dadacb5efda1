//! Plugins in processes of their own beside plugins in the host: what a call costs more, and what
//! an idle tenant takes.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::{runtime::Runtime, task::JoinSet};
use wharf::{CallRequest, Context, Host, SessionId, TenantId};
use wharf_test_support::processes::below;

use crate::{
    Setting,
    engine::{echo_p50, open_host, runtime},
    report::{Report, median, quantile},
};

const ROUNDS: usize = 9;
const IN_FLIGHT: usize = 64;
const TENANTS: usize = 100;
const IN_PROCESSES: &str = "[isolation]\nlevel = \"process\"\n";

/// A call of a worker that is there, beside one in the host; by a thread that waits for it, and by a
/// task of the runtime, as servers call.
pub(crate) fn call(setting: &Setting, report: &mut Report) -> Result<()> {
    let calls = setting.calls(2_000);
    let by_thread = beside(setting, |runtime, host| echo_p50(runtime, host, calls))?;
    by_thread.note(report, "isolation_call", "us p50");
    let by_task = beside(setting, |runtime, host| task_p50(runtime, host, calls))?;
    by_task.note(report, "isolation_call_task", "us p50");
    Ok(())
}

/// Calls a second where many are under way.
pub(crate) fn throughput(setting: &Setting, report: &mut Report) -> Result<()> {
    let time = Duration::from_millis(if setting.quick { 20 } else { 700 });
    let of_one = beside(setting, |runtime, host| rate(runtime, host, 1, time))?;
    of_one.note(report, "isolation_throughput", "calls a second");
    let of_many = beside(setting, |runtime, host| rate(runtime, host, IN_FLIGHT, time))?;
    of_many.note(report, "isolation_throughput_tenants", "calls a second");
    Ok(())
}

/// Figures of each round with workers, and without.
struct Rounds(Vec<(f64, f64)>);

impl Rounds {
    fn note(&self, report: &mut Report, key: &str, unit: &str) {
        let of_all = |figure: fn(&(f64, f64)) -> f64| median(self.0.iter().map(figure).collect());
        let absolute = format!(
            "{:.1} {unit} in a process of the tenant, {:.1} {unit} in the host",
            of_all(|round| round.0),
            of_all(|round| round.1)
        );
        report.note(key, median(self.0.iter().map(|(isolated, plain)| isolated / plain).collect()), &absolute);
    }
}

/// Measures a host with workers and one without, in turn.
fn beside(setting: &Setting, measure: impl Fn(&Runtime, &Arc<Host>) -> Result<f64>) -> Result<Rounds> {
    let (runtime, data, other) = (runtime(2)?, setting.data()?, setting.data()?);
    let isolated = Arc::new(open_host(&runtime, &setting.echo_component, data.path(), IN_PROCESSES)?);
    let plain = Arc::new(open_host(&runtime, &setting.echo_component, other.path(), "")?);
    let mut rounds = Vec::new();
    for round in 0..=setting.rounds(ROUNDS) {
        let figures = (measure(&runtime, &isolated)?, measure(&runtime, &plain)?);
        // The first round warms up.
        if round > 0 {
            rounds.push(figures);
        }
    }
    Ok(Rounds(rounds))
}

async fn echo(host: &Host, tenant: &TenantId) -> Result<()> {
    let context = Context::new(tenant.clone(), SessionId::default_session());
    let arguments = json!({"text": "hello"}).as_object().cloned().unwrap_or_default();
    host.call(CallRequest::new(context, "echo__echo", arguments)).await?;
    Ok(())
}

/// The median time of calls that a task of the runtime makes, in microseconds.
fn task_p50(runtime: &Runtime, host: &Arc<Host>, calls: usize) -> Result<f64> {
    let host = Arc::clone(host);
    let task = runtime.spawn(async move {
        let (mut samples, tenant) = (Vec::with_capacity(calls), TenantId::local());
        for _ in 0..calls {
            let start = Instant::now();
            echo(&host, &tenant).await?;
            samples.push(start.elapsed().as_secs_f64() * 1e6);
        }
        anyhow::Ok(samples)
    });
    Ok(quantile(&mut runtime.block_on(task)??, 0.5))
}

/// Calls a second with [`IN_FLIGHT`] under way, of so many tenants.
#[expect(clippy::cast_precision_loss, reason = "a count of calls")]
fn rate(runtime: &Runtime, host: &Arc<Host>, tenants: usize, time: Duration) -> Result<f64> {
    runtime.block_on(async {
        let (mut tasks, start) = (JoinSet::new(), Instant::now());
        for task in 0..IN_FLIGHT {
            let (host, tenant) = (Arc::clone(host), format!("tenant-{}", task % tenants).parse()?);
            tasks.spawn(async move {
                let mut count = 0_usize;
                while start.elapsed() < time {
                    echo(&host, &tenant).await?;
                    count += 1;
                }
                anyhow::Ok(count)
            });
        }
        let counts = tasks.join_all().await.into_iter().sum::<Result<usize>>()?;
        Ok(counts as f64 / start.elapsed().as_secs_f64())
    })
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
