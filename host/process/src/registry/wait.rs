//! Waiting for a process: a bounded long poll that costs nothing while nothing
//! happens.

use std::time::Duration;

use tokio::{
    select,
    task::yield_now,
    time::{Instant, sleep_until},
};

use super::Processes;
use crate::{
    Owner, Pattern, PatternMatch, ProcessError, ProcessId, ProcessSnapshot, StreamName, output::OutputReadError,
    pattern::PatternSearch, polls::Guidance,
};

/// What to wait for: the first of these that happens. The end of the process and of both
/// its streams always ends a wait, since nothing can happen then.
#[derive(Debug, Clone, Default)]
pub struct WaitCondition {
    /// Output of this stream behind this cursor.
    pub output: Option<(StreamName, u64)>,
    /// A line of this stream, from this cursor on, that matches.
    pub pattern: Option<(StreamName, u64, Pattern)>,
    /// The end of the process, even where descendants still hold its streams.
    pub exit: bool,
    /// No output for so long.
    pub idle: Option<Duration>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    /// There is output.
    Output,
    /// The pattern matched.
    Pattern(PatternMatch),
    /// The process has ended.
    Exit,
    /// There was no output for as long as asked.
    Idle,
    /// None of it happened in the time of the wait.
    TimeUp,
}

/// How a wait ended.
#[derive(Debug)]
pub struct WaitOutcome {
    /// Why.
    pub reason: WaitEnd,
    /// The process, after that.
    pub process: ProcessSnapshot,
    /// Advice, where there was nothing to wait for: an answer at once counts as a poll.
    pub guidance: Option<Guidance>,
}

impl Processes {
    /// Waits until `condition` is met, `within` the time at most. May be dropped at any
    /// time; nothing is lost by that, since a cursor names whatever output is waited for.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or where the output cannot be read.
    pub async fn wait(
        &self,
        owner: &Owner,
        id: ProcessId,
        condition: &WaitCondition,
        within: Duration,
    ) -> Result<WaitOutcome, ProcessError> {
        let process = self.find(owner, id)?;
        let time_up = Instant::now() + within.min(self.settings.longest_wait);
        let mut states = process.state.subscribe();
        let (mut stdout, mut stderr) = (process.stdout.follow(), process.stderr.follow());
        let mut search = condition
            .pattern
            .as_ref()
            .map(|(stream, from, pattern)| PatternSearch::new(pattern, process.output(*stream), *from));
        let streams_matter =
            !condition.exit || condition.output.is_some() || condition.pattern.is_some() || condition.idle.is_some();
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
            if let (Some(search), Some((stream, ..))) = (&mut search, &condition.pattern)
                && let Some(found) =
                    search_before(search, progress(*stream).bytes, time_up).await.map_err(Self::unreadable)?
            {
                break WaitEnd::Pattern(found);
            }
            if condition.output.is_some_and(|(stream, from)| progress(stream).bytes > from) {
                break WaitEnd::Output;
            }
            if ended && (condition.exit || !(out.open || err.open)) {
                break WaitEnd::Exit;
            }
            let now = Instant::now();
            let last = process.began.max(out.last).max(err.last);
            let idle_at = condition.idle.and_then(|idle| last.checked_add(idle));
            if idle_at.is_some_and(|idle_at| idle_at <= now) {
                break WaitEnd::Idle;
            }
            if time_up <= now {
                break WaitEnd::TimeUp;
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
        Ok(WaitOutcome { reason, process: snapshot, guidance })
    }
}

/// Searches what was printed before `bytes`, as far as the time reaches.
async fn search_before(
    search: &mut PatternSearch<'_>,
    bytes: u64,
    time_up: Instant,
) -> Result<Option<PatternMatch>, OutputReadError> {
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
