//! The keeper of a terminal, from its start until it is over. It alone orders
//! the end, and starts a program again that crashed.
//!
//! What a program leaves behind when it ends is ended, too: a terminal that is
//! over has nothing that runs, and takes no place.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::{
    select,
    time::{Instant, sleep, sleep_until},
};
use wharf_core::text::with_causes;
use wharf_spawn::{SpawnError, Spawner};

use super::{
    Restart, Settings, Why,
    entry::{Closing, Life, Terminal},
    metrics::Counters,
};
use crate::{Exit, TerminalError};

/// What a program leaves behind gets so long to end by itself.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// How long the turn of a program that ended may take to be told so.
const TURN_PATIENCE: Duration = Duration::from_secs(5);
/// How long changes are gathered before a look at where the program is.
const LOOK: Duration = Duration::from_millis(200);
/// How long a terminal that is closed for its age gets.
const EXPIRY_GRACE: Duration = Duration::from_secs(2);

/// What the keepers of a pool share.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) spawner: Spawner,
    pub(super) settings: Settings,
    pub(super) counters: Counters,
}

pub(super) async fn keep(terminal: Arc<Terminal>, common: Arc<Common>) {
    let mut crashes = Crashes::default();
    loop {
        let exit = until_ended(&terminal).await;
        let asked = asked(&terminal);
        let crashed = asked.is_none() && exit.is_some_and(|exit| terminal.is_crash(exit));
        if crashed {
            common.counters.crashed();
        }
        let why = match (asked, crashed && terminal.restart == Restart::OnCrash) {
            (Some(why), _) => Some(why),
            (None, false) => None,
            (None, true) => match begin_again(&terminal, &common, &mut crashes, exit).await {
                Again::Runs => continue,
                Again::Over(why) => Some(why),
            },
        };
        let open = terminal.end(exit, why);
        common.counters.closed(why, open);
        return;
    }
}

fn asked(terminal: &Terminal) -> Option<Why> {
    terminal.closing.borrow().map(|closing| closing.why)
}

/// Until nothing of the program is left, and its turn is over.
async fn until_ended(terminal: &Terminal) -> Option<Exit> {
    let mut progress = terminal.session.progress();
    let mut closing = terminal.closing.subscribe();
    let mut grace = closing.borrow_and_update().map(|closing| closing.grace);
    let mut look = None;
    while grace.is_none() && progress.borrow_and_update().exit.is_none() {
        let (deadline, look_at) = (terminal.deadline, look);
        select! {
            _ = progress.changed() => look = look.or_else(|| Some(Instant::now() + LOOK)),
            _ = closing.changed() => {}
            () = at(deadline), if deadline.is_some() => {
                let closing = Closing { why: Why::TimeLimit, grace: EXPIRY_GRACE };
                terminal.closing.send_if_modified(|asked| asked.is_none() && asked.replace(closing).is_none());
            }
            () = at(look_at), if look_at.is_some() => {
                look = None;
                terminal.note_directory();
            }
        }
        grace = closing.borrow_and_update().map(|closing| closing.grace);
    }
    let mut grace = grace.unwrap_or(LEFTOVER_GRACE);
    loop {
        // A later order may bring the end nearer.
        select! {
            _ = terminal.session.close(grace) => break,
            _ = closing.changed() => grace = closing.borrow_and_update().map_or(grace, |closing| closing.grace),
        }
    }
    if let Some(turn) = terminal.session.turn() {
        turn.completed(TURN_PATIENCE).await;
        turn.cancel();
    }
    terminal.session.progress().borrow().exit
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// What became of a restart.
enum Again {
    Runs,
    Over(Why),
}

async fn begin_again(terminal: &Terminal, common: &Common, crashes: &mut Crashes, exit: Option<Exit>) -> Again {
    let mut because = exit.map_or_else(|| "it ended".to_owned(), ending);
    loop {
        let Some(delay) = crashes.next(&common.settings) else {
            tracing::info!(terminal = %terminal.id, %because, "a program crashed too often and is not started again");
            return Again::Over(Why::Crashes);
        };
        terminal.restarting(because.clone());
        let mut closing = terminal.closing.subscribe();
        select! {
            () = sleep(delay) => {}
            closed = closing.wait_for(Option::is_some) => {
                drop(closed);
                return Again::Over(asked(terminal).unwrap_or(Why::Owner));
            }
        }
        match start(terminal, common, &because).await {
            Ok(()) => {
                common.counters.restarted();
                terminal.running();
                return Again::Runs;
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

async fn start(terminal: &Terminal, common: &Common, because: &str) -> Result<(), TerminalError> {
    let request = terminal.request().ok_or(TerminalError::Closed)?;
    let note = format!("wharf: {because}; the program was started again");
    terminal.session.restart(&common.spawner, request, &note).await
}

fn ending(exit: Exit) -> String {
    match exit {
        Exit::Exited { code } => format!("it ended with code {code}"),
        Exit::Signaled { signal } => format!("it was ended by signal {signal}"),
        Exit::Killed { .. } => "it was lost with its supervisor".to_owned(),
    }
}

/// When a program crashed.
#[derive(Debug, Default)]
struct Crashes(VecDeque<Instant>);

impl Crashes {
    /// How long to wait now, if it may be started again at all.
    fn next(&mut self, settings: &Settings) -> Option<Duration> {
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

impl Terminal {
    /// Has its keeper close it; what was asked for first says why.
    pub(super) fn order_close(&self, why: Why, grace: Duration) {
        self.closing.send_modify(|asked| {
            let first = asked.map_or(why, |asked| asked.why);
            *asked = Some(Closing { why: first, grace });
        });
    }

    /// The same, and waits until it is over. What was asked for happens though
    /// the future is dropped.
    pub(super) async fn close(&self, why: Why, grace: Duration) {
        let mut life = self.life.subscribe();
        if *life.borrow_and_update() == Life::Ended {
            return;
        }
        self.order_close(why, grace);
        // The keeper holds the sender as long as it is not over.
        drop(life.wait_for(|life| *life == Life::Ended).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn restarts_wait_twice_as_long_each_and_are_bounded_within_their_window() {
        let mut settings = Settings::default();
        settings.limits.restarts = 3;
        settings.first_backoff = Duration::from_millis(100);
        settings.longest_backoff = Duration::from_millis(300);
        let mut crashes = Crashes::default();
        let mut waits = || crashes.next(&settings).map(|wait| wait.as_millis());
        assert_eq!([waits(), waits(), waits(), waits()], [Some(100), Some(200), Some(300), None]);
        tokio::time::advance(Duration::from_secs(601)).await;
        assert_eq!(waits(), Some(100));
    }
}
