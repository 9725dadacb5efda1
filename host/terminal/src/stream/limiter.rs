//! The first to see what a program prints: bounds it and makes it well-formed.
//!
//! Parsers keep the whole of a control string until its end, and some are led
//! astray by bytes that are no text. So they get neither: strings (OSC, DCS,
//! APC, PM, SOS) are passed on whole or not at all, other sequences are cut at a
//! length, C1 controls become their seven-bit forms, invalid UTF-8 becomes
//! U+FFFD, and a character carries few combining marks.
//!
//! Owns what a control sequence looks like. Never knows what one means.

use unicode_width::UnicodeWidthChar as _;

use super::plain::part;
use crate::ascii::printable_prefix;

/// The longest string that is passed on. Titles, marks and questions are far
/// shorter; pictures and clipboards are for nobody here.
const MAX_STRING_BYTES: usize = 4096;
/// A string that is longer was never meant to end: what follows is text again.
/// Pictures are smaller.
const MAX_SWALLOWED_BYTES: usize = 16 << 20;
/// The longest other sequence.
const MAX_SEQUENCE_BYTES: usize = 256;
/// Characters without a width that may follow one with a width.
const MAX_COMBINING: u8 = 16;

const CANCEL: char = '\u{18}';
const SUBSTITUTE: char = '\u{1a}';
const ESCAPE: char = '\u{1b}';
const STRING_TERMINATOR: char = '\u{9c}';

/// What kind of string it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ControlString {
    /// Operating system command; may end with BEL.
    Command,
    /// Device control.
    Control,
    /// Of no interest: application, privacy, start of string.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LimiterState {
    #[default]
    Ground,
    /// Behind an ESC that was not passed on yet.
    Escape,
    /// Behind ESC and an intermediate character.
    Intermediate,
    /// Behind a control sequence introducer.
    Sequence,
    /// Inside of a string.
    String(ControlString),
    /// Behind the ESC that ended a string.
    StringEnd,
}

/// Bounds what is printed. Keeps a string, the start of a character, and nothing
/// else.
#[derive(Debug, Default)]
pub(super) struct OutputLimiter {
    state: LimiterState,
    /// Bytes that may be the start of a character.
    partial: Vec<u8>,
    /// The string so far, as long as it is short enough.
    string: String,
    swallowed: usize,
    sequence_bytes: usize,
    combining: u8,
}

