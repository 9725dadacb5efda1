//! Waiting for a process: a bounded long poll that costs nothing while nothing
//! happens.

use std::time::Duration;

use tokio::{
    select,
    task::yield_now,
    time::{Instant, sleep_until},
};

use super::Processes;
use crate::{Found, Owner, Pattern, ProcessError, ProcessId, Snapshot, StreamName, pattern::Search, polls::Guidance};

/// What to wait for: whichever comes first. The end of the process and of both
/// its streams always ends a wait, since nothing can come then.
#[derive(Debug, Clone, Default)]
pub struct Until {
    /// Output of this stream behind this cursor.
    pub output: Option<(StreamName, u64)>,
    /// A line of this stream, from this cursor on, that matches.
    pub pattern: Option<(StreamName, u64, Pattern)>,
    /// The end of the process, whoever still holds its streams.
    pub exit: bool,
    /// No output for so long.
    pub idle: Option<Duration>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There is output.
    Output,
    /// The pattern matched.
    Pattern(Found),
    /// The process has ended.
    Exit,
    /// There was no output for as long as asked.
    Idle,
    /// None of it happened in the time of the wait.
    TimeUp,
}

/// How a wait ended.
#[derive(Debug)]
pub struct Waited {
    /// Why.
    pub reason: Reason,
    /// The process, after that.
    pub process: Snapshot,
    /// Advice, where this was no wait: what answers at once counts as a poll.
    pub guidance: Option<Guidance>,
}

impl Processes {
    /// Waits until something of `wanted` happens, `within` the time at most.
    /// May be dropped at any time; nothing is lost by that, since everything
    /// that can be waited for is named by cursor.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or where the output cannot be read.
    pub async fn wait(
        &self,
        owner: &Owner,
        id: ProcessId,
        wanted: &Until,
        within: Duration,
    ) -> Result<Waited, ProcessError> {
        let process = self.find(owner, id)?;
        let time_up = Instant::now() + within.min(self.settings.longest_wait);
        let mut states = process.state.subscribe();
        let (mut stdout, mut stderr) = (process.stdout.follow(), process.stderr.follow());
        let mut search =
            wanted.pattern.as_ref().map(|(stream, from, pattern)| Search::new(pattern, process.output(*stream), *from));
        let streams_matter =
            !wanted.exit || wanted.output.is_some() || wanted.pattern.is_some() || wanted.idle.is_some();
        let mut blocked = false;
        let reason = loop {
            // In this order: what a process printed is there before its end is
            // told, and a stream that is closed is complete.
            let ended = states.borrow_and_update().status.has_ended();
            let (out, err) = (*stdout.borrow_and_update(), *stderr.borrow_and_update());
            let progress = |stream| match stream {
                StreamName::Stdout => out,
                StreamName::Stderr => err,
            };
            if let (Some(search), Some((stream, ..))) = (&mut search, &wanted.pattern)
                && let Some(found) = look(search, progress(*stream).bytes, time_up).await?
            {
                break Reason::Pattern(found);
            }
            if wanted.output.is_some_and(|(stream, from)| progress(stream).bytes > from) {
                break Reason::Output;
            }
            if ended && (wanted.exit || !(out.open || err.open)) {
                break Reason::Exit;
            }
            let now = Instant::now();
            let last = process.began.max(out.last).max(err.last);
            let idle_at = wanted.idle.and_then(|idle| last.checked_add(idle));
            if idle_at.is_some_and(|idle_at| idle_at <= now) {
                break Reason::Idle;
            }
            if time_up <= now {
                break Reason::TimeUp;
            }
            blocked = true;
            let wake = idle_at.map_or(time_up, |idle_at| idle_at.min(time_up));
            // The senders live as long as the process, which is held here.
            select! {
                _ = states.changed() => {}
                _ = stdout.changed(), if streams_matter => {}
                _ = stderr.changed(), if streams_matter => {}
                () = sleep_until(wake) => {}
            }
        };
        let snapshot = process.snapshot().await;
        let guidance = if blocked { None } else { self.count_poll(&process, snapshot.status) };
        Ok(Waited { reason, process: snapshot, guidance })
    }
}

/// Looks for a match before `bytes`, as far as the time reaches.
async fn look(search: &mut Search<'_>, bytes: u64, time_up: Instant) -> Result<Option<Found>, ProcessError> {
    loop {
        if let Some(found) = search.step()? {
            return Ok(Some(found));
        }
        if search.is_current(bytes) || time_up <= Instant::now() {
            return Ok(None);
        }
        // Gigabytes may lie ahead, and others want to work, too.
        yield_now().await;
    }
}
