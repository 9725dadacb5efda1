//! The keeper of a terminal: a task from its start until it is over.
//!
//! It alone orders the end, and has a program started again that crashed
//! (`restart`). What a program leaves behind when it ends is ended, too: a
//! terminal that is over has nothing that runs, and takes no place. Never knows
//! who may ask for an end.

mod restart;

use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    task::spawn_blocking,
    time::{Instant, sleep_until},
};

use self::restart::{CrashHistory, RestartOutcome};
use super::{
    TerminalPool, end_cause,
    journal::TerminalRecord,
    pooled_terminal::{CloseOrder, PooledTerminal},
};
use crate::{CloseReason, ProgramExit, Restart};

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

/// Keeps a terminal until it is over, and forgets older ones then.
pub(crate) async fn keep(terminal: Arc<PooledTerminal>, pool: Arc<TerminalPool>) {
    let mut crashes = CrashHistory::default();
    loop {
        record(&terminal, &pool).await;
        let exit = until_ended(&terminal, &pool).await;
        let asked = terminal.close_cause();
        let crashed = asked.is_none() && exit.is_some_and(|exit| terminal.is_crash(exit));
        if crashed {
            pool.counters.crashed();
        }
        let over = match (asked, crashed && terminal.restart == Restart::OnCrash) {
            (Some(over), _) => Some(over),
            (None, false) => None,
            (None, true) => match restart::restart(&terminal, &pool, &mut crashes, exit).await {
                RestartOutcome::Running => continue,
                RestartOutcome::GivenUp(why, because) => Some((why, because)),
            },
        };
        let why = over.as_ref().map(|(why, _)| *why);
        if pool.journal.is_some() {
            let (forgetting, id) = (Arc::clone(&pool), terminal.id);
            // Before it is over: a host that has seen that may end, and what is on
            // disk then was lost.
            let removed = spawn_blocking(move || forgetting.journal.iter().for_each(|journal| journal.forget(id)));
            drop(removed.await);
        }
        let open = terminal.end(exit, over);
        pool.counters.closed(why, open);
        let because = terminal.because().unwrap_or_default();
        tracing::info!(
            terminal = %terminal.id, session = %terminal.owner.session, plugin = %terminal.owner.plugin,
            open_seconds = open.as_secs(), "a terminal is over: {because}"
        );
        pool.forget_ended(Instant::now());
        return;
    }
}

/// Until nothing of the program is left, and its turn is over.
async fn until_ended(terminal: &Arc<PooledTerminal>, pool: &Arc<TerminalPool>) -> Option<ProgramExit> {
    let mut progress = terminal.session.progress();
    let mut closing = terminal.closing.subscribe();
    let grace_of = |closing: &Option<CloseOrder>| closing.as_ref().map(|closing| closing.grace);
    let mut grace = grace_of(&closing.borrow_and_update());
    let (mut look, mut unrecorded) = (None, None);
    // Only `changed` marks a change as seen: one that comes while a record is
    // written is not in the record, and has another one written.
    while grace.is_none() && progress.borrow().exit.is_none() {
        let (deadline, look_at, record_at) = (terminal.deadline, look, unrecorded);
        select! {
            _ = progress.changed() => {
                look = look.or_else(|| Some(Instant::now() + LOOK));
                unrecorded = unrecorded.or_else(|| Some(Instant::now() + RECORD));
            }
            _ = closing.changed() => {}
            () = at(deadline), if deadline.is_some() => {
                terminal.order_close(CloseReason::TimeLimit, end_cause::time_limit(terminal.began.elapsed().as_secs()), EXPIRY_GRACE);
            }
            () = at(look_at), if look_at.is_some() => {
                look = None;
                terminal.note_directory();
            }
            () = at(record_at), if record_at.is_some() => {
                unrecorded = None;
                record(terminal, pool).await;
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
async fn record(terminal: &Arc<PooledTerminal>, pool: &Arc<TerminalPool>) {
    if pool.journal.is_none() {
        return;
    }
    let (terminal, pool) = (Arc::clone(terminal), Arc::clone(pool));
    let written = spawn_blocking(move || {
        let Some(journal) = &pool.journal else { return };
        let (record, text) = TerminalRecord::of(&terminal);
        if let Err(error) = journal.save(&record, &text) {
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
