//! A turn of a terminal that nobody watches, beside one of a terminal that an operator watches in
//! many windows at once: half of them read what comes, and half never do.

use std::{path::Path, time::Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt as _, task::JoinHandle};

use crate::{
    Setting,
    engine::runtime,
    http::{Connection, Server},
    report::{Report, median},
};

/// Windows that watch.
const WATCHERS: usize = 100;
/// What each turn prints.
const LINE: &str = "seq 1 100";
const SESSION: &str = "watched";
const ROUNDS: usize = 11;
const TURNS: usize = 10;

/// Watches a terminal until it is dropped.
struct Watching(Vec<JoinHandle<Result<()>>>);

impl Drop for Watching {
    fn drop(&mut self) {
        for watcher in &self.0 {
            watcher.abort();
        }
    }
}

impl Watching {
    async fn begin(server: &Server, data: &Path, terminal: &str, count: usize) -> Result<Self> {
        let token = std::fs::read_to_string(data.join("operator-token"))?;
        let path = format!("/v1/operator/terminals/{terminal}");
        let mut watching = Self(Vec::new());
        for number in 0..count {
            let mut stream = server.following(&path, token.trim(), "").await?;
            let mut read = vec![0; 16 << 10];
            // It is watching once the screen comes.
            let mut seen = Vec::new();
            while !seen.windows(13).any(|bytes| bytes == b"event: screen") {
                let more = stream.read(&mut read).await?;
                ensure!(more > 0, "nothing to watch: {}", String::from_utf8_lossy(&seen));
                seen.extend_from_slice(&read[..more]);
            }
            let reads = number % 2 == 0;
            watching.0.push(tokio::spawn(async move {
                while reads && stream.read(&mut read).await? > 0 {}
                // The connection lasts as long as the task.
                std::future::pending::<()>().await;
                drop(stream);
                Ok(())
            }));
        }
        Ok(watching)
    }
}

/// The result of a call of a tool of the terminals.
async fn called(server: &Server, connection: &mut Connection, tool: &str, arguments: &Value) -> Result<Value> {
    let request = server.call_with(tool, arguments, 1, Some(SESSION));
    let (_, body) = connection.ask(&request, 200).await?;
    // Of events, where it has told of progress: the last one is the answer.
    let text = std::str::from_utf8(body)?;
    let answer = text.lines().rev().find_map(|line| {
        let line = line.strip_prefix("data: ").unwrap_or(line);
        serde_json::from_str::<Value>(line).ok().filter(|message| message.get("result").is_some())
    });
    let mut answer = answer.with_context(|| text.to_owned())?;
    ensure!(answer["result"]["isError"] != true, "{tool}: {answer}");
    Ok(answer["result"]["structuredContent"].take())
}

/// How long the turns of a round take, in milliseconds.
async fn turns(server: &Server, connection: &mut Connection, terminal: &str, count: usize) -> Result<Vec<f64>> {
    let mut took = Vec::with_capacity(count);
    for _ in 0..count {
        let began = Instant::now();
        let message = json!({"terminal_id": terminal, "text": LINE});
        let turn = called(server, connection, "terminal__send_message", &message).await?;
        took.push(began.elapsed().as_secs_f64() * 1e3);
        ensure!(turn["still_running"] != true, "a turn without an end: {turn}");
    }
    Ok(took)
}

/// A watched turn / an unwatched one, p50.
pub(crate) fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let data = setting.data()?;
    let server = Server::wharf_with(setting, data.path(), "", &["--profile", "developer"])?;
    let [alone, watched] = runtime(2)?.block_on(async {
        let mut connection = Connection::to(&server).await?;
        let start = json!({"program": "bash", "arguments": ["--norc"]});
        let started = called(&server, &mut connection, "terminal__start_terminal", &start).await?;
        let terminal = started["terminal_id"].as_str().context("a terminal")?;
        let (mut alone, mut watched) = (Vec::new(), Vec::new());
        for _ in 0..setting.rounds(ROUNDS) {
            alone.extend(turns(&server, &mut connection, terminal, TURNS).await?);
            let watching = Watching::begin(&server, data.path(), terminal, WATCHERS).await?;
            watched.extend(turns(&server, &mut connection, terminal, TURNS).await?);
            drop(watching);
        }
        anyhow::Ok([median(alone), median(watched)])
    })?;
    let absolute = format!("{watched:.2} ms with {WATCHERS} watchers, {alone:.2} ms with none");
    report.note("console_watchers", watched / alone, &absolute);
    Ok(())
}
