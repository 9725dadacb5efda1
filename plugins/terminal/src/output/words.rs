//! Terminals and turns in the two shapes of an answer: fields for programs, and
//! words for the model. Pure: whatever is shown is handed in.

use schemars::JsonSchema;
use serde::Serialize;
use wharf_sdk::terminal::{Layer, Outcome, OutcomeKind, Reason, Status, TerminalInfo, Turn};

/// Characters of a command on its line.
const COMMAND_CHARACTERS: usize = 200;

/// A terminal as tools show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Terminal {
    /// What the other tools take.
    pub(crate) terminal_id: String,
    /// What was started; cut where it is long.
    pub(crate) command: String,
    /// `starting`, `ready`, `busy` (a turn runs), `needs-input` (it asks something), `restarting` (after a crash) or
    /// `closed`.
    pub(crate) status: String,
    /// What decides how long silence has to last before a turn counts as over.
    pub(crate) preset: String,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    /// Whether a program has the whole screen, as editors and pagers do: read_screen then shows more than read_output.
    pub(crate) full_screen: bool,
    /// Bytes of text that it printed; read_output reads them by cursor.
    pub(crate) output_bytes: u64,
    /// RFC 3339, in UTC.
    pub(crate) started_at: String,
    /// RFC 3339, in UTC.
    pub(crate) last_used_at: String,
    /// RFC 3339, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<String>,
    /// The code with which its program exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<u32>,
    /// Why the host closed it: `owner` (close_terminal), `replaced`, `idle`, `evicted`, `time-limit`, `crashes`, `operator`,
    /// `quota`, `shutting-down` or `host-lost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_because: Option<String>,
    /// Why it ended, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<String>,
    /// How often its program crashed and was started again.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) restarts: u32,
    /// Why the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) restarted_because: Option<String>,
    /// Whether the operator has it recorded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) recording: bool,
    /// The id under which its events can be followed over HTTP, where the host serves that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event_stream: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl From<&TerminalInfo> for Terminal {
    fn from(info: &TerminalInfo) -> Self {
        let outcome = info.outcome.as_ref();
        Self {
            terminal_id: info.id.clone(),
            command: info.command.clone(),
            status: info.status.to_string(),
            preset: info.preset.to_string(),
            columns: info.columns,
            rows: info.rows,
            full_screen: info.alternate_screen,
            output_bytes: info.text.bytes,
            started_at: info.started.clone(),
            last_used_at: info.last_used.clone(),
            ended_at: info.ended.clone(),
            exit_code: outcome.and_then(|outcome| outcome.code),
            signal: outcome.and_then(|outcome| outcome.signal),
            ended_because: outcome.and_then(|outcome| outcome.reason.clone()),
            cause: info.because(),
            restarts: info.restarts,
            restarted_because: info.restarted_because.clone(),
            recording: info.recording,
            event_stream: info.stream.clone(),
        }
    }
}

/// How a terminal is, in words.
pub(crate) fn state(info: &TerminalInfo) -> String {
    let mut text = match (&info.outcome, &info.status) {
        (Some(outcome), Status::Closed) => ended(outcome, info),
        (_, Status::Busy) => "busy, a turn runs".to_owned(),
        (_, Status::NeedsInput) => "waits for input".to_owned(),
        (_, status) => status.to_string(),
    };
    if info.restarts > 0 {
        let why = info.restarted_because.as_deref().unwrap_or("it crashed");
        text.push_str(&format!("; started again {} times, the last time since {why}", info.restarts));
    }
    text
}

fn ended(outcome: &Outcome, info: &TerminalInfo) -> String {
    match (&outcome.kind, outcome.code, outcome.signal, info.because()) {
        (OutcomeKind::Exited, Some(code), ..) if outcome.reason.is_none() => format!("ended with exit code {code}"),
        // Such as `it was ended by signal 11 (SIGSEGV)`.
        (.., Some(because)) => because.strip_prefix("it was ").unwrap_or(&because).to_owned(),
        (OutcomeKind::Exited, Some(code), ..) => format!("ended with exit code {code}"),
        (OutcomeKind::Signaled, _, Some(signal), None) => format!("ended by signal {signal}"),
        _ => format!("closed ({})", outcome.reason.as_deref().unwrap_or("for an unknown reason")),
    }
}

