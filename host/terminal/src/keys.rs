//! Keys by name, and the bytes that a terminal sends for them.
//!
//! Owns how modes change those bytes. Never knows which program has set them.

use std::str::FromStr;

use crate::TerminalModes;

/// The names of keys that have one, as the error lists them.
const NAMES: &str = "a single character such as `q`; C- for Control and M- for Alt before a key, as in C-c, C-d, C-z, \
                     C-Left, M-x; S-Tab; Enter, Tab, Backspace, Escape, Space, Up, Down, Left, Right, Home, End, \
                     PageUp, PageDown, Insert, Delete, F1 to F12";

/// A name that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no key {given:?}; the keys are {NAMES}")]
pub struct UnknownKey {
    /// The beginning of the name.
    pub given: String,
}

/// One key, with those that are held down with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    base: KeyBase,
    control: bool,
    alt: bool,
    shift: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyBase {
    Character(char),
    Enter,
    Tab,
    Backspace,
    Escape,
    /// Sends CSI or SS3 and this letter.
    Letter(u8),
    /// Sends CSI, this number and `~`.
    Number(u8),
    /// F1 to F4: SS3 and this letter, with other keys as [`KeyBase::Letter`].
    Function(u8),
}

impl FromStr for Key {
    type Err = UnknownKey;

    /// Upper and lower case count in single characters only.
    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey { given: name.chars().take(40).collect() };
        let mut key = Self { base: KeyBase::Enter, control: false, alt: false, shift: false };
        let mut rest = name;
        while let Some((held, after)) = rest.split_once('-').filter(|(_, after)| !after.is_empty()) {
            let held = match held {
                "C" | "c" | "Ctrl" | "ctrl" => &mut key.control,
                "M" | "m" | "A" | "Alt" | "alt" => &mut key.alt,
                "S" | "s" | "Shift" | "shift" => &mut key.shift,
                _ => return Err(unknown()),
            };
            if std::mem::replace(held, true) {
                return Err(unknown());
            }
            rest = after;
        }
        key.base = base(rest).ok_or_else(unknown)?;
        if key.can_be_sent() { Ok(key) } else { Err(unknown()) }
    }
}

impl Key {
    /// What a terminal sends for it.
    #[must_use]
    pub fn bytes(self, modes: TerminalModes) -> Vec<u8> {
        let held = 1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.control);
        let plain = |bytes: &str| {
            let escape = if self.alt { "\x1b" } else { "" };
            format!("{escape}{bytes}").into_bytes()
        };
        match self.base {
            KeyBase::Character(character) if self.control => {
                plain(control(character).unwrap_or(character).encode_utf8(&mut [0; 4]))
            }
            KeyBase::Character(character) => plain(character.encode_utf8(&mut [0; 4])),
            KeyBase::Enter => plain("\r"),
            KeyBase::Tab if self.shift => plain("\x1b[Z"),
            KeyBase::Tab => plain("\t"),
            KeyBase::Backspace => plain(if self.control { "\x08" } else { "\x7f" }),
            KeyBase::Escape => plain("\x1b"),
            KeyBase::Letter(letter) | KeyBase::Function(letter) if held > 1 => {
                format!("\x1b[1;{held}{}", char::from(letter)).into_bytes()
            }
            KeyBase::Letter(letter) if modes.application_cursor => vec![0x1b, b'O', letter],
            KeyBase::Letter(letter) => vec![0x1b, b'[', letter],
            KeyBase::Function(letter) => vec![0x1b, b'O', letter],
            KeyBase::Number(number) if held > 1 => format!("\x1b[{number};{held}~").into_bytes(),
            KeyBase::Number(number) => format!("\x1b[{number}~").into_bytes(),
        }
    }

    fn can_be_sent(self) -> bool {
        match self.base {
            // A character with Shift is another character.
            KeyBase::Character(character) => !self.shift && (!self.control || control(character).is_some()),
            KeyBase::Tab => !self.control,
            KeyBase::Enter | KeyBase::Escape => !self.control && !self.shift,
            KeyBase::Backspace => !self.shift,
            KeyBase::Letter(_) | KeyBase::Number(_) | KeyBase::Function(_) => true,
        }
    }
}

