//! Other servers that run tools in Wasm, where they are on this machine: the same calls by
//! the same client as those of `wharf serve --stdio`. None is required, and nothing is asked
//! of the figures.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};

use crate::{
    Setting,
    memory::resident,
    report::{Report, median, quantile},
    stdio_client::{IN_FLIGHT, Server, opened},
};

/// A component of the interface types alone, for servers that make a tool of each exported
/// function: it hands back the text that it was handed.
const ECHO: &str = r#"(component
  (core module $echo
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (global.get $next))
      (global.set $next (i32.add (global.get $next) (local.get 3)))
      (local.get $at))
    (func (export "echo") (param $text i32) (param $length i32) (result i32)
      (i32.store (i32.const 16) (local.get $text))
      (i32.store (i32.const 20) (local.get $length))
      (i32.const 16)))
  (core instance $instance (instantiate $echo))
  (func (export "echo") (param "text" string) (result string)
    (canon lift (core func $instance "echo") (memory (core memory $instance "memory")) (realloc (core func $instance "realloc")))))"#;

/// How often each is started, and how many of its calls are measured.
const STARTS: usize = 15;
const ROUNDS: usize = 3;

/// A server that somebody named, or that was found.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
}

/// Reads `NAME=COMMAND`. The command is split at blanks and speaks the protocol over standard
/// input and output; one of its tools has `echo` in its name and takes one text.
pub(crate) fn parse(text: &str) -> Result<Peer> {
    let (name, command) = text.split_once('=').context("write NAME=COMMAND")?;
    let mut words = command.split_whitespace().map(str::to_owned);
    let program = words.next().context("NAME=COMMAND has no command")?;
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    ensure!(!name.is_empty() && name.bytes().all(legal), "a name has letters, digits, `-` and `_`");
    Ok(Peer { name: name.replace('-', "_"), program: program.into(), arguments: words.collect() })
}

/// A program of the search path.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Wassette, where it is installed, with the component of the same tool.
fn wassette(components: &Path) -> Result<Option<Peer>> {
    let Some(program) = find("wassette") else { return Ok(None) };
    fs::write(components.join("echo.wasm"), wat::parse_str(ECHO)?)?;
    let folder = components.to_str().context("a folder whose name is text")?.to_owned();
    let arguments = ["run", "--disable-builtin-tools", "--component-dir"].map(str::to_owned);
    Ok(Some(Peer { name: "wassette".into(), program, arguments: [&arguments[..], &[folder]].concat() }))
}

/// What one server does.
struct Measured {
    starts: f64,
    latency: f64,
    rate: f64,
    resident: f64,
}

fn measure(setting: &Setting, start: impl Fn() -> Result<Server>) -> Result<Measured> {
    let mut starts = Vec::new();
    for round in 0..=setting.rounds(STARTS) {
        let began = Instant::now();
        start()?.open()?;
        // The first start compiles.
        if round > 0 {
            starts.push(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    let mut server = opened(start()?, setting.calls(1_000))?;
    let (mut latencies, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..setting.rounds(ROUNDS) {
        latencies.push(quantile(&mut server.latencies(setting.calls(2_000))?, 0.5));
        rates.push(server.throughput(setting.calls(10_000), IN_FLIGHT)?);
    }
    let resident = resident(server.id())?;
    Ok(Measured { starts: median(starts), latency: median(latencies), rate: median(rates), resident })
}

/// Wharf beside every peer that is there.
pub(crate) fn beside(setting: &Setting, report: &mut Report) -> Result<()> {
    let components = tempfile::tempdir()?;
    let mut peers = setting.peers.clone();
    if peers.iter().all(|peer| peer.name != "wassette") {
        peers.extend(wassette(components.path())?);
    }
    if peers.is_empty() {
        eprintln!("no peer is measured: none is on the search path, and --peer names none");
        return Ok(());
    }
    let data = setting.data()?;
    let ours = measure(setting, || Server::wharf(setting, data.path()))?;
    for peer in peers {
        let Peer { name, program, arguments } = &peer;
        let start = || {
            let mut command = Command::new(program);
            command.args(arguments);
            Server::start(command)
        };
        match measure(setting, start) {
            Ok(theirs) => note(report, name, &ours, &theirs),
            // It is no part of Wharf, so that its failure fails nothing.
            Err(error) => eprintln!("  {name} is left out: {error:#}"),
        }
    }
    Ok(())
}

fn note(report: &mut Report, peer: &str, ours: &Measured, theirs: &Measured) {
    let mut add = |key: &str, what: &str, ratio: f64, absolute: String| {
        report.note_of_other(format!("peer_{peer}_{key}"), format!("{what}, Wharf / {peer}"), ratio, absolute);
    };
    add(
        "calls",
        "calls a second over stdio, 64 in flight",
        ours.rate / theirs.rate,
        format!("{:.1}k calls/s, {peer} {:.1}k", ours.rate / 1e3, theirs.rate / 1e3),
    );
    add(
        "latency",
        "a call over stdio, one after the other, p50",
        ours.latency / theirs.latency,
        format!("{:.0} us, {peer} {:.0} us", ours.latency, theirs.latency),
    );
    add(
        "start",
        "start to the list with the tool, warm",
        ours.starts / theirs.starts,
        format!("{:.1} ms, {peer} {:.1} ms", ours.starts, theirs.starts),
    );
    add(
        "resident",
        "resident memory of the process after these calls",
        ours.resident / theirs.resident,
        format!("{:.1} MiB, {peer} {:.1} MiB", ours.resident, theirs.resident),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_a_name_and_a_command() {
        let peer = parse("hyper-mcp=/opt/hyper-mcp --config file.json").expect("a peer");
        assert_eq!((peer.name.as_str(), peer.arguments.len()), ("hyper_mcp", 2));
        for wrong in ["hyper-mcp", "=command", "name=", "a b=command"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_component_of_peers_is_one() {
        assert!(wat::parse_str(ECHO).expect("a component").starts_with(b"\0asm"));
    }
}
