//! Measures Wharf beside the best that there is, in the same run: bare wasmtime
//! with the fastest settings, and an rmcp server that echoes without Wasm.
//!
//! Machines differ and are busy, so every result is a ratio of two sides that
//! were measured in turn; absolute figures are printed beside it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool: printing is what it is for")]

mod audit;
mod bare;
mod contention;
mod contexts;
mod echo_server;
mod engine;
mod http;
mod memory;
mod processes;
mod report;
mod search;
mod search_corpus;
mod search_yardstick;
mod stdio;
mod swaps;
mod terminals;
mod traces;
mod webviews;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use report::Report;
use tempfile::TempDir;

/// Measure Wharf; see `cargo xtask bench --help`
#[derive(Debug, Parser)]
struct Bench {
    #[command(subcommand)]
    command: Option<Command>,

    /// The `wharf` binary that is measured
    #[arg(long)]
    wharf: Option<PathBuf>,

    /// The component whose tool `echo` is called
    #[arg(long)]
    echo_component: Option<PathBuf>,

    /// The folder with Korean texts; without it, search_korean is left out
    #[arg(long)]
    korean_corpus: Option<PathBuf>,

    /// Print one JSON object of ratios as the last line
    #[arg(long)]
    json: bool,

    /// Measure only the keys that contain this
    #[arg(long, value_name = "KEY")]
    only: Option<String>,

    /// A hundredth of the work, each once: shows that all of it runs, and says nothing of how fast
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Be the server without Wasm that others are measured against
    EchoServer {
        /// Over HTTP, on a free port of the loopback
        #[arg(long)]
        http: bool,
    },
}

/// What is measured, and how thoroughly.
pub(crate) struct Setting {
    pub(crate) wharf: PathBuf,
    pub(crate) echo_component: PathBuf,
    pub(crate) korean_corpus: PathBuf,
    pub(crate) quick: bool,
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

const MEASUREMENTS: &[Measurement] = &[
    (&["engine_overhead", "context_overhead"], engine::latency),
    (&["engine_scaling"], engine::scaling),
    (&["audit_overhead"], audit::overhead),
    (&["traces_overhead", "traces_overhead_not_kept"], traces::overhead),
    (&["stdio_latency", "stdio_throughput"], stdio::calls),
    (&http::KEYS, http::throughput),
    (&["cold_start"], stdio::cold_start),
    (&["memory_growth"], memory::growth),
    (&["context_memory"], contexts::memory),
    (&["search_overlap", "search_latency", "search_add"], search::beside_tantivy),
    (&[KOREAN], search::korean),
    (&["search_scaling"], search::scaling),
    (&["state_contention"], contention::writers),
    (&["process_output"], processes::output),
    (&["process_tail", "process_poll"], processes::questions),
    (&["process_spawn", "process_spawn_bubblewrap"], processes::starts),
    (&["terminal_throughput"], terminals::throughput),
    (&["terminal_pty_open", "terminal_pty_read"], terminals::pairs),
    (&["terminal_memory"], terminals::memory),
    (&["turn_false_early", "turn_late"], terminals::turns),
    (&["webview_latency"], webviews::latency),
    (&["plugin_swap"], swaps::under_load),
    (&["plugin_swap_http"], swaps::over_http),
];

fn main() -> Result<()> {
    let bench = Bench::parse();
    if let Some(Command::EchoServer { http }) = bench.command {
        return if http { echo_server::serve_http() } else { echo_server::serve() };
    }
    let setting = Setting {
        wharf: bench.wharf.unwrap_or_else(|| "target/release/wharf".into()),
        echo_component: bench.echo_component.unwrap_or_else(|| "target/plugins/components/guest-echo.wasm".into()),
        korean_corpus: bench.korean_corpus.unwrap_or_else(|| "target/corpus/package/konlpy/data/corpus".into()),
        quick: bench.quick,
        cache: bench.quick.then(tempfile::tempdir).transpose()?,
    };
    let mut report = Report::new(bench.quick);
    for (keys, measure) in MEASUREMENTS {
        let wanted = bench.only.as_deref().is_none_or(|only| keys.iter().any(|key| key.contains(only)));
        if !wanted {
            continue;
        }
        if *keys == [KOREAN] && !setting.korean_corpus.is_dir() {
            eprintln!("{KOREAN} is left out: there are no Korean texts in {}", setting.korean_corpus.display());
            continue;
        }
        eprintln!("measuring {}", keys.join(", "));
        measure(&setting, &mut report).with_context(|| keys.join(", "))?;
    }
    report.print(bench.json);
    Ok(())
}