fn base(name: &str) -> Option<KeyBase> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        return (!character.is_control()).then_some(KeyBase::Character(character));
    }
    let base = match &*name.to_ascii_lowercase() {
        "enter" | "return" => KeyBase::Enter,
        "tab" => KeyBase::Tab,
        "backspace" => KeyBase::Backspace,
        "escape" | "esc" => KeyBase::Escape,
        "space" => KeyBase::Character(' '),
        "up" => KeyBase::Letter(b'A'),
        "down" => KeyBase::Letter(b'B'),
        "right" => KeyBase::Letter(b'C'),
        "left" => KeyBase::Letter(b'D'),
        "end" => KeyBase::Letter(b'F'),
        "home" => KeyBase::Letter(b'H'),
        "insert" => KeyBase::Number(2),
        "delete" => KeyBase::Number(3),
        "pageup" => KeyBase::Number(5),
        "pagedown" => KeyBase::Number(6),
        "f1" => KeyBase::Function(b'P'),
        "f2" => KeyBase::Function(b'Q'),
        "f3" => KeyBase::Function(b'R'),
        "f4" => KeyBase::Function(b'S'),
        "f5" => KeyBase::Number(15),
        "f6" => KeyBase::Number(17),
        "f7" => KeyBase::Number(18),
        "f8" => KeyBase::Number(19),
        "f9" => KeyBase::Number(20),
        "f10" => KeyBase::Number(21),
        "f11" => KeyBase::Number(23),
        "f12" => KeyBase::Number(24),
        _ => return None,
    };
    Some(base)
}

/// The control character of a key.
fn control(character: char) -> Option<char> {
    match character {
        'a'..='z' | '@'..='_' => Some(char::from(character.to_ascii_uppercase() as u8 & 0x1f)),
        ' ' => Some('\0'),
        '?' => Some('\u{7f}'),
        _ => None,
    }
}

/// Text as it is pasted: a program that asked for it is told where it begins
/// and ends, so that it takes newlines for text. Newlines are what Enter sends.
pub(crate) fn paste(text: &str, modes: TerminalModes) -> Vec<u8> {
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    if modes.bracketed_paste && text.contains('\r') {
        format!("\x1b[200~{text}\x1b[201~").into_bytes()
    } else {
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(name: &str, modes: TerminalModes) -> String {
        String::from_utf8(name.parse::<Key>().expect("a key").bytes(modes)).expect("text")
    }

    #[test]
    fn keys_send_what_terminals_send() {
        let all = [
            ("C-c", "\x03"),
            ("C-d", "\x04"),
            ("C-z", "\x1a"),
            ("C-C", "\x03"),
            ("C-@", "\0"),
            ("C-Space", "\0"),
            ("C-[", "\x1b"),
            ("C-_", "\x1f"),
            ("C-?", "\x7f"),
            ("M-x", "\x1bx"),
            ("C-M-a", "\x1b\x01"),
            ("q", "q"),
            ("-", "-"),
            ("é", "é"),
            ("Enter", "\r"),
            ("enter", "\r"),
            ("M-Enter", "\x1b\r"),
            ("Tab", "\t"),
            ("S-Tab", "\x1b[Z"),
            ("Backspace", "\x7f"),
            ("C-Backspace", "\x08"),
            ("Escape", "\x1b"),
            ("Space", " "),
            ("Up", "\x1b[A"),
            ("Left", "\x1b[D"),
            ("C-Left", "\x1b[1;5D"),
            ("S-Up", "\x1b[1;2A"),
            ("Home", "\x1b[H"),
            ("End", "\x1b[F"),
            ("PageUp", "\x1b[5~"),
            ("PageDown", "\x1b[6~"),
            ("Insert", "\x1b[2~"),
            ("Delete", "\x1b[3~"),
            ("M-Delete", "\x1b[3;3~"),
            ("F1", "\x1bOP"),
            ("F4", "\x1bOS"),
            ("C-F1", "\x1b[1;5P"),
            ("F5", "\x1b[15~"),
            ("F12", "\x1b[24~"),
        ];
        for (name, bytes) in all {
            assert_eq!(sent(name, TerminalModes::default()), bytes, "{name}");
        }
    }

    #[test]
    fn arrows_follow_the_mode_that_the_program_asked_for() {
        let modes = TerminalModes { application_cursor: true, ..TerminalModes::default() };
        assert_eq!((&*sent("Up", modes), &*sent("Home", modes)), ("\x1bOA", "\x1bOH"));
        assert_eq!((&*sent("C-Up", modes), &*sent("PageUp", modes)), ("\x1b[1;5A", "\x1b[5~"));
    }

    #[test]
    fn what_is_no_key_is_an_error_that_lists_the_keys() {
        for name in ["", "F13", "C-", "C-é", "C-Enter", "S-a", "X-a", "C-C-a", "Ctrl+C", "\x03", "up up", "C--"] {
            let error = name.parse::<Key>().expect_err(name).to_string();
            assert!(error.contains("C-c") && error.contains("PageDown") && error.contains("F1 to F12"), "{error}");
        }
    }

    #[test]
    fn a_paste_is_marked_where_the_program_asked_for_it_and_lines_matter() {
        let asked = TerminalModes { bracketed_paste: true, ..TerminalModes::default() };
        assert_eq!(paste("a\nb\r\nc", asked), b"\x1b[200~a\rb\rc\x1b[201~");
        assert_eq!(paste("a", asked), b"a");
        assert_eq!(paste("a\nb", TerminalModes::default()), b"a\rb");
    }
}