impl OutputLimiter {
    /// Appends to `out` what the bytes are.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut String) {
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            if self.partial.is_empty() {
                let text = valid_prefix(rest);
                if !text.is_empty() {
                    self.text(text, out);
                    rest = &rest[text.len()..];
                    continue;
                }
            }
            self.byte(byte, out);
            rest = &rest[1..];
        }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let plain = match self.state {
                LimiterState::Ground => plain_prefix(rest.as_bytes()),
                LimiterState::String(_) => printable_prefix(rest.as_bytes()),
                _ => 0,
            };
            if plain == 0 {
                self.character(character, out);
                rest = &rest[character.len_utf8()..];
                continue;
            }
            let (run, after) = rest.split_at(plain);
            if self.state == LimiterState::Ground {
                self.combining = 0;
                out.push_str(run);
            } else {
                self.keep(run);
            }
            rest = after;
        }
    }

    fn byte(&mut self, byte: u8, out: &mut String) {
        if self.partial.is_empty() && byte.is_ascii() {
            return self.character(byte.into(), out);
        }
        self.partial.push(byte);
        while !self.partial.is_empty() {
            let (character, length) = match str::from_utf8(&self.partial) {
                Ok(text) => (text.chars().next(), text.chars().next().map_or(1, char::len_utf8)),
                Err(error) => match (error.valid_up_to(), error.error_len()) {
                    (0, None) => return,
                    (0, Some(length)) => (stray(&self.partial[..length]), length),
                    (valid, _) => {
                        let text = str::from_utf8(&self.partial[..valid]).unwrap_or_default();
                        (text.chars().next(), text.chars().next().map_or(1, char::len_utf8))
                    }
                },
            };
            self.partial.drain(..length);
            if let Some(character) = character {
                self.character(character, out);
            }
        }
    }

    fn character(&mut self, character: char, out: &mut String) {
        if matches!(character, '\u{80}'..='\u{9f}') {
            return self.eight_bit(character, out);
        }
        match self.state {
            LimiterState::Ground => self.ground(character, out),
            LimiterState::Escape => self.escape(character, out),
            LimiterState::Intermediate => match character {
                ESCAPE | CANCEL | SUBSTITUTE => self.cancel(character, out),
                '0'..='~' => self.end_sequence(character, out),
                _ => self.go_on(character, out),
            },
            LimiterState::Sequence => match character {
                ESCAPE | CANCEL | SUBSTITUTE => self.cancel(character, out),
                '@'..='~' => self.end_sequence(character, out),
                _ => self.go_on(character, out),
            },
            LimiterState::String(kind) => self.string(kind, character, out),
            LimiterState::StringEnd => {
                self.state = LimiterState::Escape;
                // Alone it means nothing, so it may follow by itself.
                if character != '\\' {
                    self.escape(character, out);
                } else {
                    self.state = LimiterState::Ground;
                }
            }
        }
    }

    /// A C1 control is ESC and another character.
    fn eight_bit(&mut self, control: char, out: &mut String) {
        if let LimiterState::String(kind) = self.state {
            if control == STRING_TERMINATOR {
                self.finish(kind, "\x1b\\", out);
                self.state = LimiterState::Ground;
            }
            return;
        }
        let seven_bit = match control {
            '\u{84}' => 'D',
            '\u{85}' => 'E',
            '\u{88}' => 'H',
            '\u{8d}' => 'M',
            '\u{90}' => 'P',
            '\u{98}' => 'X',
            '\u{9b}' => '[',
            '\u{9d}' => ']',
            '\u{9e}' => '^',
            '\u{9f}' => '_',
            // Without a meaning, or none that concerns a screen.
            _ => return,
        };
        self.character(ESCAPE, out);
        self.character(seven_bit, out);
    }

    fn ground(&mut self, character: char, out: &mut String) {
        match character {
            ESCAPE => self.state = LimiterState::Escape,
            '\0' | CANCEL | SUBSTITUTE | '\u{7f}' => {}
            _ => {
                let combines = !character.is_ascii() && character.width() == Some(0);
                self.combining = if combines { self.combining.saturating_add(1) } else { 0 };
                if self.combining <= MAX_COMBINING {
                    out.push(character);
                }
            }
        }
    }

    fn escape(&mut self, character: char, out: &mut String) {
        self.state = match character {
            CANCEL | SUBSTITUTE | '\\' => LimiterState::Ground,
            // Controls are carried out where they stand; what is no part of a
            // sequence is nothing.
            '\u{1}'..'\u{18}' => {
                out.push(character);
                LimiterState::Escape
            }
            ']' => self.begin(ControlString::Command),
            'P' => self.begin(ControlString::Control),
            'X' | '^' | '_' => self.begin(ControlString::Other),
            '[' | ' '..='/' => {
                out.extend([ESCAPE, character]);
                self.sequence_bytes = 0;
                if character == '[' { LimiterState::Sequence } else { LimiterState::Intermediate }
            }
            '0'..='~' => {
                out.extend([ESCAPE, character]);
                LimiterState::Ground
            }
            _ => LimiterState::Escape,
        };
    }

    fn end_sequence(&mut self, last: char, out: &mut String) {
        out.push(last);
        self.state = LimiterState::Ground;
    }

    fn go_on(&mut self, character: char, out: &mut String) {
        if !character.is_ascii() || matches!(character, '\0' | '\u{7f}') {
            return;
        }
        out.push(character);
        self.sequence_bytes += 1;
        if self.sequence_bytes > MAX_SEQUENCE_BYTES {
            self.cancel(CANCEL, out);
        }
    }

    /// Gives up a sequence of which the start was passed on.
    fn cancel(&mut self, why: char, out: &mut String) {
        out.push(CANCEL);
        self.state = if why == ESCAPE { LimiterState::Escape } else { LimiterState::Ground };
    }

    fn begin(&mut self, kind: ControlString) -> LimiterState {
        self.string.clear();
        self.swallowed = 0;
        LimiterState::String(kind)
    }

    fn string(&mut self, kind: ControlString, character: char, out: &mut String) {
        match character {
            CANCEL | SUBSTITUTE => self.state = LimiterState::Ground,
            '\u{7}' if kind == ControlString::Command => {
                self.finish(kind, "\x07", out);
                self.state = LimiterState::Ground;
            }
            ESCAPE => {
                self.finish(kind, "\x1b\\", out);
                self.state = LimiterState::StringEnd;
            }
            '\0'..' ' | '\u{7f}' => self.swallow(1),
            _ => self.keep(character.encode_utf8(&mut [0; 4])),
        }
    }

    /// Keeps a part of a string, as long as it may be passed on.
    fn keep(&mut self, part: &str) {
        if self.swallowed + part.len() <= MAX_STRING_BYTES && self.state != LimiterState::String(ControlString::Other) {
            self.string.push_str(part);
        }
        self.swallow(part.len());
    }

    fn swallow(&mut self, bytes: usize) {
        self.swallowed += bytes;
        if self.swallowed > MAX_SWALLOWED_BYTES {
            self.string = String::new();
            self.state = LimiterState::Ground;
        }
    }

    fn finish(&mut self, kind: ControlString, end: &str, out: &mut String) {
        let introducer = match kind {
            ControlString::Command => "\x1b]",
            // Some parsers take a byte inside of a character for the end.
            ControlString::Control if self.string.is_ascii() => "\x1bP",
            ControlString::Control | ControlString::Other => return,
        };
        if self.swallowed <= MAX_STRING_BYTES {
            out.push_str(introducer);
            out.push_str(&self.string);
            out.push_str(end);
        }
    }

    /// Whether what is plain may be passed on without being looked at here.
    pub(super) fn is_in_ground(&self) -> bool {
        self.state == LimiterState::Ground && self.partial.is_empty()
    }

    /// Something plain was passed on so.
    pub(super) fn has_passed(&mut self) {
        self.combining = 0;
    }

    /// Bytes that are kept for later.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        self.partial.capacity() + self.string.capacity()
    }
}

/// How many bytes at the start may be passed on as they are.
fn plain_prefix(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(part) = part(&text[at..]) {
        at += part.bytes();
    }
    at
}

fn valid_prefix(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// What invalid bytes are taken for.
fn stray(bytes: &[u8]) -> Option<char> {
    match bytes {
        [byte @ 0x80..=0x9f] => char::from_u32(u32::from(*byte)),
        _ => Some(char::REPLACEMENT_CHARACTER),
    }
}
