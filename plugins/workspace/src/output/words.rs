//! How processes are, in words for the model. Pure: whatever is told is handed in.

use wharf_sdk::process::{Outcome, OutcomeKind, PollStatistics, ProcessInfo};

use super::clean::Cleaned;

/// Characters of a command on its line.
const COMMAND_CHARACTERS: usize = 200;

/// How a process is, the exit code first.
pub(crate) fn state(info: &ProcessInfo) -> String {
    let Some(Outcome { kind, code, signal, reason }) = &info.outcome else {
        return format!("{}; process_id {}", info.status, info.id);
    };
    let reason = reason.as_deref().unwrap_or("for an unknown reason");
    let mut text = match (kind, code, signal) {
        (OutcomeKind::Exited, Some(code), _) => format!("exit code {code}"),
        (OutcomeKind::Signaled, _, Some(signal)) => format!("ended by signal {signal}{}", signal_name(*signal)),
        (OutcomeKind::NotStarted, ..) => format!("not started: {reason}"),
        _ => format!("killed ({reason})"),
    };
    if let Some(living) = info.descendants.filter(|living| *living > 0) {
        let (are, them) = if living == 1 {
            ("process that it started still lives", "it")
        } else {
            ("processes that it started still live", "them")
        };
        text.push_str(&format!("; {living} {are}, and stop_process with process_id {} ends {them}", info.id));
    }
    text
}

fn signal_name(signal: u32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        14 => " (SIGALRM)",
        15 => " (SIGTERM)",
        24 => " (SIGXCPU)",
        25 => " (SIGXFSZ)",
        31 => " (SIGSYS)",
        _ => "",
    }
}

/// One line about a process.
pub(crate) fn line(info: &ProcessInfo) -> String {
    let command = Cleaned::of(info.command.as_bytes()).text;
    let command: Vec<&str> = command.split_whitespace().collect();
    let mut command = command.join(" ");
    if let Some((place, _)) = command.char_indices().nth(COMMAND_CHARACTERS) {
        command.truncate(place);
        command.push('…');
    }
    let state = match &info.outcome {
        Some(_) => state(info),
        None => info.status.to_string(),
    };
    let bytes = info.stdout.bytes.saturating_add(info.stderr.bytes);
    let polls = match info.polls() {
        Some(PollStatistics { total, in_a_row: 2.., intervals: Some(intervals), .. }) => {
            format!("; polled {total} times, on average every {} ms of late", intervals.mean_milliseconds)
        }
        Some(PollStatistics { total: 1, .. }) => "; polled once".to_owned(),
        Some(PollStatistics { total, .. }) => format!("; polled {total} times"),
        None => String::new(),
    };
    format!("{}: {state}; started {}; {bytes} bytes of output{polls}; {command}", info.id, info.started)
}

#[cfg(test)]
mod tests {
    use wharf_sdk::process::Status;

    use super::*;
    use crate::output::answer::Process;
    use crate::output::samples::{info, outcome};

    #[test]
    fn every_end_is_told_apart() {
        for (ended, expected) in [
            (outcome(OutcomeKind::Exited, Some(0), None, None), "exit code 0"),
            (outcome(OutcomeKind::Signaled, None, Some(11), None), "ended by signal 11 (SIGSEGV)"),
            (outcome(OutcomeKind::Signaled, None, Some(64), None), "ended by signal 64"),
            (outcome(OutcomeKind::Killed, None, Some(9), Some("time-limit")), "killed (time-limit)"),
            (outcome(OutcomeKind::NotStarted, None, None, Some("no such file")), "not started: no such file"),
            (outcome(OutcomeKind::Other("frozen".into()), None, None, None), "killed (for an unknown reason)"),
        ] {
            assert_eq!(state(&info(Status::Killed, ended)), expected);
        }
        assert_eq!(state(&info(Status::Running, None)), "running; process_id p1");
    }

    #[test]
    fn descendants_that_hold_on_are_counted_with_what_ends_them() {
        let mut ended = info(Status::Finished, outcome(OutcomeKind::Exited, Some(0), None, None));
        ended.descendants = Some(2);
        let text = state(&ended);
        assert_eq!(
            text,
            "exit code 0; 2 processes that it started still live, and stop_process with process_id p1 ends them"
        );
        ended.descendants = Some(0);
        assert_eq!(state(&ended), "exit code 0");
    }

    #[test]
    fn a_process_is_listed_on_one_line() {
        let line = line(&info(Status::Running, None));
        assert_eq!(line, "p1: running; started 2026-01-01T00:00:00.000Z; 4 bytes of output; make all");
    }

    #[test]
    fn how_a_process_was_polled_is_shown_with_it() {
        let mut polled = info(Status::Running, None);
        let intervals =
            r#"{"count": 6, "mean_milliseconds": 1500, "deviation_milliseconds": 20, "shortest_milliseconds": 9}"#;
        let meta = |total: u64, intervals: &str| {
            let last = "2026-01-01T00:00:09.000Z";
            format!(
                r#"{{"polls": {{"total": {total}, "last": "{last}", "in_a_row": {total}, "intervals": {intervals}}}}}"#
            )
        };
        polled.meta = Some(meta(7, intervals));
        assert!(
            line(&polled).contains("; polled 7 times, on average every 1500 ms of late; make"),
            "{}",
            line(&polled)
        );
        let structured = serde_json::to_value(Process::from(&polled)).expect("json");
        let expected = serde_json::json!({
            "total": 7, "in_a_row": 7, "last_at": "2026-01-01T00:00:09.000Z", "mean_interval_milliseconds": 1500,
            "deviation_milliseconds": 20, "shortest_interval_milliseconds": 9,
        });
        assert_eq!(structured["polls"], expected);
        polled.meta = Some(meta(1, "null"));
        assert!(line(&polled).contains("; polled once; make"), "{}", line(&polled));
        for nothing in [None, Some("{}".to_owned()), Some("no json".to_owned())] {
            polled.meta = nothing;
            assert_eq!(Process::from(&polled).polls, None);
        }
    }
}
