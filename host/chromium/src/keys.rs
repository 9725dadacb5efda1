//! Keys as a keyboard of the USA has them: what each is called, where it is, and what
//! it types.
//!
//! Knows nothing of pages.

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// `KeyboardEvent.key`
    pub(crate) key: String,
    /// `KeyboardEvent.code`; empty where no key of the keyboard types it.
    pub(crate) code: &'static str,
    /// `KeyboardEvent.keyCode`
    pub(crate) number: u32,
    /// What it types, if anything.
    pub(crate) text: Option<String>,
    /// On which side it is, or 3 on the number pad.
    pub(crate) location: u32,
    /// Whether Shift is held to type it.
    pub(crate) shifted: bool,
}

/// Keys with names: name, code, number, what they type, location.
const NAMED: [(&str, &str, u32, &str, u32); 46] = [
    ("Enter", "Enter", 13, "\r", 0),
    ("Tab", "Tab", 9, "", 0),
    ("Backspace", "Backspace", 8, "", 0),
    ("Escape", "Escape", 27, "", 0),
    ("Delete", "Delete", 46, "", 0),
    ("Insert", "Insert", 45, "", 0),
    ("Home", "Home", 36, "", 0),
    ("End", "End", 35, "", 0),
    ("PageUp", "PageUp", 33, "", 0),
    ("PageDown", "PageDown", 34, "", 0),
    ("ArrowLeft", "ArrowLeft", 37, "", 0),
    ("ArrowUp", "ArrowUp", 38, "", 0),
    ("ArrowRight", "ArrowRight", 39, "", 0),
    ("ArrowDown", "ArrowDown", 40, "", 0),
    ("Space", "Space", 32, " ", 0),
    ("Shift", "ShiftLeft", 16, "", 1),
    ("Control", "ControlLeft", 17, "", 1),
    ("Alt", "AltLeft", 18, "", 1),
    ("AltGraph", "AltRight", 18, "", 2),
    ("Meta", "MetaLeft", 91, "", 1),
    ("CapsLock", "CapsLock", 20, "", 0),
    ("NumLock", "NumLock", 144, "", 0),
    ("ScrollLock", "ScrollLock", 145, "", 0),
    ("Pause", "Pause", 19, "", 0),
    ("PrintScreen", "PrintScreen", 44, "", 0),
    ("ContextMenu", "ContextMenu", 93, "", 0),
    ("F1", "F1", 112, "", 0),
    ("F2", "F2", 113, "", 0),
    ("F3", "F3", 114, "", 0),
    ("F4", "F4", 115, "", 0),
    ("F5", "F5", 116, "", 0),
    ("F6", "F6", 117, "", 0),
    ("F7", "F7", 118, "", 0),
    ("F8", "F8", 119, "", 0),
    ("F9", "F9", 120, "", 0),
    ("F10", "F10", 121, "", 0),
    ("F11", "F11", 122, "", 0),
    ("F12", "F12", 123, "", 0),
    ("AudioVolumeMute", "AudioVolumeMute", 173, "", 0),
    ("AudioVolumeDown", "AudioVolumeDown", 174, "", 0),
    ("AudioVolumeUp", "AudioVolumeUp", 175, "", 0),
    ("MediaTrackNext", "MediaTrackNext", 176, "", 0),
    ("MediaTrackPrevious", "MediaTrackPrevious", 177, "", 0),
    ("MediaStop", "MediaStop", 178, "", 0),
    ("MediaPlayPause", "MediaPlayPause", 179, "", 0),
    ("Clear", "Clear", 12, "", 0),
];

