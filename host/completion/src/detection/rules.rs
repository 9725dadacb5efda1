//! The rules of the table, each from what is known to a time and a verdict.

use std::time::Duration;

use super::{
    Beside, Confidence, CursorRow, Parameters, PromptKind, Reason, Verdict, adaptation::ResponseTimes, turn::Turn,
};

/// A program that goes on by itself within this time may be about to, whatever
/// it shows. One that rests for longer does so for other reasons than its
/// answer, such as writing its history.
const DOUBTFUL_REST: Duration = Duration::from_secs(2);
/// How long a broad prompt needs at most of a program that only time wakes.
const RESTING_QUIET: Duration = Duration::from_millis(500);

/// How the program's end is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ending {
    /// When the leader ended, and how many processes it left behind.
    pub(super) ended: Option<(Duration, u32)>,
    /// The code that it ended with.
    pub(super) exit_code: Option<i32>,
    /// When the last writer of the stream had gone.
    pub(super) closed: Option<Duration>,
}

/// A rule that fires at a time, unless something happens before.
pub(super) type Due = (Duration, Verdict);

/// Every rule that will fire if nothing more happens.
pub(super) fn due(
    parameters: &Parameters,
    responses: &ResponseTimes,
    ending: &Ending,
    turn: &Turn,
) -> impl Iterator<Item = Due> + use<> {
    let limit = turn.began.saturating_add(parameters.time_limit);
    let ended = ending.ended.map(|ended| process_ended(parameters, ended, ending.closed, limit));
    // Once the process has ended, nothing else can still be true.
    let others = ended.is_none().then(|| {
        [
            turn.signal.map(|(at, reason)| (at, verdict(reason, Confidence::Certain))),
            ending.closed.map(|closed| {
                (closed.saturating_add(parameters.drain), verdict(Reason::StreamClosed, Confidence::High))
            }),
            status(parameters, turn),
            turn.prompt,
            empty_polls(parameters, turn),
            idle(parameters, responses, turn),
            (turn.attempts >= parameters.max_attempts)
                .then(|| (turn.last_attempt, verdict(Reason::AttemptsExhausted, Confidence::None))),
            Some((limit, verdict(Reason::TimeLimit, Confidence::None))),
        ]
    });
    ended.into_iter().chain(others.into_iter().flatten().flatten())
}

fn process_ended(
    parameters: &Parameters,
    (ended, descendants): (Duration, u32),
    closed: Option<Duration>,
    limit: Duration,
) -> Due {
    // What it wrote last may still be under way, until the stream is closed or the turn is over.
    let drained = ended.saturating_add(parameters.drain).min(limit);
    let at = closed.map_or(drained, |closed| closed.max(ended));
    let reason = if descendants == 0 { Reason::ProcessExited } else { Reason::DescendantsAlive { descendants } };
    (at, verdict(reason, Confidence::Certain))
}

fn status(parameters: &Parameters, turn: &Turn) -> Option<Due> {
    let since = turn.done_since.filter(|_| turn.messages > 0)?.max(turn.last_event);
    // Before it said that it works, this may be what it said before the input;
    // and one that passed may pass again.
    let doubtful = turn.done_passed || !turn.worked;
    let hold = if doubtful { parameters.settle.saturating_mul(2) } else { parameters.settle };
    Some((since.saturating_add(hold), verdict(Reason::StatusReady, Confidence::High)))
}

fn empty_polls(parameters: &Parameters, turn: &Turn) -> Option<Due> {
    let counts = parameters.empty_polls_while_busy || turn.waits != Some(false);
    let fires = turn.empty_polls >= parameters.consecutive_empty_polls && turn.may_idle() && counts;
    fires.then(|| (turn.last_attempt, verdict(Reason::EmptyPolls, Confidence::Low)))
}

fn idle(parameters: &Parameters, responses: &ResponseTimes, turn: &Turn) -> Option<Due> {
    if !turn.may_idle() {
        return None;
    }
    let usual = responses.silence(parameters).map_or(parameters.inactivity_timeout, |silence| silence.limit);
    let busy = turn.waits == Some(false);
    let limit = if busy { usual.max(parameters.busy_inactivity_timeout) } else { usual };
    Some((turn.last_event.saturating_add(limit), verdict(Reason::Idle, Confidence::Low)))
}

