//! Measures Wharf beside the best that there is, in the same run: bare wasmtime
//! with the fastest settings, and an rmcp server that echoes without Wasm.
//!
//! Machines differ and are busy, so every result is a ratio of two sides that
//! were measured in turn; absolute figures are printed beside it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool: printing is what it is for")]

mod audit;
#[expect(dead_code, reason = "the servers load what this compiles")]
mod bare;
mod clusters;
mod contention;
mod contexts;
mod databases;
mod engine;
mod http;
mod http_calls;
mod isolation;
mod keys;
mod languages;
mod machine;
mod memory;
mod pages;
mod peers;
mod placement;
mod plots;
mod process_starts;
mod processes;
mod report;
mod search;
mod search_corpus;
mod search_yardstick;
mod starts;
mod stdio;
mod stdio_client;
mod swaps;
mod terminals;
mod traces;
mod watchers;
mod webviews;
mod without_cluster;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser;
use languages::Guest;
use machine::Circumstances;
use mimalloc::MiMalloc;
use peers::Peer;
use report::Report;
use tempfile::TempDir;

/// As the `wharf` command has it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Measure Wharf; see `cargo xtask bench --help`
#[derive(Debug, Parser)]
struct Bench {
    /// The `wharf` binary that is measured
    #[arg(long)]
    wharf: Option<PathBuf>,

    /// The component whose tool `echo` is called
    #[arg(long)]
    echo_component: Option<PathBuf>,

    /// The folder with Korean texts; without it, search_korean is left out
    #[arg(long)]
    korean_corpus: Option<PathBuf>,

    /// The command built without the feature `postgres`; without it, the keys cluster_off_* are left out
    #[arg(long)]
    without_cluster: Option<PathBuf>,

    /// Print one JSON object of ratios as the last line
    #[arg(long)]
    json: bool,

    /// Measure only the keys that contain this
    #[arg(long, value_name = "KEY")]
    only: Option<String>,

    /// A hundredth of the work, each once: shows that all of it runs, and says nothing of how fast
    #[arg(long)]
    quick: bool,

    /// Write pages and plots of this run into a folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    /// Measure this server, too: it speaks MCP over standard input and output, and has a tool that echoes
    #[arg(long, value_name = "NAME=COMMAND", value_parser = peers::parse)]
    peer: Vec<Peer>,

    /// Measure this component, too: the tool `echo`, written in `python` or `javascript`
    #[arg(long, value_name = "LANGUAGE=FILE", value_parser = languages::parse)]
    guest: Vec<Guest>,
}

/// What is measured, and how thoroughly.
pub(crate) struct Setting {
    pub(crate) wharf: PathBuf,
    pub(crate) echo_component: PathBuf,
    pub(crate) korean_corpus: PathBuf,
    pub(crate) quick: bool,
    /// Whether more is measured than ratios need: what plots are drawn of.
    pub(crate) plots: bool,
    pub(crate) peers: Vec<Peer>,
    pub(crate) guests: Vec<Guest>,
    /// The command built without clusters, where it is there.
    pub(crate) without_cluster: Option<PathBuf>,
    /// Compiled code that all hosts share where nothing has to be right.
    cache: Option<TempDir>,
}

impl Setting {
    /// A data directory for one host.
    pub(crate) fn data(&self) -> Result<TempDir> {
        let data = tempfile::tempdir()?;
        if let Some(cache) = &self.cache {
            std::os::unix::fs::symlink(cache.path(), data.path().join("cache"))?;
        }
        Ok(data)
    }

    /// The same of the build without clusters, where it is there.
    fn without_cluster(&self) -> Option<Self> {
        Some(Self {
            wharf: self.without_cluster.clone()?,
            echo_component: self.echo_component.clone(),
            korean_corpus: self.korean_corpus.clone(),
            quick: self.quick,
            plots: self.plots,
            peers: Vec::new(),
            guests: Vec::new(),
            without_cluster: None,
            cache: None,
        })
    }

    /// A number of calls, or a hundredth of it.
    pub(crate) fn calls(&self, thorough: usize) -> usize {
        if self.quick { thorough.div_ceil(100) } else { thorough }
    }

    /// How often something is measured: once where it need not be right.
    pub(crate) fn rounds(&self, thorough: usize) -> usize {
        if self.quick { 1 } else { thorough }
    }
}

/// Which keys one measurement yields, and how it is made.
type Measurement = (&'static [&'static str], fn(&Setting, &mut Report) -> Result<()>);

/// The figure that needs Korean texts.
const KOREAN: &str = "search_korean";

/// How the keys of peers begin.
const PEERS: &str = "peer_";

