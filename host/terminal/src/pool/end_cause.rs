//! Why terminals end, in words for people and models: each end has its cause.
//!
//! Parts of sentences that `because` or a colon may stand before. Never knows a
//! terminal.

use wharf_core::TerminalLimits;
use wharf_spawn::signal_name;

use crate::{KilledBy, ProgramExit, TerminalId};

/// How a program ended by itself.
pub(crate) fn of_exit(exit: ProgramExit) -> String {
    match exit {
        ProgramExit::Exited { code } => format!("it ended with code {code}{}", of_shell(code)),
        ProgramExit::Signaled { signal } => match signal_name(signal) {
            Some(name) => format!("it was ended by signal {signal} ({name})"),
            None => format!("it was ended by signal {signal}"),
        },
        ProgramExit::Killed { by: KilledBy::User } => "it was closed".to_owned(),
        ProgramExit::Killed { by: KilledBy::HostLost } => "it was lost with its supervisor".to_owned(),
    }
}

/// What shells say of a program by their own code: 128 and the signal that ended
/// it. A program may mean something else by the same code.
fn of_shell(code: i32) -> String {
    let signal = (129..=128 + 64).contains(&code).then(|| code - 128);
    match signal.and_then(|signal| Some((signal, signal_name(signal)?))) {
        Some((signal, name)) => format!(", as shells say of a program ended by signal {signal} ({name})"),
        None => String::new(),
    }
}

pub(crate) fn by_owner() -> String {
    "its owner closed it".to_owned()
}

pub(crate) fn by_operator() -> String {
    "the operator ended it".to_owned()
}

/// `rule` is the one that is broken, with its limit.
pub(crate) fn quota(rule: &str) -> String {
    format!("it was ended, since the files of its session take more than they may: {rule}")
}

pub(crate) fn shutting_down() -> String {
    "it was closed, since its host shut down".to_owned()
}

pub(crate) fn replaced(by: TerminalId, limits: &TerminalLimits) -> String {
    let most = limits.open_per_owner;
    format!("it was closed to make room for terminal {by} of the same owner, which may have {most} (`open_per_owner`)")
}

/// `limit` is the one that was reached, by its name. `by` is told where it is of the same
/// session: what other sessions of the tenant have open is theirs to know.
pub(crate) fn evicted(limit: &str, unused_seconds: u64, by: Option<TerminalId>) -> String {
    let room_for = by.map_or_else(
        || "another terminal of its tenant, of another session".to_owned(),
        |by| format!("terminal {by} of the same session"),
    );
    format!("it was closed after {unused_seconds} s without use, to make room for {room_for} (limit `{limit}`)")
}

pub(crate) fn idle(unused_seconds: u64) -> String {
    format!("it was closed, since nobody used it for {unused_seconds} s (limit `idle_seconds`)")
}

pub(crate) fn time_limit(open_seconds: u64) -> String {
    format!("it was closed after {open_seconds} s, as long as it was allowed to be open")
}

pub(crate) fn crashes(limits: &TerminalLimits, last: &str) -> String {
    let (most, window) = (limits.restarts, limits.restart_window_seconds);
    format!("its program crashed more than {most} times within {window} s, the last time since {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_by_a_signal_says_its_name() {
        assert_eq!(of_exit(ProgramExit::Signaled { signal: 11 }), "it was ended by signal 11 (SIGSEGV)");
        assert_eq!(of_exit(ProgramExit::Signaled { signal: 99 }), "it was ended by signal 99");
        assert_eq!(of_exit(ProgramExit::Exited { code: 3 }), "it ended with code 3");
    }

    #[test]
    fn a_code_by_which_a_shell_tells_of_a_signal_says_its_name() {
        let said = "it ended with code 139, as shells say of a program ended by signal 11 (SIGSEGV)";
        assert_eq!(of_exit(ProgramExit::Exited { code: 139 }), said);
        for code in [127, 128, 193, 255] {
            assert_eq!(of_exit(ProgramExit::Exited { code }), format!("it ended with code {code}"));
        }
    }
}
