//! What idle contexts cost, and whether those that expired leave memory behind.

use std::time::{Duration, SystemTime};

use anyhow::{Result, bail, ensure};
use serde_json::json;
use tokio::runtime::Runtime;
use wharf::{CallRequest, Context, Host, TenantId};

use crate::{
    Setting,
    engine::{open_host, runtime},
    memory::resident,
    report::Report,
    stdio_client::Server,
};

/// Contexts before those that are counted: pools and caches fill once.
const WARM_UP: usize = 1_000;
const IDLE: usize = 10_000;

/// One call of the planning tool in each of so many new contexts, and then the
/// expiry of them all.
fn touch_and_expire(runtime: &Runtime, host: &Host, name: &str, contexts: usize) -> Result<()> {
    runtime.block_on(async {
        for index in 0..contexts {
            let context = Context {
                thread: Some(format!("thread-{index}").parse()?),
                ..Context::new(TenantId::local(), format!("{name}-{index}").parse()?)
            };
            let arguments = json!({"goal": "Touch this context"}).as_object().cloned().unwrap_or_default();
            host.call(CallRequest::new(context, "planning__create_goal", arguments)).await?;
        }
        let later = SystemTime::now() + Duration::from_secs(365 * 24 * 3600);
        host.state().sweep(later).await?;
        Ok(())
    })
}

pub(crate) fn memory(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data) = (runtime(2)?, setting.data()?);
    let host = open_host(&runtime, &setting.echo_component, data.path(), "")?;
    if !host.installed().iter().any(|installed| installed.plugin.name().as_str() == "planning") {
        bail!("planning is not part of this build; run `cargo xtask plugins` first");
    }
    let contexts = setting.calls(1_000);
    // Pools and caches fill once, whatever comes later.
    touch_and_expire(&runtime, &host, "warm-up", contexts)?;
    let before = resident(std::process::id())?;
    touch_and_expire(&runtime, &host, "session", contexts)?;
    let after = resident(std::process::id())?;
    report.note(
        "context_memory",
        after / before,
        &format!("{after:.1} MiB after {contexts} contexts touched and expired, {before:.1} MiB before"),
    );
    Ok(())
}

/// Resident memory for each session that made one call and then none, in the server that
/// people run.
#[expect(clippy::cast_precision_loss, reason = "a count of contexts")]
pub(crate) fn idle(setting: &Setting, report: &mut Report) -> Result<()> {
    const KIB: f64 = 1_024.0;
    let data = setting.data()?;
    let mut server = Server::bundled(setting, data.path(), "default")?;
    server.begin()?;
    let goal = json!({"goal": "Rest in this context"});
    let mut touch = |name: &str, contexts: usize| {
        for index in 0..contexts {
            let answer = server.call("planning__create_goal", &goal, Some(&format!("{name}-{index}")))?;
            // Another number would mean that two of them share a context.
            ensure!(answer["structuredContent"]["goal"]["id"] == 1, "not the first goal of its session: {answer}");
        }
        resident(server.id())
    };
    let contexts = setting.calls(IDLE);
    let before = touch("warm-up", setting.calls(WARM_UP))?;
    let after = touch("idle", contexts)?;
    let bytes = (after - before).max(0.0) * KIB * KIB / contexts as f64;
    let absolute = format!(
        "{:.1} KiB each: {after:.1} MiB with {contexts} more contexts that have made one call, {before:.1} MiB before",
        bytes / KIB
    );
    report.note("context_idle", bytes, &absolute);
    Ok(())
}
