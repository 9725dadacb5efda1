//! Many writers of one scope beside one writer: the same changes, by the same
//! tool, of the same entry.

use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, task::JoinSet};
use wharf::{CallRequest, Context, Host, TenantId};

use crate::{
    Setting,
    engine::{open_host, runtime},
    report::{Report, median},
};

const WRITERS: usize = 200;
const CHANGES: usize = 2_000;
const ROUNDS: usize = 9;

/// Calls a tool of the planning plugin in a thread and returns its structured
/// answer.
async fn call(host: &Host, thread: &str, tool: &str, arguments: Value) -> Result<Value> {
    let context = Context { thread: Some(thread.parse()?), ..Context::new(TenantId::local(), "contention".parse()?) };
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let answer = host.call(CallRequest::new(context, format!("planning__{tool}"), arguments)).await?;
    if answer.is_error {
        bail!("{tool}: {}", answer.content.first().and_then(|part| part.as_text()).unwrap_or_default());
    }
    answer.structured.with_context(|| format!("{tool} answered no structure"))
}

/// Changes a second of `writers` that each add memos to one list. The list
/// keeps the last ten and counts all of them, so that each change reads, changes
/// and writes one small entry; no two may get one number, and none is left out.
fn rate(runtime: &Runtime, host: &Host, thread: &str, writers: usize, changes: usize) -> Result<f64> {
    runtime.block_on(async {
        let mut running = JoinSet::new();
        let began = Instant::now();
        for writer in 0..writers {
            let (host, thread) = (host.clone(), thread.to_owned());
            running.spawn(async move {
                let mut numbers = Vec::new();
                for change in (writer..changes).step_by(writers) {
                    let memo = json!({"memo": format!("change {change}")});
                    let added = call(&host, &thread, "add_memo", memo).await?;
                    numbers.extend(added["memo"]["id"].as_u64());
                }
                anyhow::Ok(numbers)
            });
        }
        let mut numbers = Vec::with_capacity(changes);
        while let Some(finished) = running.join_next().await {
            numbers.extend(finished??);
        }
        let seconds = began.elapsed().as_secs_f64();
        numbers.sort_unstable();
        if numbers != (1..=changes as u64).collect::<Vec<_>>() {
            bail!("{writers} writers lost some of {changes} changes: {numbers:?}");
        }
        #[expect(clippy::cast_precision_loss, reason = "a thousand")]
        Ok(changes as f64 / seconds)
    })
}

pub(crate) fn writers(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data) = (runtime(2)?, setting.data()?);
    let host = open_host(&runtime, &setting.echo_component, data.path(), "")?;
    if !host.installed().iter().any(|installed| installed.plugin.name().as_str() == "planning") {
        bail!("planning is not part of this build; run `cargo xtask plugins` first");
    }
    let (rounds, changes) = (setting.rounds(ROUNDS), setting.calls(CHANGES));
    let writers = WRITERS.min(changes);
    let (mut ratios, mut of_one, mut of_many) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        let one = rate(&runtime, &host, &format!("one-{round}"), 1, changes)?;
        let many = rate(&runtime, &host, &format!("many-{round}"), writers, changes)?;
        // The first round warms up.
        if round > 0 {
            ratios.push(many / one);
            of_one.push(one);
            of_many.push(many);
        }
    }
    report.note(
        "state_contention",
        median(ratios),
        &format!(
            "{writers} writers of one entry {:.0} changes/s, one writer {:.0}/s; none lost",
            median(of_many),
            median(of_one)
        ),
    );
    Ok(())
}
