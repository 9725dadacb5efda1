//! What is still to be drawn, as the emulator would be told it: runs of text
//! and operations, in order.
//!
//! Owns how far it may grow. Never knows what comes out of it.

use avt::{
    Parser,
    parser::{EdScope, ElScope, Function, State},
};

use crate::ascii::printable_prefix;

/// Drawing so much takes some milliseconds. Fuzzing is to reach the limit.
const MAX_TEXT_BYTES: usize = if cfg!(fuzzing) { 1 << 9 } else { 64 << 10 };
const MAX_STEPS: usize = if cfg!(fuzzing) { 1 << 7 } else { 16 << 10 };
const MAX_FUNCTIONS: usize = if cfg!(fuzzing) { 1 << 5 } else { 4 << 10 };

/// The longest sequence that is looked up before it is parsed.
const MAX_KNOWN_BYTES: usize = 16;
/// Sequences that are known at a time; those of one program are few.
const KNOWN: usize = 512;

/// A part of what is to be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DrawStep {
    /// Printable ASCII, by where it is in the text.
    Ascii { start: u32, end: u32 },
    /// Printable characters, of which some are not ASCII.
    Characters { start: u32, end: u32 },
    /// To the first column.
    Return,
    /// To the next row.
    Feed,
    /// Erases the rest of the row.
    Erase,
    /// Another one, by its number.
    Function(u32),
}

/// What is still to be drawn.
#[derive(Debug, Default)]
pub(super) struct DrawLog {
    text: String,
    steps: Vec<DrawStep>,
    functions: Vec<Function>,
    /// Sequences that were parsed before, and their functions' numbers.
    known: Vec<(u128, u32)>,
}

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum ReadStop {
    /// All is read.
    End,
    /// The log is full.
    Full,
    /// What comes next does more than the log may hold: it is drawn apart.
    Apart(Function),
}

impl DrawLog {
    /// Takes what is read up to a stop, and says how far that was.
    pub(super) fn read(
        &mut self,
        parser: &mut Parser,
        text: &str,
        mut goes_apart: impl FnMut(&Function) -> bool,
    ) -> (usize, ReadStop) {
        let mut at = 0;
        while at < text.len() {
            if self.is_full() {
                return (at, ReadStop::Full);
            }
            let rest = &text[at..];
            if parser.state == State::Ground {
                let room = MAX_TEXT_BYTES - self.text.len();
                let run = printable_prefix(&rest.as_bytes()[..rest.len().min(room)]);
                if run > 0 {
                    self.print_ascii(&rest[..run]);
                    at += run;
                    continue;
                }
                if !rest.as_bytes()[0].is_ascii() {
                    let run = plain_characters(rest, room);
                    if run > 0 {
                        self.print_characters(&rest[..run]);
                        at += run;
                        continue;
                    }
                } else if let Some(bytes) = short_sequence(rest.as_bytes()) {
                    at += bytes;
                    match self.sequence(parser, rest.as_bytes(), bytes, &mut goes_apart) {
                        Some(function) => return (at, ReadStop::Apart(function)),
                        None => continue,
                    }
                }
            }
            let Some(character) = rest.chars().next() else { break };
            at += character.len_utf8();
            let Some(function) = parser.feed(character) else { continue };
            if let Some(function) = self.take(function, &mut goes_apart) {
                return (at, ReadStop::Apart(function));
            }
        }
        (at, ReadStop::End)
    }

    /// Takes a function, or gives it back where it goes apart.
    fn take(&mut self, function: Function, goes_apart: &mut impl FnMut(&Function) -> bool) -> Option<Function> {
        match function {
            Function::Print(character) => self.print_characters(character.encode_utf8(&mut [0; 4])),
            Function::Cr => self.steps.push(DrawStep::Return),
            Function::Lf => self.steps.push(DrawStep::Feed),
            Function::El(ElScope::ToRight) => self.steps.push(DrawStep::Erase),
            function if goes_apart(&function) => return Some(function),
            function if does_nothing(&function) => {}
            function => self.push(function),
        }
        None
    }

    /// Takes a whole sequence at the start of a text, parsed or known.
    fn sequence(
        &mut self,
        parser: &mut Parser,
        text: &[u8],
        bytes: usize,
        goes_apart: &mut impl FnMut(&Function) -> bool,
    ) -> Option<Function> {
        if text.starts_with(b"\x1b[K") {
            self.steps.push(DrawStep::Erase);
            return None;
        }
        let (sequence, key) = (&text[..bytes], key(text, bytes));
        let place = place(key);
        if let Some((known, number)) = self.known.get(place)
            && *known == key
        {
            self.steps.push(DrawStep::Function(*number));
            return None;
        }
        let function = sequence.iter().fold(None, |found, byte| found.or(parser.feed((*byte).into())))?;
        let before = self.functions.len();
        let apart = self.take(function, goes_apart);
        if self.functions.len() > before {
            self.known.resize(KNOWN, (0, 0));
            self.known[place] = (key, offset(before));
        }
        apart
    }

    pub(super) fn push(&mut self, function: Function) {
        let number = self.add(function);
        self.steps.push(DrawStep::Function(number));
    }

    /// Keeps a function for steps to come.
    pub(super) fn add(&mut self, function: Function) -> u32 {
        self.functions.push(function);
        offset(self.functions.len() - 1)
    }

    /// How many functions its steps may name.
    pub(super) fn functions_known(&self) -> usize {
        self.functions.len()
    }

    /// A step without a part of its own.
    pub(super) fn push_step(&mut self, step: DrawStep) {
        self.steps.push(step);
    }

