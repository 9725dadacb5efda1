//! Replacing a plugin again and again while it is called: whether a call fails, and what
//! stays behind.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use wharf::{CallRequest, Context, Host, PluginSpec, TenantId};

use crate::{
    Setting,
    engine::{open_host, runtime},
    memory::resident,
    report::{Bar, Report},
};

/// Who calls at once.
const CALLERS: usize = 4;

/// Replaces the plugin so many times under load; how many calls were answered meanwhile.
async fn swap(host: &Host, components: &[Vec<u8>; 2], swaps: usize) -> Result<u64> {
    let (over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (host, over, answered) = (host.clone(), Arc::clone(&over), Arc::clone(&answered));
            tokio::spawn(async move {
                let context = Context::new(TenantId::local(), format!("caller-{caller}").parse()?);
                while !over.load(Ordering::Relaxed) {
                    let arguments = json!({"text": "swap"}).as_object().cloned().unwrap_or_default();
                    host.call(CallRequest::new(context.clone(), "swapped__echo", arguments)).await?;
                    answered.fetch_add(1, Ordering::Relaxed);
                }
                Ok::<_, anyhow::Error>(())
            })
        })
        .collect();
    let mut old = Vec::new();
    for number in 1..=swaps {
        let spec = PluginSpec::new("swapped".parse()?, components[number % 2].clone());
        old.push(host.replace_plugin(spec).await?.plugin.watch());
    }
    over.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await?.context("a call failed while its plugin was replaced")?;
    }
    let alive = old.iter().filter(|version| version.strong_count() > 0).count();
    ensure!(alive == 1, "{alive} versions are held after the last call, and one is current");
    Ok(answered.load(Ordering::Relaxed))
}

pub(crate) fn under_load(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data) = (runtime(2)?, tempfile::tempdir()?);
    let host = open_host(&runtime, &setting.echo_component, data.path(), "")?;
    let one = std::fs::read(&setting.echo_component)?;
    // A custom section at the end makes another digest of the same code.
    let other = [one.as_slice(), &[0, 5, 4, b's', b'w', b'a', b'p']].concat();
    let components = [one, other];
    let swaps = setting.calls(1_000);
    runtime.block_on(async {
        host.load_plugin(PluginSpec::new("swapped".parse()?, components[0].clone())).await?;
        // Pools and caches fill once, whatever comes later.
        swap(&host, &components, swaps / 5).await?;
        let before = resident(std::process::id())?;
        let answered = swap(&host, &components, swaps).await?;
        let after = resident(std::process::id())?;
        if answered == 0 {
            bail!("no call was answered while plugins were replaced");
        }
        report.note(
            "plugin_swap",
            after / before,
            Bar::AtMost(1.05),
            &format!(
                "{after:.1} MiB after {swaps} swaps with {answered} calls meanwhile, none of which failed; \
                 {before:.1} MiB before"
            ),
        );
        Ok(())
    })
}
