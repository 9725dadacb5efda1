//! The names of signals, as the contract writes them.

use wharf_spawn::Signal;

const NAMES: [(&str, Signal); 9] = [
    ("hangup", Signal::Hangup),
    ("interrupt", Signal::Interrupt),
    ("quit", Signal::Quit),
    ("terminate", Signal::Terminate),
    ("kill", Signal::Kill),
    ("user1", Signal::User1),
    ("user2", Signal::User2),
    ("stop", Signal::Stop),
    ("continue", Signal::Continue),
];

/// A word that names no signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no signal {given:?}; those that can be sent are hangup, interrupt, quit, terminate, kill, user1, user2, \
     stop and continue"
)]
pub struct UnknownSignal {
    /// The beginning of the word.
    pub given: String,
}

/// The signal of this name.
///
/// # Errors
/// [`UnknownSignal`], which lists the names there are.
pub fn signal_named(name: &str) -> Result<Signal, UnknownSignal> {
    let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, signal)| *signal);
    found.ok_or_else(|| UnknownSignal { given: name.chars().take(40).collect() })
}

/// The name of a signal.
#[must_use]
pub fn signal_name(signal: Signal) -> &'static str {
    match signal {
        Signal::Hangup => "hangup",
        Signal::Interrupt => "interrupt",
        Signal::Quit => "quit",
        Signal::Terminate => "terminate",
        Signal::Kill => "kill",
        Signal::User1 => "user1",
        Signal::User2 => "user2",
        Signal::Stop => "stop",
        Signal::Continue => "continue",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_is_found_by_its_name_and_the_error_lists_all_names() {
        let error = signal_named("SIGKILL").expect_err("no name").to_string();
        for (name, signal) in NAMES {
            assert_eq!((signal_named(name), signal_name(signal)), (Ok(signal), name));
            assert!(error.contains(name), "{error}");
        }
    }
}