    /// Keeps text that steps may show: where it begins and ends.
    fn add_text(&mut self, run: &str) -> (u32, u32) {
        let start = offset(self.text.len());
        self.text.push_str(run);
        (start, offset(self.text.len()))
    }

    pub(super) fn print_ascii(&mut self, run: &str) {
        let (start, end) = self.add_text(run);
        match self.steps.last_mut() {
            Some(DrawStep::Ascii { end: last, .. }) => *last = end,
            _ => self.steps.push(DrawStep::Ascii { start, end }),
        }
    }

    pub(super) fn print_characters(&mut self, run: &str) {
        let (start, end) = self.add_text(run);
        match self.steps.last_mut() {
            Some(DrawStep::Characters { end: last, .. }) => *last = end,
            _ => self.steps.push(DrawStep::Characters { start, end }),
        }
    }

    pub(super) fn steps(&self) -> &[DrawStep] {
        &self.steps
    }

    pub(super) fn text(&self, start: u32, end: u32) -> &str {
        &self.text[start as usize..end as usize]
    }

    pub(super) fn function(&self, number: u32) -> &Function {
        &self.functions[number as usize]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn is_full(&self) -> bool {
        self.text.len() >= MAX_TEXT_BYTES || self.steps.len() >= MAX_STEPS || self.functions.len() >= MAX_FUNCTIONS
    }

    /// Whether there is room for much more.
    pub(super) fn is_half_empty(&self) -> bool {
        self.text.len() <= MAX_TEXT_BYTES / 2
            && self.steps.len() <= MAX_STEPS / 2
            && self.functions.len() <= MAX_FUNCTIONS / 2
    }

    /// All of it, as an emulator takes it.
    pub(super) fn functions(&self) -> impl Iterator<Item = Function> + '_ {
        self.steps.iter().flat_map(|step| {
            let (printed, other) = match *step {
                DrawStep::Ascii { start, end } | DrawStep::Characters { start, end } => (self.text(start, end), None),
                DrawStep::Return => ("", Some(Function::Cr)),
                DrawStep::Feed => ("", Some(Function::Lf)),
                DrawStep::Erase => ("", Some(Function::El(ElScope::ToRight))),
                DrawStep::Function(number) => ("", Some(self.function(number).clone())),
            };
            printed.chars().map(Function::Print).chain(other)
        })
    }

    /// Whether drawing it takes longer than to look what of it is seen.
    pub(super) fn is_long(&self) -> bool {
        self.text.len() > MAX_TEXT_BYTES / 16 || self.steps.len() > MAX_STEPS / 16
    }

    /// Forgets all, and keeps the memory.
    pub(super) fn empty(&mut self) {
        self.text.clear();
        self.steps.clear();
        self.functions.clear();
        self.known.clear();
    }

    /// Forgets all, and gives back what a flood has taken.
    pub(super) fn clear(&mut self) {
        self.empty();
        self.known.shrink_to_fit();
        self.text.shrink_to(MAX_TEXT_BYTES / 16);
        self.steps.shrink_to(MAX_STEPS / 16);
        self.functions.shrink_to(MAX_FUNCTIONS / 16);
    }
}

/// The length of a whole sequence of colours, of a move or an erasure, where it
/// is short.
fn short_sequence(text: &[u8]) -> Option<usize> {
    let [b'\x1b', b'[', parameters @ ..] = text else { return None };
    let short = &parameters[..parameters.len().min(MAX_KNOWN_BYTES - 2)];
    let length = short.iter().position(|byte| !matches!(byte, b'0'..=b';'))?;
    matches!(short[length], b'm' | b'K' | b'J' | b'X' | b'A'..=b'H' | b'd').then_some(length + 3)
}

/// A short sequence at the start of a text as a number.
fn key(text: &[u8], bytes: usize) -> u128 {
    match text.first_chunk::<16>() {
        // In one step, where there is enough behind it.
        Some(chunk) => u128::from_le_bytes(*chunk) & (u128::MAX >> (8 * (16 - bytes))),
        None => text[..bytes].iter().rev().fold(0, |key, byte| key << 8 | u128::from(*byte)),
    }
}

/// Where a sequence is looked for.
fn place(key: u128) -> usize {
    // The halves of it that differ most; any odd number spreads them.
    #[expect(clippy::cast_possible_truncation, reason = "all bits are in it")]
    let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % KNOWN
}

/// How many bytes at the start are characters that are printed, and not ASCII.
fn plain_characters(text: &str, room: usize) -> usize {
    let end = text.bytes().take(room).position(|byte| byte.is_ascii()).unwrap_or(text.len().min(room));
    let run = &text[..text.floor_char_boundary(end)];
    // The first of Latin-1 are controls.
    run.find(|character: char| character < '\u{a0}').unwrap_or(run.len())
}

/// Whether the emulator knows it and does nothing.
fn does_nothing(function: &Function) -> bool {
    match function {
        Function::Osc(_) | Function::Xtwinops(_) | Function::Ed(EdScope::SavedLines) => true,
        Function::Sgr(operations) => operations.as_slice().is_empty(),
        Function::Decset(modes) | Function::Decrst(modes) => modes.as_slice().is_empty(),
        Function::Sm(modes) | Function::Rm(modes) => modes.as_slice().is_empty(),
        _ => false,
    }
}

/// A log is far shorter than this can say.
#[expect(clippy::cast_possible_truncation, reason = "bounded by the limits above")]
fn offset(length: usize) -> u32 {
    length as u32
}
