//! The keeper of a terminal, from its start until it is over. It alone orders
//! the end, and starts a program again that crashed.
//!
//! What a program leaves behind when it ends is ended, too: a terminal that is
//! over has nothing that runs, and takes no place.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use tokio::{
    select,
    task::spawn_blocking,
    time::{Instant, sleep, sleep_until},
};
use wharf_core::{Quota, text::with_causes};
use wharf_spawn::{SpawnError, Spawner};

use super::{
    CloseReason, Restart, TerminalPoolSettings, TerminalTable, ending,
    entry::{CloseOrder, PooledTerminal, TerminalLife},
    lost::{TerminalJournal, TerminalRecord},
    metrics::TerminalCounters,
    tombstones::forget_ended,
};
use crate::{ProgramExit, TerminalError};

/// What a program leaves behind gets so long to end by itself.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// How long the turn of a program that ended may take to be told so.
const TURN_PATIENCE: Duration = Duration::from_secs(5);
/// How long changes are gathered before a look at where the program is.
const LOOK: Duration = Duration::from_millis(200);
/// How long changes are gathered before they are recorded on disk.
const RECORD: Duration = Duration::from_secs(1);
/// How long a terminal that is closed for its age gets.
const EXPIRY_GRACE: Duration = Duration::from_secs(2);

/// What the keepers of a pool share.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) spawner: Spawner,
    pub(super) settings: TerminalPoolSettings,
    pub(super) counters: TerminalCounters,
    /// Places of open terminals.
    pub(super) places: Arc<Quota>,
    /// Places of ended ones.
    pub(super) tombstones: Arc<Quota>,
    /// Where terminals are recorded, for the case that this host is lost.
    pub(super) home: Option<TerminalJournal>,
}

pub(super) async fn keep(terminal: Arc<PooledTerminal>, common: Arc<Common>, table: Weak<Mutex<TerminalTable>>) {
    let mut crashes = CrashHistory::default();
    loop {
        record(&terminal, &common).await;
        let exit = until_ended(&terminal, &common).await;
        let asked = asked(&terminal);
        let crashed = asked.is_none() && exit.is_some_and(|exit| terminal.is_crash(exit));
        if crashed {
            common.counters.crashed();
        }
        let over = match (asked, crashed && terminal.restart == Restart::OnCrash) {
            (Some(over), _) => Some(over),
            (None, false) => None,
            (None, true) => match begin_again(&terminal, &common, &mut crashes, exit).await {
                RestartOutcome::Runs => continue,
                RestartOutcome::Over(why, because) => Some((why, because)),
            },
        };
        let why = over.as_ref().map(|(why, _)| *why);
        if common.home.is_some() {
            let (forgetting, id) = (Arc::clone(&common), terminal.id);
            // Before it is over: a host that has seen that may end, and what is on
            // disk then was lost.
            let removed = spawn_blocking(move || forgetting.home.iter().for_each(|home| home.forget(id)));
            drop(removed.await);
        }
        let open = terminal.end(exit, over);
        common.counters.closed(why, open);
        let because = terminal.because().unwrap_or_default();
        tracing::info!(
            terminal = %terminal.id, session = %terminal.owner.session, plugin = %terminal.owner.plugin,
            open_seconds = open.as_secs(), "a terminal is over: {because}"
        );
        if let Some(table) = table.upgrade() {
            forget_ended(&table, &common, Instant::now());
        }
        return;
    }
}

fn asked(terminal: &PooledTerminal) -> Option<(CloseReason, String)> {
    terminal.closing.borrow().as_ref().map(|closing| (closing.why, closing.because.clone()))
}

/// Until nothing of the program is left, and its turn is over.
async fn until_ended(terminal: &Arc<PooledTerminal>, common: &Arc<Common>) -> Option<ProgramExit> {
    let mut progress = terminal.session.progress();
    let mut closing = terminal.closing.subscribe();
    let grace_of = |closing: &Option<CloseOrder>| closing.as_ref().map(|closing| closing.grace);
    let mut grace = grace_of(&closing.borrow_and_update());
    let (mut look, mut unrecorded) = (None, None);
    while grace.is_none() && progress.borrow_and_update().exit.is_none() {
        let (deadline, look_at, record_at) = (terminal.deadline, look, unrecorded);
        select! {
            _ = progress.changed() => {
                look = look.or_else(|| Some(Instant::now() + LOOK));
                unrecorded = unrecorded.or_else(|| Some(Instant::now() + RECORD));
            }
            _ = closing.changed() => {}
            () = at(deadline), if deadline.is_some() => {
                terminal.order_close(CloseReason::TimeLimit, ending::time_limit(terminal.began.elapsed().as_secs()), EXPIRY_GRACE);
            }
            () = at(look_at), if look_at.is_some() => {
                look = None;
                terminal.note_directory();
            }
            () = at(record_at), if record_at.is_some() => {
                unrecorded = None;
                record(terminal, common).await;
            }
        }
        grace = grace_of(&closing.borrow_and_update());
    }
    let mut grace = grace.unwrap_or(LEFTOVER_GRACE);
    loop {
        // A later order may bring the end nearer.
        select! {
            _ = terminal.session.close(grace) => break,
            _ = closing.changed() => grace = grace_of(&closing.borrow_and_update()).unwrap_or(grace),
        }
    }
    if let Some(turn) = terminal.session.turn() {
        turn.completed(TURN_PATIENCE).await;
        turn.cancel();
    }
    terminal.session.progress().borrow().exit
}

