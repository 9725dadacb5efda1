//! What control sequences mean for everything but the screen: plain text, marks
//! of shells, questions to the terminal, and modes that change what is typed.
//!
//! Reads what the limiter has passed on. Never knows an answer.

use vte::{Params, Perform};

use super::{
    ShellMark,
    plain::{PlainPart, part},
};
use crate::{TerminalQuery, ascii::prefix_without_controls};

/// What a program said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedEvent {
    /// A shell marked its output.
    Mark(ShellMark),
    /// It waits for an answer.
    Query(TerminalQuery),
}

/// What a program has asked of its terminal, as far as that changes what keys
/// send or what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalModes {
    /// Arrow keys send SS3 instead of CSI.
    pub application_cursor: bool,
    /// What is pasted comes between marks.
    pub bracketed_paste: bool,
    /// The alternate screen is shown, as full-screen programs want.
    pub alternate_screen: bool,
    /// The cursor is shown.
    pub cursor_visible: bool,
}

impl Default for TerminalModes {
    fn default() -> Self {
        Self { application_cursor: false, bracketed_paste: false, alternate_screen: false, cursor_visible: true }
    }
}

impl TerminalModes {
    /// Whether a private mode is set; nothing of one that is not known here.
    #[must_use]
    pub fn get(self, mode: u16) -> Option<bool> {
        match mode {
            1 => Some(self.application_cursor),
            25 => Some(self.cursor_visible),
            47 | 1047 | 1049 => Some(self.alternate_screen),
            2004 => Some(self.bracketed_paste),
            _ => None,
        }
    }

    fn set(&mut self, mode: u16, to: bool) {
        match mode {
            1 => self.application_cursor = to,
            25 => self.cursor_visible = to,
            47 | 1047 | 1049 => self.alternate_screen = to,
            2004 => self.bracketed_paste = to,
            _ => {}
        }
    }
}

/// A question in a device control string, by its introducer.
#[derive(Debug, Clone, Copy)]
enum DeviceControl {
    Setting,
    Capability,
}

/// Reads control sequences, and keeps the modes that they set.
#[derive(Debug, Default)]
pub(super) struct SequenceReader {
    text: String,
    /// Something was printed since the last newline.
    in_line: bool,
    /// A carriage return that counts only if no newline follows.
    returned: bool,
    modes: TerminalModes,
    request: Option<DeviceControl>,
    event: Option<ParsedEvent>,
    /// The parser is known to be inside of a sequence, or was not seen to leave
    /// one.
    in_sequence: bool,
    /// A sequence has ended.
    sequence_ended: bool,
}

impl SequenceReader {
    /// Whether text may be taken without the parser. Where it may not, the
    /// parser gets what comes next.
    pub(super) fn is_in_ground(&mut self) -> bool {
        if std::mem::take(&mut self.sequence_ended) {
            self.in_sequence = false;
        }
        !self.in_sequence
    }

    /// The parser gets a sequence.
    pub(super) fn enter_sequence(&mut self) {
        self.in_sequence = true;
    }

    pub(super) fn has_event(&self) -> bool {
        self.event.is_some()
    }

    /// Takes what is plain at the start, and says how far that is.
    pub(super) fn plain_parts(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(part) = part(&bytes[at..]) {
            match part {
                PlainPart::Text(text) => self.run(text),
                PlainPart::Control(control) => self.execute(control),
                PlainPart::Sequence(_) => {}
            }
            at += part.bytes();
        }
        at
    }

    /// Takes text up to the first ESC, and says how far that is.
    pub(super) fn plain(&mut self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let (mut start, mut at) = (0, 0);
        loop {
            at += prefix_without_controls(&bytes[at..]);
            self.run(&text[start..at]);
            match bytes.get(at) {
                None | Some(0x1b) => return at,
                Some(&control) => self.execute(control),
            }
            at += 1;
            start = at;
        }
    }

