//! How much memory sessions take: a hundred of them, idle after some output and
//! with a history that is full.

use std::time::Duration;

use anyhow::{Context as _, Result};
use wharf_spawn::Spawner;
use wharf_terminal::{HistoryLimits, TerminalSession};

use crate::request::request;

/// Sessions at a time where it is measured.
pub const SESSIONS: usize = 100;

/// Far longer than anything here takes.
const AMPLE: Duration = Duration::from_secs(120);

/// Bytes of this process for each session.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// With as good as no history.
    pub bare: f64,
    /// With the usual history, full.
    pub full: f64,
}

/// Measures both, with so many sessions at a time.
///
/// # Errors
/// Where a program does not start or the system does not tell.
pub fn measure(count: usize) -> Result<Memory> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let spawner = Spawner::new();
        // What all share is there before.
        drop(sessions(&spawner, 2, HistoryLimits::default(), "seq 1 200000").await?);
        let none = HistoryLimits { raw_bytes: 0, text_bytes: 0, scrollback_lines: 0 };
        let bare = each(&spawner, count, none, "seq 1 20000").await?;
        let full = each(&spawner, count, HistoryLimits::default(), "seq 1 200000").await?;
        Ok(Memory { bare, full })
    })
}

async fn each(spawner: &Spawner, count: usize, history: HistoryLimits, print: &str) -> Result<f64> {
    let before = resident()?;
    let open = sessions(spawner, count, history, print).await?;
    let after = resident()?;
    for session in open {
        session.close(Duration::ZERO).await;
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let bytes = after.saturating_sub(before) as f64 / count as f64;
    Ok(bytes)
}

/// Sessions that have printed, were looked at, and wait.
async fn sessions(
    spawner: &Spawner,
    count: usize,
    history: HistoryLimits,
    print: &str,
) -> Result<Vec<TerminalSession>> {
    let mut open = Vec::new();
    for _ in 0..count {
        let script = format!("{print}; printf 'the end'; read line");
        let session = TerminalSession::start(spawner, request("/bin/sh", &["-c", &script], history)).await?;
        let mut progress = session.progress();
        let waiting = async {
            while !session.screen().lines.iter().any(|line| line.contains("the end")) {
                progress.changed().await?;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(AMPLE, waiting).await??;
        open.push(session);
    }
    Ok(open)
}

/// Resident memory of this process, in bytes.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kib =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kib.context("the system does not tell resident memory")? * 1024)
}
