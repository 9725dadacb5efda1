//! Keys by name, and the bytes that a terminal sends for them.
//!
//! Knows the modes that change those bytes, not which program has set them.

use std::str::FromStr;

use crate::Modes;

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
    base: Base,
    control: bool,
    alt: bool,
    shift: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Character(char),
    Enter,
    Tab,
    Backspace,
    Escape,
    /// Sends CSI or SS3 and this letter.
    Letter(u8),
    /// Sends CSI, this number and `~`.
    Number(u8),
    /// F1 to F4: SS3 and this letter, with other keys as [`Base::Letter`].
    Function(u8),
}

impl FromStr for Key {
    type Err = UnknownKey;

    /// Upper and lower case count in single characters only.
    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey { given: name.chars().take(40).collect() };
        let mut key = Self { base: Base::Enter, control: false, alt: false, shift: false };
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
    pub fn bytes(self, modes: Modes) -> Vec<u8> {
        let held = 1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.control);
        let plain = |bytes: &str| {
            let escape = if self.alt { "\x1b" } else { "" };
            format!("{escape}{bytes}").into_bytes()
        };
        match self.base {
            Base::Character(character) if self.control => {
                plain(control(character).unwrap_or(character).encode_utf8(&mut [0; 4]))
            }
            Base::Character(character) => plain(character.encode_utf8(&mut [0; 4])),
            Base::Enter => plain("\r"),
            Base::Tab if self.shift => plain("\x1b[Z"),
            Base::Tab => plain("\t"),
            Base::Backspace => plain(if self.control { "\x08" } else { "\x7f" }),
            Base::Escape => plain("\x1b"),
            Base::Letter(letter) | Base::Function(letter) if held > 1 => {
                format!("\x1b[1;{held}{}", char::from(letter)).into_bytes()
            }
            Base::Letter(letter) if modes.application_cursor => vec![0x1b, b'O', letter],
            Base::Letter(letter) => vec![0x1b, b'[', letter],
            Base::Function(letter) => vec![0x1b, b'O', letter],
            Base::Number(number) if held > 1 => format!("\x1b[{number};{held}~").into_bytes(),
            Base::Number(number) => format!("\x1b[{number}~").into_bytes(),
        }
    }

    fn can_be_sent(self) -> bool {
        match self.base {
            // A character with Shift is another character.
            Base::Character(character) => !self.shift && (!self.control || control(character).is_some()),
            Base::Tab => !self.control,
            Base::Enter | Base::Escape => !self.control && !self.shift,
            Base::Backspace => !self.shift,
            Base::Letter(_) | Base::Number(_) | Base::Function(_) => true,
        }
    }
}

fn base(name: &str) -> Option<Base> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        return (!character.is_control()).then_some(Base::Character(character));
    }
    let base = match &*name.to_ascii_lowercase() {
        "enter" | "return" => Base::Enter,
        "tab" => Base::Tab,
        "backspace" => Base::Backspace,
        "escape" | "esc" => Base::Escape,
        "space" => Base::Character(' '),
        "up" => Base::Letter(b'A'),
        "down" => Base::Letter(b'B'),
        "right" => Base::Letter(b'C'),
        "left" => Base::Letter(b'D'),
        "end" => Base::Letter(b'F'),
        "home" => Base::Letter(b'H'),
        "insert" => Base::Number(2),
        "delete" => Base::Number(3),
        "pageup" => Base::Number(5),
        "pagedown" => Base::Number(6),
        "f1" => Base::Function(b'P'),
        "f2" => Base::Function(b'Q'),
        "f3" => Base::Function(b'R'),
        "f4" => Base::Function(b'S'),
        "f5" => Base::Number(15),
        "f6" => Base::Number(17),
        "f7" => Base::Number(18),
        "f8" => Base::Number(19),
        "f9" => Base::Number(20),
        "f10" => Base::Number(21),
        "f11" => Base::Number(23),
        "f12" => Base::Number(24),
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
pub(crate) fn paste(text: &str, modes: Modes) -> Vec<u8> {
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

    fn sent(name: &str, modes: Modes) -> String {
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
            assert_eq!(sent(name, Modes::default()), bytes, "{name}");
        }
    }

    #[test]
    fn arrows_follow_the_mode_that_the_program_asked_for() {
        let modes = Modes { application_cursor: true, ..Modes::default() };
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
        let asked = Modes { bracketed_paste: true, ..Modes::default() };
        assert_eq!(paste("a\nb\r\nc", asked), b"\x1b[200~a\rb\rc\x1b[201~");
        assert_eq!(paste("a", asked), b"a");
        assert_eq!(paste("a\nb", Modes::default()), b"a\rb");
    }
}
