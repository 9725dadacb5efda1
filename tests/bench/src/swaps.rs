//! Replacing a plugin again and again while it is called, in a host of this process and by
//! command in one that serves over HTTP: whether a call fails, and what stays behind.

use std::{
    collections::VecDeque,
    fmt,
    ops::Range,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use tokio::process::Command;
use wharf::{CallRequest, Context, Host, PluginSpec, TenantId};

use crate::{
    Setting,
    engine::{open_host, runtime},
    http::{Listening, Load, Server, client},
    memory::resident,
    report::{Report, median},
};

/// How many callers call at once.
const CALLERS: usize = 4;

/// What a process holds.
#[derive(Clone, Copy)]
struct Held {
    resident: f64,
    descriptors: usize,
    threads: usize,
    files: usize,
}

impl Held {
    /// Now, with the files below its directory.
    fn by(process: u32, data: &Path) -> Result<Self> {
        let count = |what: &str| Ok::<_, std::io::Error>(std::fs::read_dir(format!("/proc/{process}/{what}"))?.count());
        let [descriptors, threads] = [count("fd")?, count("task")?];
        Ok(Self { resident: resident(process)?, descriptors, threads, files: files_below(data)? })
    }

    /// A few more or less come of what happens to run at the moment, not of a swap.
    fn ensure_no_growth(self, before: Self, swaps: usize) -> Result<()> {
        let few = |before: usize| before + (swaps / 20).clamp(4, 16);
        ensure!(
            self.descriptors <= few(before.descriptors)
                && self.threads <= few(before.threads)
                && self.files <= few(before.files),
            "{swaps} swaps left something behind: {self}; before {before}"
        );
        Ok(())
    }
}

/// The resident memory after each of the last swaps. Their median counts: what the allocator
/// keeps for a moment (a tenth more, in one sample of ten) is no growth, and a leak is in all.
struct LastResidents {
    most: usize,
    noted: VecDeque<f64>,
}

impl LastResidents {
    /// Of a tenth of so many swaps.
    fn of(swaps: usize) -> Self {
        Self { most: swaps.div_ceil(10), noted: VecDeque::new() }
    }

    fn note(&mut self, process: u32) -> Result<()> {
        if self.noted.len() == self.most {
            self.noted.pop_front();
        }
        self.noted.push_back(resident(process)?);
        Ok(())
    }

    fn held(&self, process: u32, data: &Path) -> Result<Held> {
        Ok(Held { resident: median(self.noted.iter().copied().collect()), ..Held::by(process, data)? })
    }
}

impl fmt::Display for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resident, descriptors, threads, files } = self;
        write!(formatter, "{resident:.1} MiB, {descriptors} descriptors, {threads} threads, {files} files")
    }
}

fn files_below(directory: &Path) -> Result<usize> {
    let mut files = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        files += if entry.file_type()?.is_dir() { files_below(&entry.path())? } else { 1 };
    }
    Ok(files)
}

fn note(report: &mut Report, key: &str, swaps: usize, answered: u64, [before, after]: [Held; 2]) -> Result<()> {
    if answered == 0 {
        bail!("no call was answered while plugins were replaced");
    }
    after.ensure_no_growth(before, swaps)?;
    let absolute =
        format!("after {swaps} swaps with {answered} calls, none of which failed: {after}; before: {before}");
    report.note(key, after.resident / before.resident, &absolute);
    Ok(())
}

/// The same code twice, as components with digests of their own.
fn components(setting: &Setting) -> Result<[Vec<u8>; 2]> {
    let one = std::fs::read(&setting.echo_component)?;
    // A custom section at the end makes another digest of the same code.
    let other = [one.as_slice(), &[0, 5, 4, b's', b'w', b'a', b'p']].concat();
    Ok([one, other])
}

/// Replaces the plugin so many times under load; how many calls were answered meanwhile.
async fn swap(host: &Host, components: &[Vec<u8>; 2], swaps: usize, residents: &mut LastResidents) -> Result<u64> {
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
        residents.note(std::process::id())?;
    }
    over.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await?.context("a call failed while its plugin was replaced")?;
    }
    let alive = old.iter().filter(|version| version.strong_count() > 0).count();
    ensure!(alive == 1, "{alive} versions are held after the last call, and one is current");
    Ok(answered.load(Ordering::Relaxed))
}

/// By the library.
pub(crate) fn under_load(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, data) = (runtime(2)?, setting.data()?);
    let host = open_host(&runtime, &setting.echo_component, data.path(), "")?;
    let components = components(setting)?;
    let swaps = setting.calls(1_000);
    runtime.block_on(async {
        host.load_plugin(PluginSpec::new("swapped".parse()?, components[0].clone())).await?;
        // Pools and caches fill once, whatever comes later.
        let mut residents = LastResidents::of(swaps);
        swap(&host, &components, swaps / 5, &mut residents).await?;
        let before = residents.held(std::process::id(), data.path())?;
        let answered = swap(&host, &components, swaps, &mut residents).await?;
        let after = residents.held(std::process::id(), data.path())?;
        note(report, "plugin_swap", swaps, answered, [before, after])
    })
}

/// By `wharf plugin update`, beside a server that clients call and listen to.
pub(crate) fn over_http(setting: &Setting, report: &mut Report) -> Result<()> {
    let (data, files, client) = (setting.data()?, tempfile::tempdir()?, client()?);
    let components = components(setting)?;
    let paths = [files.path().join("swapped.wasm"), files.path().join("other.wasm")];
    for (path, component) in paths.iter().zip(&components) {
        std::fs::write(path, component)?;
    }
    let plugin = async |arguments: &[&str]| {
        let mut command = Command::new(&setting.wharf);
        command.args(["plugin"]).args(arguments).arg("--config").arg(data.path().join("wharf.toml"));
        let ran = command.arg("--data").arg(data.path()).output().await?;
        ensure!(ran.status.success(), "wharf plugin {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        anyhow::Ok(())
    };
    let [first, second] = paths.each_ref().map(|path| path.to_string_lossy().into_owned());
    let swaps = setting.calls(1_000);
    client.block_on(async {
        let server = Server::wharf(setting, data.path())?;
        plugin(&["add", &first]).await?;
        let mut load = Load::new(&server, CALLERS, |id| server.call("swapped__echo", id)).await?;
        // A call is answered once its plugin is served, so no news of either is left to be heard.
        load.latencies(1).await?;
        Load::new(&server, 1, |id| server.call("echo__echo", id)).await?.latencies(1).await?;
        let listening = Listening::begin(&server).await?;
        let over = Arc::new(AtomicBool::new(false));
        let calling = tokio::spawn(load.until(Arc::clone(&over)));
        let update = async |number: usize| {
            let source = if number.is_multiple_of(2) { &first } else { &second };
            plugin(&["update", "swapped", source]).await
        };
        let held_after = async |numbers: Range<usize>| {
            let mut residents = LastResidents::of(swaps);
            for number in numbers {
                update(number).await?;
                residents.note(server.id())?;
            }
            residents.held(server.id(), data.path())
        };
        let before = held_after(1..1 + swaps / 5).await?;
        listening.until((swaps / 5) as u64).await?;
        let after = held_after(1 + swaps / 5..1 + swaps + swaps / 5).await?;
        over.store(true, Ordering::Relaxed);
        let answered = calling.await?.context("a call failed while its plugin was replaced")?;
        listening.until((swaps + swaps / 5) as u64).await?;
        note(report, "plugin_swap_http", swaps, answered, [before, after])
    })
}