/// What the cursor's row says now: a verdict, or when to look again.
pub(super) fn look(parameters: &Parameters, turn: &mut Turn, row: &CursorRow<'_>, at: Duration) {
    turn.waits = row.waits_for_input;
    // The program may begin to wait without printing anything.
    turn.look = Some(at.saturating_add(parameters.strict_quiet));
    if row.waits_for_input == Some(false) {
        turn.busy_at = Some(at);
        return;
    }
    if let Some((due, reason)) = turn.signal {
        // It is about to decide, and a prompt between two commands must not get
        // ahead of it. Where nothing is left to be read no other command comes.
        if is_done(row) && at >= turn.last_output.saturating_add(parameters.strict_quiet) {
            turn.signal = Some((due.min(at), reason));
        }
        return;
    }
    if let Beside::Rests { wakes, .. } = row.beside
        && wakes <= DOUBTFUL_REST
    {
        turn.wakes_by.get_or_insert(at.saturating_add(wakes));
    }
    let Some((found, quiet)) = prompt(parameters, turn, row) else { return };
    let mut counts = turn.last_output.saturating_add(quiet);
    if row.waits_for_input.is_none()
        && let Some(wakes_by) = turn.wakes_by
    {
        counts = counts.max(wakes_by.saturating_add(parameters.strict_quiet));
    }
    // What computed behind its last output showed no prompt there, and one look
    // that finds out nothing does not make it one.
    if let Some(busy_at) = turn.busy_at.filter(|busy_at| *busy_at > turn.last_output && row.waits_for_input.is_none()) {
        counts = counts.max(busy_at.saturating_add(parameters.broad_quiet));
    }
    if at >= counts {
        turn.prompt = Some((at, found));
    } else {
        turn.look = Some(counts);
    }
}

/// Whether the program is known to be done with its input.
fn is_done(row: &CursorRow<'_>) -> bool {
    row.waits_for_input == Some(true) && row.has_read_input == Some(true)
}

/// What the row says, and how long nothing may have come for that to count.
fn prompt(parameters: &Parameters, turn: &Turn, row: &CursorRow<'_>) -> Option<(Verdict, Duration)> {
    let waits = row.waits_for_input == Some(true);
    // Whatever was seen of its input.
    let is_done = is_done(row);
    if !is_done && (!turn.echo.is_answered() || turn.is_typed(row.text)) {
        return None;
    }
    let shell = row.shell_in_front == Some(true);
    let sure = if waits { Confidence::High } else { Confidence::Medium };
    let (found, certainly) = match parameters.prompts.find(row.text) {
        Some(PromptKind::Strict) => (verdict(Reason::StrictPrompt, Confidence::High), true),
        _ if shell && waits => (verdict(Reason::ShellIdle, sure), true),
        Some(PromptKind::Broad) if turn.is_working() => return None,
        Some(PromptKind::Broad) if shell => (verdict(Reason::ShellIdle, sure), waits),
        Some(PromptKind::Broad) => (verdict(Reason::BroadPrompt, sure), waits),
        None if is_done && !turn.is_working() => (verdict(Reason::AwaitsInput, sure), true),
        None => return None,
    };
    let soon = certainly && (is_done || turn.echo.is_found());
    let usual = if soon { parameters.strict_quiet } else { parameters.broad_quiet };
    let quiet = match row.beside {
        // What is known of it says more.
        _ if is_done || found.reason == Reason::AwaitsInput => usual,
        Beside::Computes => parameters.broad_quiet,
        Beside::Rests { wakes, alone: true } if row.has_read_input == Some(true) => {
            let resting = if wakes <= DOUBTFUL_REST { RESTING_QUIET } else { parameters.broad_quiet / 4 };
            usual.min(parameters.strict_quiet.max(resting))
        }
        Beside::Rests { .. } | Beside::Unknown => usual,
    };
    Some((found, quiet))
}

fn verdict(reason: Reason, confidence: Confidence) -> Verdict {
    Verdict { reason, confidence }
}
