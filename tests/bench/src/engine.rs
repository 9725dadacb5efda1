//! `Host::call` beside bare wasmtime, in one process.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use wharf::{CallRequest, Configuration, Context, Host, SessionId, TenantId};

use crate::{
    Setting,
    bare::Bare,
    report::{Report, median, quantile},
};

const TOOL: &str = "echo__echo";
const ROUNDS: usize = 15;

/// A host with the echo plugin, on a data directory of its own.
pub(crate) fn open_host(runtime: &Runtime, component: &Path, data: &Path, more: &str) -> Result<Host> {
    let source = std::path::absolute(component)?;
    let text = format!("[plugin.echo]\nsource = {:?}\n{more}", source.display().to_string());
    let configuration = Configuration::parse(&text, data)?;
    let host = runtime.block_on(Host::open(configuration, data))?;
    if let Some(rejected) = host.rejected().first() {
        return Err(anyhow!("plugin {}: {}", rejected.name, rejected.reason));
    }
    Ok(host)
}

pub(crate) fn runtime(threads: usize) -> Result<Runtime> {
    // As the command has it.
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    Ok(builder.worker_threads(threads).global_queue_interval(1).enable_all().build()?)
}

fn arguments() -> Map<String, Value> {
    json!({"text": "hello"}).as_object().cloned().unwrap_or_default()
}

fn small_context() -> Context {
    Context::new(TenantId::local(), SessionId::default_session())
}

fn full_context() -> Result<Context> {
    Ok(Context {
        tenant: TenantId::local(),
        session: "0198f3c2-5b1e-7c3a-9d63-2f7a1f6e0b11".parse()?,
        assistant: Some("assistant-0198f3c2-5b1e-7c3a-9d63-2f7a1f6e0b12".parse()?),
        thread: Some("thread-0198f3c2-5b1e-7c3a-9d63-2f7a1f6e0b13".parse()?),
    })
}

/// The median time of `calls` calls, in microseconds.
pub(crate) fn p50(runtime: &Runtime, calls: usize, call: impl AsyncFnMut() -> Result<()>) -> Result<f64> {
    Ok(quantile(&mut samples(runtime, calls, call)?, 0.5))
}

/// The times of `calls` calls, in microseconds.
fn samples(runtime: &Runtime, calls: usize, mut call: impl AsyncFnMut() -> Result<()>) -> Result<Vec<f64>> {
    let mut samples = Vec::with_capacity(calls);
    runtime.block_on(async {
        for _ in 0..calls {
            let start = Instant::now();
            call().await?;
            samples.push(start.elapsed().as_secs_f64() * 1e6);
        }
        anyhow::Ok(())
    })?;
    Ok(samples)
}

/// The median time of calls of the echo plugin, in microseconds.
pub(crate) fn echo_p50(runtime: &Runtime, host: &Host, calls: usize) -> Result<f64> {
    let context = small_context();
    p50(runtime, calls, async || {
        host.call(CallRequest::new(context.clone(), TOOL, arguments())).await?;
        Ok(())
    })
}

pub(crate) fn latency(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data) = (runtime(2)?, setting.data()?);
    let host = open_host(&runtime, &setting.echo_component, data.path(), "")?;
    let bare = Bare::load(&setting.echo_component)?;
    let calls = setting.calls(3_000);
    let text = Value::Object(arguments()).to_string();
    let (small, full) = (small_context(), full_context()?);
    let host_call = async |context: &Context| {
        host.call(CallRequest::new(context.clone(), TOOL, arguments())).await?;
        Ok(())
    };
    let bare_call = async || bare.call("echo", &text).await.map(drop);
    let (mut of_host, mut of_bare, mut of_full) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=setting.rounds(ROUNDS) {
        let bare = p50(&runtime, calls, bare_call)?;
        let plain = p50(&runtime, calls, async || host_call(&small).await)?;
        let with_context = p50(&runtime, calls, async || host_call(&full).await)?;
        // The first round warms up.
        if round > 0 {
            of_host.push(plain);
            of_bare.push(bare);
            of_full.push(with_context);
        }
    }
    let ratio =
        |over: &[f64], under: &[f64]| median(over.iter().zip(under).map(|(over, under)| over / under).collect());
    report.note(
        "engine_overhead",
        ratio(&of_host, &of_bare),
        &format!("Host::call p50 {:.1} us, bare wasmtime {:.1} us", median(of_host.clone()), median(of_bare)),
    );
    report.note(
        "context_overhead",
        ratio(&of_full, &of_host),
        &format!("with a full context p50 {:.1} us, without {:.1} us", median(of_full), median(of_host.clone())),
    );
    if setting.plots {
        report.distribution("latency_engine", "Wharf", samples(&runtime, calls, async || host_call(&small).await)?);
        report.distribution("latency_engine", "bare wasmtime", samples(&runtime, calls, bare_call)?);
    }
    Ok(())
}

/// Calls a second of `threads` threads that each call again and again.
fn rate(threads: usize, time: Duration, call: impl Fn() -> Result<()> + Sync) -> Result<f64> {
    let start = Instant::now();
    let counts: Vec<Result<u32>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut count = 0;
                    while start.elapsed() < time {
                        call()?;
                        count += 1;
                    }
                    Ok(count)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a thread panicked")))).collect()
    });
    let total = counts.into_iter().sum::<Result<u32>>()?;
    Ok(f64::from(total) / start.elapsed().as_secs_f64())
}

pub(crate) fn scaling(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data) = (runtime(2)?, setting.data()?);
    let host = open_host(&runtime, &setting.echo_component, data.path(), "")?;
    let bare = Bare::load(&setting.echo_component)?;
    let text = Value::Object(arguments()).to_string();
    let context = small_context();
    let handle = runtime.handle();
    let host_call = || {
        handle.block_on(host.call(CallRequest::new(context.clone(), TOOL, arguments())))?;
        Ok(())
    };
    let bare_call = || handle.block_on(bare.call("echo", &text)).map(drop);
    let time = Duration::from_millis(if setting.quick { 20 } else { 700 });
    let mut gains = Vec::new();
    let mut figures = Vec::new();
    for round in 0..=setting.rounds(10) {
        let host_one = rate(1, time, host_call)?;
        let bare_one = rate(1, time, bare_call)?;
        let host_two = rate(2, time, host_call)?;
        let bare_two = rate(2, time, bare_call)?;
        if round > 0 {
            gains.push((host_two / host_one) / (bare_two / bare_one));
            figures.push([host_one, host_two, bare_one, bare_two]);
        }
    }
    let of = |index: usize| median(figures.iter().map(|figures| figures[index] / 1e3).collect());
    report.note(
        "engine_scaling",
        median(gains),
        &format!(
            "Host::call {:.1}k/s on 1 thread, {:.1}k/s on 2; bare wasmtime {:.1}k/s and {:.1}k/s",
            of(0),
            of(1),
            of(2),
            of(3)
        ),
    );
    Ok(())
}
