//! Whether contexts that expired leave memory behind.

use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use serde_json::json;
use tokio::runtime::Runtime;
use wharf::{CallRequest, Context, Host, TenantId};

use crate::{
    Setting,
    engine::{open_host, runtime},
    memory::resident,
    report::{Bar, Report},
};

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
        Bar::AtMost(1.05),
        &format!("{after:.1} MiB after {contexts} contexts touched and expired, {before:.1} MiB before"),
    );
    Ok(())
}