/// A terminal on one line.
pub(crate) fn line(info: &TerminalInfo) -> String {
    let command: String = info.command.chars().take(COMMAND_CHARACTERS).collect();
    let (state, started) = (state(info), &info.started);
    format!("{}: {command}; {state}; {}x{}; started {started}", info.id, info.columns, info.rows)
}

/// How a turn is, in words, of a terminal that is so now.
pub(crate) fn turn_state(turn: &Turn, info: &TerminalInfo) -> String {
    let Some(end) = &turn.complete else {
        return if turn.cancelled { "cancelled" } else { "still running" }.to_owned();
    };
    let (reason, confidence) = (&end.reason, &end.confidence);
    let how = format!("({reason}, confidence {confidence})");
    match (reason, end.exit_code) {
        (Reason::ProcessExited | Reason::DescendantsAlive, Some(code)) => {
            format!("the program ended with exit code {code} {how}")
        }
        (Reason::ProcessExited | Reason::DescendantsAlive, None) => {
            // No code: a signal ended it, or the host did.
            match info.because().or_else(|| info.restarted_because.clone()) {
                Some(because) => format!("the program ended: {because} {how}"),
                None => format!("the program ended {how}"),
            }
        }
        (_, Some(code)) => format!("exit code {code} {how}"),
        (_, None) if matches!(end.layer, Layer::Inactivity | Layer::Limit) => format!("cut off {how}"),
        (_, None) => format!("complete {how}"),
    }
}