const MEASUREMENTS: &[Measurement] = &[
    (&["engine_overhead", "context_overhead"], engine::latency),
    (&["engine_scaling"], engine::scaling),
    (&languages::KEYS, languages::measure),
    (&["audit_overhead"], audit::overhead),
    (&["traces_overhead", "traces_overhead_not_kept"], traces::overhead),
    (&["stdio_latency", "stdio_throughput"], stdio::calls),
    (&http_calls::KEYS, http_calls::throughput),
    (&["cold_start"], starts::warm),
    (&["first_start"], starts::first),
    (&["first_call"], starts::first_call),
    (&["tools_bytes", "tools_bytes_all"], starts::tools_bytes),
    (&["resident"], memory::beside_bare),
    (&["memory_growth"], memory::growth),
    (&["isolation_call", "isolation_call_task"], isolation::call),
    (&["isolation_throughput", "isolation_throughput_tenants"], isolation::throughput),
    (&["isolation_memory"], isolation::memory),
    (&["context_memory"], contexts::memory),
    (&["context_idle"], contexts::idle),
    (&["search_overlap", "search_latency", "search_add"], search::beside_tantivy),
    (&["search_bulk"], search::bulk),
    (&[KOREAN], search::korean),
    (&["search_scaling"], search::scaling),
    (&["state_contention"], contention::writers),
    (&databases::KEYS, databases::state),
    (&[clusters::KEYS[0], clusters::KEYS[1]], clusters::routed),
    (&[clusters::KEYS[2]], clusters::three),
    (&[clusters::KEYS[3]], clusters::three_homed),
    (&[clusters::KEYS[4]], clusters::gone),
    (&[clusters::KEYS[5]], clusters::contention),
    (&[clusters::KEYS[6]], clusters::plugin),
    (&[clusters::KEYS[7]], clusters::plugin_over_nats),
    (&[clusters::KEYS[8]], clusters::lost),
    (&without_cluster::KEYS, without_cluster::measure),
    (&["process_output"], processes::output),
    (&["process_tail", "process_poll"], processes::questions),
    (&process_starts::KEYS, process_starts::measure),
    (&["terminal_throughput"], terminals::throughput),
    (&["terminal_pty_open", "terminal_pty_read"], terminals::pairs),
    (&["terminal_memory"], terminals::memory),
    (&["turn_false_early", "turn_late"], terminals::turns),
    (&["console_watchers"], watchers::measure),
    (&["webview_latency", "webview_row"], webviews::latency),
    (&["plugin_swap"], swaps::under_load),
    (&["plugin_swap_http"], swaps::over_http),
    (&[PEERS], peers::beside),
];

fn main() -> Result<()> {
    let bench = Bench::parse();
    let setting = Setting {
        wharf: bench.wharf.unwrap_or_else(|| "target/release/wharf".into()),
        echo_component: bench.echo_component.unwrap_or_else(|| "target/plugins/components/guest-echo.wasm".into()),
        korean_corpus: bench.korean_corpus.unwrap_or_else(|| "target/corpus/package/konlpy/data/corpus".into()),
        quick: bench.quick,
        plots: bench.report.is_some(),
        peers: bench.peer,
        guests: bench.guest,
        without_cluster: bench.without_cluster,
        cache: bench.quick.then(tempfile::tempdir).transpose()?,
    };
    let mut report = Report::new(bench.quick);
    for (keys, measure) in MEASUREMENTS {
        let wanted = bench.only.as_deref().is_none_or(|only| keys.iter().any(|key| is_wanted(key, only)));
        if !wanted {
            continue;
        }
        if *keys == [KOREAN] && !setting.korean_corpus.is_dir() {
            eprintln!("{KOREAN} is left out: there are no Korean texts in {}", setting.korean_corpus.display());
            continue;
        }
        if *keys == without_cluster::KEYS && setting.without_cluster.is_none() {
            eprintln!("{} are left out: no build without clusters is named", keys.join(", "));
            continue;
        }
        eprintln!("measuring {}", keys.join(", "));
        measure(&setting, &mut report).with_context(|| keys.join(", "))?;
    }
    if let Some(directory) = &bench.report {
        pages::write(directory, &report, &Circumstances::of_this_run())?;
        eprintln!("the report is in {}", directory.display());
    }
    report.print(bench.json);
    Ok(())
}

/// Whether a key is one that was asked for. Those of peers have names that nobody knows before.
fn is_wanted(key: &str, only: &str) -> bool {
    key.contains(only) || (key == PEERS && only.starts_with(PEERS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_is_measured_and_is_in_the_table_that_says_what_it_means() {
        let measured: BTreeSet<_> = MEASUREMENTS.iter().flat_map(|(keys, _)| *keys).copied().collect();
        let told: BTreeSet<_> = keys::AREAS.iter().flat_map(|area| area.keys).map(|key| key.name).collect();
        assert_eq!(measured.difference(&told).collect::<Vec<_>>(), [&PEERS]);
        assert_eq!(told.difference(&measured).collect::<Vec<_>>(), [&""; 0]);
    }

    #[test]
    fn the_command_that_repeats_a_figure_measures_it() {
        assert!(is_wanted("resident", "resident") && is_wanted("http_throughput_session", "http"));
        assert!(is_wanted(PEERS, "peer_wassette_calls") && !is_wanted("resident", "peer_wassette_calls"));
    }
}