    fn run(&mut self, printed: &str) {
        if printed.is_empty() {
            return;
        }
        if self.returned {
            self.text.push('\r');
            self.returned = false;
        }
        self.in_line = true;
        self.text.push_str(printed);
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn clear_text(&mut self) {
        self.text.clear();
    }

    pub(super) fn modes(&self) -> TerminalModes {
        self.modes
    }

    pub(super) fn take_event(&mut self) -> Option<ParsedEvent> {
        self.event.take()
    }

    fn ask(&mut self, query: TerminalQuery) {
        self.event = Some(ParsedEvent::Query(query));
    }
}

impl Perform for SequenceReader {
    fn print(&mut self, character: char) {
        self.run(character.encode_utf8(&mut [0; 4]));
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                (self.returned, self.in_line) = (false, false);
                self.text.push('\n');
            }
            b'\t' => self.print('\t'),
            b'\r' => self.returned = self.in_line,
            // Given up.
            0x18 | 0x1a => self.sequence_ended = true,
            _ => {}
        }
    }

    fn hook(&mut self, _: &Params, intermediates: &[u8], _: bool, action: char) {
        self.request = match (intermediates, action) {
            ([b'$'], 'q') => Some(DeviceControl::Setting),
            ([b'+'], 'q') => Some(DeviceControl::Capability),
            _ => None,
        };
    }

    fn unhook(&mut self) {
        match self.request.take() {
            Some(DeviceControl::Setting) => self.ask(TerminalQuery::Setting),
            Some(DeviceControl::Capability) => self.ask(TerminalQuery::Capability),
            None => {}
        }
    }

    fn osc_dispatch(&mut self, parts: &[&[u8]], bell: bool) {
        if let Some(mark) = ShellMark::read(parts) {
            self.event = Some(ParsedEvent::Mark(mark));
        } else if let [number @ (b"10" | b"11" | b"12"), b"?"] = parts {
            let number = number[1] - b'0' + 10;
            self.ask(TerminalQuery::Colour { number, bell });
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignored: bool, action: char) {
        self.sequence_ended = true;
        if ignored {
            return;
        }
        let numbers = params.iter().map(|part| part.first().copied().unwrap_or_default());
        let first = params.iter().next().and_then(|part| part.first().copied()).unwrap_or_default();
        match (intermediates, action, first) {
            ([b'?'], 'h' | 'l', _) => numbers.for_each(|mode| self.modes.set(mode, action == 'h')),
            ([b'!'], 'p', _) => {
                self.modes = TerminalModes { alternate_screen: self.modes.alternate_screen, ..TerminalModes::default() }
            }
            ([], 'c', 0) => self.ask(TerminalQuery::PrimaryAttributes),
            ([b'>'], 'c', 0) => self.ask(TerminalQuery::SecondaryAttributes),
            ([b'='], 'c', 0) => self.ask(TerminalQuery::TertiaryAttributes),
            ([], 'n', 5) => self.ask(TerminalQuery::Status),
            ([], 'n', 6) => self.ask(TerminalQuery::Cursor { extended: false }),
            ([b'?'], 'n', 6) => self.ask(TerminalQuery::Cursor { extended: true }),
            ([b'?', b'$'], 'p', mode) => self.ask(TerminalQuery::PrivateMode(mode)),
            ([b'$'], 'p', mode) => self.ask(TerminalQuery::Mode(mode)),
            ([b'>'], 'q', 0) => self.ask(TerminalQuery::Version),
            ([b'?'], 'u', _) => self.ask(TerminalQuery::Keyboard),
            ([], 't', 18) => self.ask(TerminalQuery::Size),
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        self.sequence_ended = true;
        match (intermediates, byte) {
            ([], b'Z') => self.ask(TerminalQuery::PrimaryAttributes),
            ([], b'c') => self.modes = TerminalModes::default(),
            // These go to the next line.
            ([], b'D' | b'E') => self.execute(b'\n'),
            _ => {}
        }
    }

    /// The parser stops where something is to be handed out, and where text may
    /// follow.
    fn terminated(&self) -> bool {
        self.sequence_ended || self.event.is_some()
    }
}
