//! Hosts that are killed while callers write: what they acknowledged is there afterwards, and no
//! session counts on two hosts.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use anyhow::{Result, bail, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::{
    KEYS, KILLS, MEMO, PATIENCE,
    hosts::{Cluster, ClusterHost},
};
use crate::{
    Setting,
    http::{Connection, Server, client},
    report::Report,
};

/// What runs in the home of its session, and counts in a file there.
const COMMAND: &str = "workspace__execute_shell";

const WRITERS: usize = 8;
/// Writes that are answered before a host is killed, and as many afterwards.
const BEFORE_A_KILL: usize = 100;

/// What a writer counts with.
#[derive(Clone, Copy)]
enum Counts {
    /// Entries of the database: none may be lost.
    Memos,
    /// Lines of a file of its session: a session that has lost its home is told so.
    Lines,
}

/// Counts on in one session, one call after the other.
struct Writer {
    counts: Counts,
    session: String,
    counted: u64,
    /// Calls without an answer that have not shown: each may have counted, or count later.
    unknown: u64,
    acknowledged: u64,
    /// Answers that say another number than the next one.
    wrong: u64,
}

impl Writer {
    fn new(counts: Counts, number: usize) -> Self {
        let session = format!("writer-{number}");
        Self { counts, session, counted: 0, unknown: 0, acknowledged: 0, wrong: 0 }
    }

    /// Counts on by way of one host. Whether that was answered.
    async fn count(&mut self, server: &Server) -> Result<bool> {
        let (tool, arguments) = match self.counts {
            Counts::Memos => (MEMO, json!({"memo": "hello"})),
            Counts::Lines => (COMMAND, json!({"command": "echo x >> log; wc -l < log"})),
        };
        let call = server.call_with(tool, &arguments, 1, Some(&self.session));
        let Some(answer) = answered(server, &call).await else {
            self.unknown += 1;
            return Ok(false);
        };
        let error = &answer["_meta"]["dev.wharf/error"];
        let content = &answer["structuredContent"];
        let number = match self.counts {
            Counts::Memos => content["memo"]["id"].as_u64(),
            Counts::Lines => content["stdout"]["text"].as_str().and_then(|text| text.trim().parse().ok()),
        };
        match (number, error["code"].as_str()) {
            (Some(number), _) => {
                let next = self.counted + 1;
                self.wrong += u64::from(!(next..=next + self.unknown).contains(&number));
                self.counted = number;
                self.unknown = self.unknown.saturating_sub(number.saturating_sub(next));
                self.acknowledged += 1;
                Ok(true)
            }
            (None, Some("gone")) if error["message"].as_str().is_some_and(|said| said.contains("are lost")) => {
                (self.counted, self.unknown) = (0, 0);
                Ok(false)
            }
            (None, Some("gone" | "unavailable")) => {
                self.unknown += 1;
                Ok(false)
            }
            _ => bail!("{tool}: {answer}"),
        }
    }
}

/// The result of a call; nothing where the host that was asked has died.
async fn answered(server: &Server, call: &[u8]) -> Option<Value> {
    let mut connection = Connection::to(server).await.ok()?;
    let (_, body) = connection.ask(call, 200).await.ok()?;
    let mut answer: Value = serde_json::from_slice(body).ok()?;
    Some(answer["result"].take())
}

/// Kills one host of three after the other, while writers go to all of them: acknowledged writes
/// that are lost, and sessions that count on two hosts.
pub(crate) fn lost(setting: &Setting, report: &mut Report) -> Result<()> {
    let Some(cluster) = Cluster::new(setting, "", &KEYS[8..]) else { return Ok(()) };
    let cluster = cluster.with_arguments(&["--profile", "developer"]);
    let client = client()?;
    let mut hosts = cluster.hosts()?;
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let counts = if number % 4 == 0 { Counts::Lines } else { Counts::Memos };
        writers.push(Writer::new(counts, number));
    }
    let kills = setting.calls(KILLS);
    for round in 0..kills {
        let victim = round % hosts.len();
        client.block_on(writing(&mut writers, &hosts, victim))?;
        hosts[victim].server.kill()?;
        cluster.restart(&mut hosts[victim])?;
    }
    // What an unanswered call did may show with the next one.
    for writer in &mut writers {
        let began = Instant::now();
        while !client.block_on(writer.count(&hosts[0].server))? {
            ensure!(began.elapsed() < PATIENCE, "{} is not answered for {PATIENCE:?}", writer.session);
        }
    }
    let sum = |of: fn(&Writer) -> u64| writers.iter().map(of).sum::<u64>();
    let text =
        format!("of {} acknowledged writes, {kills} kills of one of three hosts", sum(|writer| writer.acknowledged));
    #[expect(clippy::cast_precision_loss, reason = "a count of writes")]
    report.note(KEYS[8], sum(|writer| writer.wrong) as f64, &text);
    Ok(())
}

/// Has all writers write by way of all hosts, and kills one of these in the middle of it.
async fn writing(writers: &mut [Writer], hosts: &[ClusterHost], victim: usize) -> Result<()> {
    let answered = AtomicUsize::new(0);
    let each = writers.iter_mut().enumerate().map(|(number, writer)| {
        let answered = &answered;
        async move {
            let mut at = number;
            while answered.load(Ordering::Relaxed) < 2 * BEFORE_A_KILL {
                at += 1;
                if writer.count(&hosts[at % hosts.len()].server).await?
                    && answered.fetch_add(1, Ordering::Relaxed) + 1 == BEFORE_A_KILL
                {
                    hosts[victim].server.crash()?;
                }
            }
            anyhow::Ok(())
        }
    });
    try_join_all(each).await.map(drop)
}
