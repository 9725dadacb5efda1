//! Which texts may be typed. Keys are another matter: see `keys`.
//!
//! Owns what a terminal does with a line. Never knows which program reads it.

/// Characters of one text, where nothing else is configured.
pub const MAX_INPUT_CHARACTERS: usize = 10_000;

/// Bytes of a line where the terminal collects lines: of a longer one Linux
/// throws the rest away without a word.
pub const MAX_CANONICAL_LINE_BYTES: usize = 4095;

/// A word that is not to be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedWord {
    /// A whole line, blanks around it not counted.
    pub word: String,
    /// Why, and what to do instead; for people and models.
    pub reason: String,
}

/// What is refused beside what always is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRules {
    /// Lines that are refused.
    pub refused: Vec<RefusedWord>,
    /// Characters of one text.
    pub maximum_characters: usize,
}

impl Default for InputRules {
    fn default() -> Self {
        Self { refused: Vec::new(), maximum_characters: MAX_INPUT_CHARACTERS }
    }
}

/// Why a text was not typed; nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// It is too long.
    #[error(
        "the text has {characters} characters, more than {maximum} (limit `input_characters`); send it in parts, or \
         write it to a file and have the program read that"
    )]
    TooLong {
        /// How many it has.
        characters: usize,
        /// How many it may have.
        maximum: usize,
    },
    /// It has a character that is a key.
    #[error("the text has the control character {name} at position {position}; send it as the key {key} instead")]
    Key {
        /// What it is called.
        name: &'static str,
        /// Characters before it.
        position: usize,
        /// The key's name.
        key: &'static str,
    },
    /// It has another control character.
    #[error(
        "the text has the control character U+{code:04X} at position {position}; of control characters only newline and \
         tab are text, and keys are sent by name"
    )]
    Control {
        /// Its number.
        code: u32,
        /// Characters before it.
        position: usize,
    },
    /// The operator does not want it typed.
    #[error("the line {word:?} is refused here: {reason}")]
    Refused {
        /// The line.
        word: String,
        /// In the operator's words.
        reason: String,
    },
    /// A line is longer than the terminal takes.
    #[error(
        "a line has {bytes} bytes, and this terminal collects lines of at most {MAX_CANONICAL_LINE_BYTES}; the rest \
         would be lost without a word: send shorter lines, or write the text to a file and have the program read that"
    )]
    LineTooLong {
        /// How many it has, with what was typed before it.
        bytes: usize,
    },
}

/// How the terminal takes a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputLine {
    /// It collects lines before the program gets them.
    pub(crate) canonical: bool,
    /// Bytes of the line that have been typed already.
    pub(crate) typed_bytes: usize,
}

impl InputRules {
    /// Checks a text.
    pub(crate) fn check(&self, text: &str, line: InputLine) -> Result<(), InputError> {
        let characters = text.chars().count();
        if characters > self.maximum_characters {
            return Err(InputError::TooLong { characters, maximum: self.maximum_characters });
        }
        let mut characters = text.chars().enumerate().peekable();
        while let Some((position, character)) = characters.next() {
            let key = |name, key| Err(InputError::Key { name, position, key });
            match character {
                '\u{3}' => return key("ETX (0x03)", "C-c"),
                '\u{4}' => return key("EOF (0x04)", "C-d"),
                '\u{1a}' => return key("SUB (0x1A)", "C-z"),
                '\u{1b}' => return key("ESC (0x1B)", "Escape"),
                '\n' | '\t' => {}
                // At the end of a line it is a part of that.
                '\r' if characters.peek().is_some_and(|(_, next)| *next == '\n') => {}
                other if other.is_control() => return Err(InputError::Control { code: other.into(), position }),
                _ => {}
            }
        }
        let refused = |line: &str| self.refused.iter().find(|refused| refused.word.trim() == line.trim());
        if let Some(RefusedWord { word, reason }) = text.lines().find_map(refused) {
            return Err(InputError::Refused { word: word.clone(), reason: reason.clone() });
        }
        let lengths = text.split('\n').map(str::len).enumerate();
        let lengths = lengths.map(|(number, bytes)| if number == 0 { bytes + line.typed_bytes } else { bytes });
        match lengths.max() {
            Some(bytes) if line.canonical && bytes > MAX_CANONICAL_LINE_BYTES => Err(InputError::LineTooLong { bytes }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: InputLine = InputLine { canonical: false, typed_bytes: 0 };
    const COLLECTED: InputLine = InputLine { canonical: true, typed_bytes: 0 };

    fn refusal(text: &str) -> String {
        InputRules::default().check(text, RAW).expect_err("a refusal").to_string()
    }

    #[test]
    fn ten_thousand_characters_are_typed_and_one_more_is_not() {
        assert_eq!(InputRules::default().check(&"é".repeat(10_000), RAW), Ok(()));
        assert!(refusal(&"é".repeat(10_001)).starts_with("the text has 10001 characters, more than 10000"));
    }

    #[test]
    fn control_characters_are_refused_with_the_key_to_send_instead() {
        assert!(refusal("ab\u{4}").contains("EOF (0x04) at position 2; send it as the key C-d"));
        assert!(refusal("\u{3}").contains("C-c"));
        assert!(refusal("\u{1a}").contains("C-z"));
        assert!(refusal("\u{1b}[201~").contains("Escape"));
        for other in ["\0", "\u{7}", "\u{8}", "a\rb", "\u{7f}", "\u{9b}"] {
            assert!(refusal(other).contains("only newline and tab are text"), "{other:?}");
        }
        assert_eq!(InputRules::default().check("if a:\n\tb\r\n", RAW), Ok(()));
    }

    #[test]
    fn a_configured_word_is_refused_for_its_reason_and_only_as_a_whole_line() {
        let reason = "close the terminal instead".to_owned();
        let refused = vec![RefusedWord { word: "exit".into(), reason }];
        let rules = InputRules { refused, ..InputRules::default() };
        for text in ["exit", " exit \n", "ls\nexit\nls"] {
            let error = rules.check(text, RAW).expect_err("a refusal");
            assert_eq!(error.to_string(), "the line \"exit\" is refused here: close the terminal instead");
        }
        assert_eq!(rules.check("echo exit", RAW), Ok(()));
    }

    #[test]
    fn a_line_that_the_terminal_would_cut_is_refused() {
        let rules = InputRules::default();
        let (fits, cut) = ("x".repeat(4095), "x".repeat(4096));
        assert_eq!(rules.check(&format!("{fits}\n{fits}"), COLLECTED), Ok(()));
        assert_eq!(rules.check(&format!("a\n{cut}"), COLLECTED), Err(InputError::LineTooLong { bytes: 4096 }));
        assert_eq!(rules.check(&cut, RAW), Ok(()));
        // What was typed before is a part of the line.
        let typed = InputLine { typed_bytes: 1, ..COLLECTED };
        assert_eq!(rules.check(&fits, typed), Err(InputError::LineTooLong { bytes: 4096 }));
        assert_eq!(rules.check(&format!("\n{fits}"), typed), Ok(()));
    }
}