/// Keys that type something: without Shift, with it, code, number.
const TYPING: [(char, char, &str, u32); 22] = [
    (' ', ' ', "Space", 32),
    ('0', ')', "Digit0", 48),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

const LETTERS: [&str; 26] = [
    "KeyA", "KeyB", "KeyC", "KeyD", "KeyE", "KeyF", "KeyG", "KeyH", "KeyI", "KeyJ", "KeyK", "KeyL", "KeyM", "KeyN",
    "KeyO", "KeyP", "KeyQ", "KeyR", "KeyS", "KeyT", "KeyU", "KeyV", "KeyW", "KeyX", "KeyY", "KeyZ",
];

impl Key {
    /// The key of this name, or the one that types this character; nothing for a
    /// name that no key has.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some((name, code, number, text, location)) = NAMED.iter().find(|(known, ..)| *known == name) {
            let key = if *name == "Space" { " " } else { name };
            return Some(Self {
                key: key.to_owned(),
                code,
                number: *number,
                text: Some((*text).to_owned()).filter(|text| !text.is_empty()),
                location: *location,
                shifted: false,
            });
        }
        let mut characters = name.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else { return None };
        Some(Self::typing(character))
    }

    /// With Shift held, as the keyboard types it then.
    pub(crate) fn with_shift(self) -> Self {
        let mut characters = self.key.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else { return self };
        if character.is_ascii_lowercase() {
            return Self::typing(character.to_ascii_uppercase());
        }
        match TYPING.iter().find(|(plain, ..)| *plain == character) {
            Some((_, shifted, ..)) => Self::typing(*shifted),
            None => self,
        }
    }

    fn typing(character: char) -> Self {
        let (code, number, shifted) = place_of(character);
        // A line break is what Enter types.
        let text = if character == '\n' { "\r".to_owned() } else { character.to_string() };
        let key = if matches!(character, '\n' | '\r') { "Enter".to_owned() } else { character.to_string() };
        Self { key, code, number, text: Some(text), location: 0, shifted }
    }
}

fn place_of(character: char) -> (&'static str, u32, bool) {
    if matches!(character, '\n' | '\r') {
        return ("Enter", 13, false);
    }
    if character.is_ascii_alphabetic() {
        let upper = character.to_ascii_uppercase();
        let code = LETTERS[usize::from(upper as u8 - b'A')];
        return (code, u32::from(upper), character.is_ascii_uppercase());
    }
    let found = TYPING.iter().find(|(plain, shifted, ..)| *plain == character || *shifted == character);
    found.map_or(("", 0, false), |(plain, _, code, number)| (code, *number, *plain != character))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str) -> (String, &'static str, u32, Option<String>, bool) {
        let key = Key::named(name).expect("a key");
        (key.key, key.code, key.number, key.text, key.shifted)
    }

    #[test]
    fn keys_are_where_a_keyboard_has_them() {
        assert_eq!(shown("a"), ("a".into(), "KeyA", 65, Some("a".into()), false));
        assert_eq!(shown("Z"), ("Z".into(), "KeyZ", 90, Some("Z".into()), true));
        assert_eq!(shown("?"), ("?".into(), "Slash", 191, Some("?".into()), true));
        assert_eq!(shown("7"), ("7".into(), "Digit7", 55, Some("7".into()), false));
        assert_eq!(shown("Enter"), ("Enter".into(), "Enter", 13, Some("\r".into()), false));
        assert_eq!(shown("Space"), (" ".into(), "Space", 32, Some(" ".into()), false));
        assert_eq!(shown("ArrowDown"), ("ArrowDown".into(), "ArrowDown", 40, None, false));
        // No key has it; it is typed all the same.
        assert_eq!(shown("한"), ("한".into(), "", 0, Some("한".into()), false));
    }

    #[test]
    fn a_name_that_no_key_has_is_none() {
        for name in ["", "Entre", "ctrl", "ab"] {
            assert_eq!(Key::named(name), None, "{name}");
        }
    }

    #[test]
    fn shift_types_the_other_character() {
        let with_shift = |name: &str| Key::named(name).expect("a key").with_shift().key;
        assert_eq!(["a", "1", "[", "Tab", "é"].map(with_shift), ["A", "!", "{", "Tab", "é"]);
    }
}
