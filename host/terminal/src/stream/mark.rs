//! The marks with which a shell says what its output is: OSC 133.
//!
//! Owns how they are written. Never decides whether to believe one: the
//! detector compares nonces.

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellMarkKind {
    /// A: the prompt begins.
    PromptStart,
    /// B: the prompt has ended, and what is typed begins.
    InputStart,
    /// C: a command was accepted, and its output begins.
    OutputStart,
    /// D: the command has ended.
    CommandEnd,
}

/// A mark in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellMark {
    /// What it says.
    pub kind: ShellMarkKind,
    /// The code with which the command ended, where D says it.
    pub exit_code: Option<i32>,
    /// What else it says, in order; a word without `=` has an empty value.
    pub parameters: Vec<(String, String)>,
}

impl ShellMark {
    /// Reads the parts of an OSC, its number included.
    pub(super) fn read(parts: &[&[u8]]) -> Option<Self> {
        let [b"133", kind, parameters @ ..] = parts else { return None };
        let kind = match *kind {
            b"A" => ShellMarkKind::PromptStart,
            b"B" => ShellMarkKind::InputStart,
            b"C" => ShellMarkKind::OutputStart,
            b"D" => ShellMarkKind::CommandEnd,
            _ => return None,
        };
        let mut texts = parameters.iter().map(|part| String::from_utf8_lossy(part).into_owned()).peekable();
        let exit_code = match texts.peek() {
            Some(first) if kind == ShellMarkKind::CommandEnd && !first.contains('=') => {
                texts.next().and_then(|code| code.parse().ok())
            }
            _ => None,
        };
        let parameters = texts.map(|text| match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (text, String::new()),
        });
        Some(Self { kind, exit_code, parameters: parameters.collect() })
    }

    /// The value of the first parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
