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
    report::{Bar, Report, median},
};

const WRITERS: usize = 200;
const CHANGES: usize = 5;
const ROUNDS: usize = 7;

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

/// Changes a second of `writers` that each mark some of the todos of one list,
/// again and again. Each change reads, changes and writes the same entry, and
/// the last one of every todo must be there in the end.
fn rate(runtime: &Runtime, host: &Host, thread: &str, writers: usize) -> Result<f64> {
    runtime.block_on(async {
        for todo in 0..WRITERS {
            call(host, thread, "add_todo", json!({"name": format!("todo {todo}")})).await?;
        }
        let mut running = JoinSet::new();
        let ticks = || { let t = std::fs::read_to_string("/proc/self/stat").unwrap_or_default(); let f: Vec<u64> = t.rsplit(") ").next().unwrap_or("").split(' ').skip(11).take(2).filter_map(|x| x.parse().ok()).collect(); f.iter().sum::<u64>() };
        let t0 = ticks();
        let began = Instant::now();
        for writer in 0..writers {
            let (host, thread) = (host.clone(), thread.to_owned());
            running.spawn(async move {
                for change in 1..=CHANGES {
                    for todo in (writer..WRITERS).step_by(writers) {
                        let arguments = json!({"id": todo + 1, "summary": change.to_string()});
                        call(&host, &thread, "mark_todo", arguments).await?;
                    }
                }
                anyhow::Ok(())
            });
        }
        while let Some(finished) = running.join_next().await {
            finished??;
        }
        let seconds = began.elapsed().as_secs_f64();
        eprintln!("writers {writers}: {:.0} us wall, {:.0} us cpu per change", seconds * 1e6 / (WRITERS * CHANGES) as f64, (ticks() - t0) as f64 * 1e4 / (WRITERS * CHANGES) as f64);
        let state = call(host, thread, "get_current_state", json!({})).await?;
        let last = CHANGES.to_string();
        let kept =
            state["todos"].as_array().into_iter().flatten().filter(|todo| todo["summary"] == json!(last)).count();
        if kept != WRITERS {
            bail!("of {WRITERS} todos {kept} have the last change of {writers} writers");
        }
        #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
        Ok((WRITERS * CHANGES) as f64 / seconds)
    })
}

pub(crate) fn writers(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data) = (runtime(2)?, tempfile::tempdir()?);
    let host = open_host(&runtime, &setting.echo_component, data.path(), "")?;
    if !host.installed().iter().any(|installed| installed.plugin.name().as_str() == "planning") {
        bail!("planning is not part of this build; run `cargo xtask plugins` first");
    }
    let rounds = if setting.quick { 2 } else { ROUNDS };
    let (mut ratios, mut of_one, mut of_many) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        let one = rate(&runtime, &host, &format!("one-{round}"), 1)?;
        for n in [2, 4, 16, 40] { rate(&runtime, &host, &format!("n{n}-{round}"), n)?; }
        let many = rate(&runtime, &host, &format!("many-{round}"), WRITERS)?;
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
        Bar::AtLeast(1.0),
        &format!(
            "{WRITERS} writers of one entry {:.0} changes/s, one writer {:.0}/s; none lost",
            median(of_many),
            median(of_one)
        ),
    );
    Ok(())
}