/// Writes down what is known of a terminal, where that is wanted.
async fn record(terminal: &Arc<PooledTerminal>, common: &Arc<Common>) {
    if common.home.is_none() {
        return;
    }
    let (terminal, common) = (Arc::clone(terminal), Arc::clone(common));
    let written = spawn_blocking(move || {
        let Some(home) = &common.home else { return };
        let (record, text) = TerminalRecord::of(&terminal);
        if let Err(error) = home.save(&record, &text) {
            tracing::debug!(terminal = %terminal.id, %error, "a terminal cannot be recorded");
        }
    });
    // It writes on though nobody waits; a later one waits for its turn here.
    drop(written.await);
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// What became of a restart.
enum RestartOutcome {
    Runs,
    Over(CloseReason, String),
}

async fn begin_again(
    terminal: &PooledTerminal,
    common: &Common,
    crashes: &mut CrashHistory,
    exit: Option<ProgramExit>,
) -> RestartOutcome {
    let mut because = exit.map_or_else(|| "it ended".to_owned(), ending::of_exit);
    loop {
        let Some(delay) = crashes.next(&common.settings) else {
            tracing::info!(terminal = %terminal.id, %because, "a program crashed too often and is not started again");
            return RestartOutcome::Over(CloseReason::Crashes, ending::crashes(&common.settings.limits, &because));
        };
        terminal.restarting(because.clone());
        let mut closing = terminal.closing.subscribe();
        select! {
            () = sleep(delay) => {}
            closed = closing.wait_for(Option::is_some) => {
                drop(closed);
                let (why, because) = asked(terminal).unwrap_or_else(|| (CloseReason::Owner, ending::owner()));
                return RestartOutcome::Over(why, because);
            }
        }
        match start(terminal, common, &because).await {
            Ok(()) => {
                common.counters.restarted();
                terminal.running();
                return RestartOutcome::Runs;
            }
            Err(error) => {
                // The directory may be gone; the next time it is the first one.
                if matches!(error, TerminalError::Start { source: SpawnError::Program { step: "enter", .. } }) {
                    terminal.forget_directory();
                }
                because = format!("{because}, and it could not be started again: {}", with_causes(&error));
                because.truncate(because.floor_char_boundary(500));
                common.counters.failed(error);
            }
        }
    }
}

async fn start(terminal: &PooledTerminal, common: &Common, because: &str) -> Result<(), TerminalError> {
    let request = terminal.request().ok_or(TerminalError::Closed)?;
    let note = format!("wharf: {because}; the program was started again");
    terminal.session.restart(&common.spawner, request, &note).await
}

/// When a program crashed.
#[derive(Debug, Default)]
struct CrashHistory(VecDeque<Instant>);

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

impl PooledTerminal {
    /// Has its keeper close it; what was asked for first says why.
    pub(super) fn order_close(&self, why: CloseReason, because: String, grace: Duration) {
        self.closing.send_modify(|asked| match asked {
            Some(asked) => asked.grace = grace,
            None => *asked = Some(CloseOrder { why, because, grace }),
        });
    }

    /// The same, and waits until it is over. What was asked for happens though
    /// the future is dropped.
    pub(super) async fn close(&self, why: CloseReason, because: String, grace: Duration) {
        if *self.life.borrow() == TerminalLife::Ended {
            return;
        }
        self.order_close(why, because, grace);
        self.over().await;
    }

    /// Waits until it is over.
    pub(super) async fn over(&self) {
        let mut life = self.life.subscribe();
        // The keeper holds the sender as long as it is not over.
        drop(life.wait_for(|life| *life == TerminalLife::Ended).await);
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
