//! From the start of `wharf serve` to its list of tools and to its first call, warm and on an
//! empty data directory; and how long that list is.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::{
    Setting,
    report::{Report, median},
    stdio_client::Server,
};

/// The profile that has all bundled plugins.
const ALL: &str = "developer";
const PLUGINS: [&str; 6] = ["browser", "content-store", "planning", "playbook", "terminal", "workspace"];
/// Calls that follow the first one.
const WARM_CALLS: usize = 20;

/// Milliseconds from start to the list of tools.
fn start_time(start: impl Fn() -> Result<Server>, plugins: &[&str]) -> Result<f64> {
    let began = Instant::now();
    let mut server = start()?;
    let listing = server.begin()?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    // The next one has nothing to clear away after it.
    server.leave()?;
    for plugin in plugins {
        ensure!(listing.has_plugin(plugin), "the first list has no tool of {plugin}; run `cargo xtask plugins` first");
    }
    Ok(took)
}

/// Starts of both sides, in turns.
struct Starts {
    wharf: Vec<f64>,
    echo: Vec<f64>,
}

impl Starts {
    fn note(self, report: &mut Report, key: &str, how: &str) {
        let Self { wharf, echo } = self;
        let ratio = median(wharf.iter().zip(&echo).map(|(wharf, echo)| wharf / echo).collect());
        let absolute = format!("{:.2} ms, without Wasm {:.2} ms", median(wharf.clone()), median(echo.clone()));
        report.note(key, ratio, &absolute);
        report.distribution("cold_starts", &format!("Wharf, {how}"), wharf);
        if key == "cold_start" {
            report.distribution("cold_starts", "without Wasm", echo);
        }
    }
}

pub(crate) fn warm(setting: &Setting, report: &mut Report) -> Result<()> {
    let data = setting.data()?;
    let mut starts = Starts { wharf: Vec::new(), echo: Vec::new() };
    for round in 0..=setting.calls(50) {
        let wharf = start_time(|| Server::bundled(setting, data.path(), ALL), &PLUGINS)?;
        let echo = start_time(Server::echo, &["echo"])?;
        // The first start fills the data directory.
        if round > 0 {
            starts.wharf.push(wharf);
            starts.echo.push(echo);
        }
    }
    starts.note(report, "cold_start", "warm data directory");
    Ok(())
}

pub(crate) fn first(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut starts = Starts { wharf: Vec::new(), echo: Vec::new() };
    for _ in 0..setting.calls(30) {
        // Nothing is shared, not even with a quick run's other hosts.
        let data = tempfile::tempdir()?;
        starts.wharf.push(start_time(|| Server::bundled(setting, data.path(), ALL), &PLUGINS)?);
        starts.echo.push(start_time(Server::echo, &["echo"])?);
    }
    starts.note(report, "first_start", "empty data directory");
    Ok(())
}

/// The first call of a bundled plugin in a data directory that was empty, beside those that follow.
pub(crate) fn first_call(setting: &Setting, report: &mut Report) -> Result<()> {
    let (mut first, mut warm) = (Vec::new(), Vec::new());
    for _ in 0..setting.calls(20) {
        let data = tempfile::tempdir()?;
        let mut server = Server::bundled(setting, data.path(), ALL)?;
        server.begin()?;
        let mut call = || {
            let began = Instant::now();
            server.call("planning__add_memo", &json!({"memo": "It is measured"}), None)?;
            anyhow::Ok(began.elapsed().as_secs_f64() * 1e3)
        };
        first.push(call()?);
        warm.push(median((0..WARM_CALLS).map(|_| call()).collect::<Result<_>>()?));
    }
    let over = median(first.iter().zip(&warm).map(|(first, warm)| first - warm).collect());
    let absolute = format!("the first {:.2} ms, a warm one {:.2} ms", median(first), median(warm));
    report.note("first_call", over, &absolute);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a list")]
pub(crate) fn tools_bytes(setting: &Setting, report: &mut Report) -> Result<()> {
    for (key, profile) in [("tools_bytes", "default"), ("tools_bytes_all", ALL)] {
        let data = setting.data()?;
        let listing = Server::bundled(setting, data.path(), profile)?.begin()?;
        let absolute = format!("{} tools, as they are answered over stdio", listing.tools.len());
        report.note(key, listing.bytes as f64, &absolute);
    }
    Ok(())
}
