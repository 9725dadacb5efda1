//! Starting a program again that crashed.
//!
//! Owns how long a restart waits, and after how many crashes the program stays
//! down. Never knows which ends are crashes.

use std::{collections::VecDeque, time::Duration};

use tokio::{
    select,
    time::{Instant, sleep},
};
use wharf_core::text::with_causes;
use wharf_spawn::SpawnError;

use crate::{
    CloseReason, ProgramExit, TerminalError, TerminalPoolSettings,
    pool::{TerminalPool, end_cause, pooled_terminal::PooledTerminal},
};

/// What became of a restart.
pub(super) enum RestartOutcome {
    Running,
    GivenUp(CloseReason, String),
}

/// Starts the program of a terminal again, after a pause that grows with each
/// crash, until it runs, or it crashed too often, or somebody closes the terminal.
pub(super) async fn restart(
    terminal: &PooledTerminal,
    pool: &TerminalPool,
    crashes: &mut CrashHistory,
    exit: Option<ProgramExit>,
) -> RestartOutcome {
    let mut because = exit.map_or_else(|| "it ended".to_owned(), end_cause::of_exit);
    loop {
        let Some(delay) = crashes.next(&pool.settings) else {
            tracing::info!(terminal = %terminal.id, %because, "a program crashed too often and is not started again");
            return RestartOutcome::GivenUp(CloseReason::Crashes, end_cause::crashes(&pool.settings.limits, &because));
        };
        terminal.restarting(because.clone());
        let mut closing = terminal.closing.subscribe();
        select! {
            () = sleep(delay) => {}
            closed = closing.wait_for(Option::is_some) => {
                drop(closed);
                let (why, because) = terminal.close_cause().unwrap_or_else(|| (CloseReason::Owner, end_cause::by_owner()));
                return RestartOutcome::GivenUp(why, because);
            }
        }
        match start(terminal, pool, &because).await {
            Ok(()) => {
                pool.counters.restarted();
                terminal.running();
                return RestartOutcome::Running;
            }
            Err(error) => {
                // The directory may be gone; the next time it is the first one.
                if matches!(error, TerminalError::Start { source: SpawnError::Program { step: "enter", .. } }) {
                    terminal.forget_directory();
                }
                because = format!("{because}, and it could not be started again: {}", with_causes(&error));
                because.truncate(because.floor_char_boundary(500));
                pool.counters.failed(error);
            }
        }
    }
}

async fn start(terminal: &PooledTerminal, pool: &TerminalPool, because: &str) -> Result<(), TerminalError> {
    let request = terminal.request().ok_or(TerminalError::Closed)?;
    let note = format!("wharf: {because}; the program was started again");
    terminal.session.restart(&pool.spawner, request, &note).await
}

/// When a program crashed.
#[derive(Debug, Default)]
pub(super) struct CrashHistory(VecDeque<Instant>);

impl CrashHistory {
    /// How long to wait now, if it may be started again at all.
    fn next(&mut self, settings: &TerminalPoolSettings) -> Option<Duration> {
        let now = Instant::now();
        let window = Duration::from_secs(settings.limits.restart_window_seconds);
        while self.0.front().is_some_and(|first| now.duration_since(*first) > window) {
            self.0.pop_front();
        }
        if self.0.len() as u64 >= settings.limits.restarts {
            return None;
        }
        let doublings = u32::try_from(self.0.len()).unwrap_or(u32::MAX).min(16);
        self.0.push_back(now);
        Some(settings.first_backoff.saturating_mul(1 << doublings).min(settings.longest_backoff))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn restarts_wait_twice_as_long_each_and_are_bounded_within_their_window() {
        let mut settings = TerminalPoolSettings::default();
        settings.limits.restarts = 3;
        settings.first_backoff = Duration::from_millis(100);
        settings.longest_backoff = Duration::from_millis(300);
        let mut crashes = CrashHistory::default();
        let mut waits = || crashes.next(&settings).map(|wait| wait.as_millis());
        assert_eq!([waits(), waits(), waits(), waits()], [Some(100), Some(200), Some(300), None]);
        tokio::time::advance(Duration::from_secs(601)).await;
        assert_eq!(waits(), Some(100));
    }
}
