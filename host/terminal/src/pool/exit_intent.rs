//! Whether a program that ended was asked to, or crashed.
//!
//! An `exit` that is typed after a command that failed ends a shell with the code
//! of that command: the code alone says nothing. Never knows a terminal.

use crate::{Key, KilledBy, ProgramExit, TerminalModes, TurnInput};

/// What ends programs, as a line of its own.
const WORDS: [&str; 20] = [
    "exit", "quit", "logout", "bye", "q", "\\q", ".exit", ".quit", ".q", ":q", ":q!", ":qa", ":qa!", ":wq", ":x",
    "halt", "/exit", "/quit", "sys.exit", "close",
];
/// What keys send that end programs, or interrupt them: C-c, C-d, C-\.
const CONTROLS: [u8; 3] = [0x03, 0x04, 0x1c];
/// What the first and the last of these do.
const INTERRUPT: i32 = 2;
const QUIT: i32 = 3;

/// Whether an input is one that ends programs.
pub(crate) fn input_asks_to_exit(input: TurnInput<'_>) -> bool {
    match input {
        TurnInput::Submit(text) | TurnInput::Type(text) => text.lines().any(is_exit_word),
        TurnInput::Keys(names) => keys_ask_to_exit(names),
    }
}

/// The same of keys.
pub(crate) fn keys_ask_to_exit(names: &[&str]) -> bool {
    let sent =
        names.iter().filter_map(|name| name.parse::<Key>().ok()).flat_map(|key| key.bytes(TerminalModes::default()));
    bytes_ask_to_exit(&sent.collect::<Vec<_>>())
}

/// The same of what a person typed.
pub(crate) fn bytes_ask_to_exit(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| CONTROLS.contains(byte))
}

/// `exit`, `exit 3`, `exit()`, `sys.exit(3);` and the like.
fn is_exit_word(line: &str) -> bool {
    let line = line.trim().trim_end_matches(';').trim_end();
    let (word, rest) =
        line.split_at(line.find(|character: char| character.is_whitespace() || character == '(').unwrap_or(line.len()));
    let code = rest.trim().trim_start_matches('(').trim_end_matches(')').trim();
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
        && code.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether an end is a crash, where the last input asked for one or did not.
pub(crate) fn is_crash(exit: ProgramExit, was_asked_to: bool) -> bool {
    match exit {
        ProgramExit::Exited { code } => code != 0 && !was_asked_to,
        ProgramExit::Signaled { signal } => !(was_asked_to && matches!(signal, INTERRUPT | QUIT)),
        ProgramExit::Killed { by: KilledBy::HostLost } => true,
        ProgramExit::Killed { by: KilledBy::User } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_keys_that_end_programs_are_known_in_every_shape() {
        for text in
            ["exit", " exit 3 ", "exit()", "exit( 1 )", "sys.exit(-1);", "ls\nquit\n", "\\q", ":q!", "Exit", "exit\nls"]
        {
            assert!(input_asks_to_exit(TurnInput::Submit(text)), "{text:?}");
        }
        for text in ["", "echo exit", "exit now", "exit_code", "quit(f(x))"] {
            assert!(!input_asks_to_exit(TurnInput::Submit(text)), "{text:?}");
        }
        assert!(
            input_asks_to_exit(TurnInput::Keys(&["x", "C-d"]))
                && input_asks_to_exit(TurnInput::Keys(&["C-c"]))
                && !input_asks_to_exit(TurnInput::Keys(&["d", "Enter"]))
        );
    }

    #[test]
    fn a_crash_is_an_end_that_nobody_asked_for() {
        let code = |code| ProgramExit::Exited { code };
        let signal = |signal| ProgramExit::Signaled { signal };
        assert!(!is_crash(code(0), false) && is_crash(code(1), false) && !is_crash(code(1), true));
        assert!(is_crash(signal(11), false) && is_crash(signal(11), true));
        assert!(is_crash(signal(2), false) && !is_crash(signal(2), true));
        assert!(!is_crash(ProgramExit::Killed { by: KilledBy::User }, false));
        assert!(is_crash(ProgramExit::Killed { by: KilledBy::HostLost }, true));
    }
}