/// What to do after a turn that is over; nothing where that goes without
/// saying.
pub(crate) fn turn_note(turn: &Turn, info: &TerminalInfo) -> String {
    let Some(end) = &turn.complete else {
        let note = "What the program prints from now on belongs to no turn; it was sent nothing.";
        return if turn.cancelled { note.to_owned() } else { String::new() };
    };
    match (&end.layer, &end.reason) {
        (Layer::Ended, _) if !info.is_closed() => {
            let why = info.restarted_because.as_deref().unwrap_or("it crashed");
            format!("The program is started again, since {why}; what it knew is lost, what it printed is kept.")
        }
        (Layer::Ended, _) => "start_terminal starts another one; read_output still shows what it printed.".to_owned(),
        (_, Reason::NeedsContinuation) => {
            "The shell waits for the rest of the command: send_message sends it, send_keys [\"C-c\"] gives it up."
                .to_owned()
        }
        (Layer::Inactivity, _) => format!(
            "It fell silent, so the answer may not be whole. read_output with cursor {} shows what came since; a \
             longer `quiet_seconds` or another `preset` waits longer the next time.",
            turn.end.unwrap_or(turn.start)
        ),
        (Layer::Limit, _) => format!(
            "It took longer than a turn may; the program works on. read_output with cursor {} shows what came since, \
             and a longer `time_limit_seconds` or the preset \"build\" waits longer the next time.",
            turn.end.unwrap_or(turn.start)
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wharf_sdk::terminal::{Completion, Confidence, Extent, Preset};

    use super::*;

    fn turn(layer: Layer, reason: Reason, exit_code: Option<i32>) -> Turn {
        let complete = Completion {
            layer,
            reason,
            confidence: Confidence::High,
            messages: 1,
            attempts: 0,
            empty_polls: 0,
            idle: Duration::ZERO,
            elapsed: Duration::ZERO,
            exit_code,
        };
        Turn { number: 1, start: 5, end: Some(9), complete: Some(complete), cancelled: false, meta: None }
    }

    fn info(status: Status, outcome: Option<Outcome>) -> TerminalInfo {
        TerminalInfo {
            id: "t1".to_owned(),
            command: "bash".to_owned(),
            profile: "bash".to_owned(),
            preset: Preset::Shell,
            status,
            pid: None,
            columns: 80,
            rows: 24,
            started: "2026-01-01T00:00:00.000Z".to_owned(),
            last_used: "2026-01-01T00:00:00.000Z".to_owned(),
            ended: None,
            outcome,
            restarts: 0,
            restarted_because: None,
            turn: None,
            text: Extent::default(),
            raw: Extent::default(),
            alternate_screen: false,
            recording: false,
            stream: None,
            meta: None,
        }
    }

    #[test]
    fn every_end_of_a_turn_is_told_apart_with_what_to_do_next() {
        let (ready, closed) = (info(Status::Ready, None), info(Status::Closed, None));
        for (turn, info, state, note) in [
            (turn(Layer::Signal, Reason::CommandEnded, Some(1)), &ready, "exit code 1 (command-ended", ""),
            (turn(Layer::Status, Reason::BroadPrompt, None), &ready, "complete (broad-prompt, confidence high)", ""),
            (turn(Layer::Signal, Reason::NeedsContinuation, None), &ready, "complete", "send_keys [\"C-c\"]"),
            (turn(Layer::Inactivity, Reason::Idle, None), &ready, "cut off (idle", "read_output with cursor 9"),
            (turn(Layer::Limit, Reason::TimeLimit, None), &ready, "cut off (time-limit", "time_limit_seconds"),
            (turn(Layer::Ended, Reason::ProcessExited, Some(3)), &closed, "ended with exit code 3", "start_terminal"),
            (turn(Layer::Ended, Reason::ProcessExited, None), &ready, "the program ended", "started again"),
        ] {
            let (told, advice) = (turn_state(&turn, info), turn_note(&turn, info));
            assert!(told.contains(state), "{told}");
            assert!(advice.contains(note) && (note.is_empty() == advice.is_empty()), "{advice}");
        }
        let cancelled = Turn { complete: None, cancelled: true, ..turn(Layer::Status, Reason::ShellIdle, None) };
        assert_eq!(turn_state(&cancelled, &ready), "cancelled");
        assert_eq!(turn_state(&Turn { cancelled: false, ..cancelled }, &ready), "still running");
    }

    #[test]
    fn a_program_that_a_signal_or_the_host_ended_says_by_what() {
        for (because, kind, signal, listed) in [
            ("it was ended by signal 11 (SIGSEGV)", "signaled", Some(11), "ended by signal 11 (SIGSEGV)"),
            (
                "it was closed, since nobody used it for 900 s (limit `idle_seconds`)",
                "killed",
                None,
                "closed, since nobody used it for 900 s (limit `idle_seconds`)",
            ),
            ("its owner closed it", "killed", None, "its owner closed it"),
        ] {
            let outcome = Outcome { kind: kind.to_owned().into(), code: None, signal, reason: None };
            let meta = Some(serde_json::json!({ "because": because }).to_string());
            let closed = TerminalInfo { meta, ..info(Status::Closed, Some(outcome)) };
            assert_eq!(state(&closed), listed);
            let told = turn_state(&turn(Layer::Ended, Reason::ProcessExited, None), &closed);
            assert!(told.starts_with(&format!("the program ended: {because} (process-exited")), "{told}");
        }
    }

    #[test]
    fn a_terminal_is_listed_on_one_line_with_how_it_is() {
        let outcome = |kind, code, signal, reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            Some(Outcome { kind, code, signal, reason })
        };
        for (outcome, expected) in [
            (outcome(OutcomeKind::Exited, Some(0), None, None), "ended with exit code 0"),
            (outcome(OutcomeKind::Signaled, None, Some(11), None), "ended by signal 11"),
            (outcome(OutcomeKind::Killed, None, None, Some("idle")), "closed (idle)"),
            (outcome(OutcomeKind::Other("frozen".into()), None, None, None), "closed (for an unknown reason)"),
        ] {
            assert_eq!(state(&info(Status::Closed, outcome)), expected);
        }
        let line = line(&info(Status::Busy, None));
        assert_eq!(line, "t1: bash; busy, a turn runs; 80x24; started 2026-01-01T00:00:00.000Z");
        let mut crashed = info(Status::Restarting, None);
        (crashed.restarts, crashed.restarted_because) = (2, Some("it ended by signal 11".to_owned()));
        assert_eq!(state(&crashed), "restarting; started again 2 times, the last time since it ended by signal 11");
    }
}
