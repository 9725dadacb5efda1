//! What a session has shown since its turn looked last, as the detector is told
//! it.
//!
//! Owns that a flood costs little. Never judges it.

use crate::{
    PlacedMark,
    shared_terminal::{ProgramOutput, SharedTerminal},
};

/// Of what came at once so many bytes are read at its beginning and at its end:
/// enough to find an echo, and a flood costs no more.
const READ_BYTES: usize = 8 << 10;

/// What came since the last look, in order.
#[derive(Debug)]
pub(super) struct FreshOutput {
    pub(super) parts: Vec<OutputPart>,
    /// A program that owns the whole screen drew it.
    pub(super) drawn: bool,
    /// Up to where this is.
    pub(super) text_end: u64,
    pub(super) raw_end: u64,
}

/// A part of what came.
#[derive(Debug)]
pub(super) enum OutputPart {
    /// It may be empty, where nothing but the cursor moved.
    Text(String),
    Mark(PlacedMark),
}

impl FreshOutput {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// What came behind these cursors, and from this mark on.
pub(super) fn fresh_output(terminal: &SharedTerminal, text_from: u64, raw_from: u64, marks_from: u64) -> FreshOutput {
    let output = terminal.output();
    let (text_end, raw_end) = (output.text.end(), output.raw.end());
    let mut fresh = FreshOutput { parts: Vec::new(), drawn: output.modes().alternate_screen, text_end, raw_end };
    if raw_end == raw_from {
        return fresh;
    }
    let mut from = text_from;
    for placed in output.marks_from(marks_from) {
        fresh.parts.extend(text(&output, from, placed.text_at));
        from = placed.text_at.max(from);
        fresh.parts.push(OutputPart::Mark(placed));
    }
    fresh.parts.extend(text(&output, from, text_end));
    if fresh.parts.is_empty() {
        fresh.parts.push(OutputPart::Text(String::new()));
    }
    fresh
}

fn text(output: &ProgramOutput, from: u64, to: u64) -> Option<OutputPart> {
    let bytes = usize::try_from(to.checked_sub(from)?).unwrap_or(usize::MAX);
    let mut text = output.text.text(from, bytes.min(READ_BYTES)).content;
    if let Some(rest) = bytes.checked_sub(READ_BYTES) {
        let rest = rest.min(READ_BYTES);
        text += &output.text.text(to - rest as u64, rest).content;
    }
    (!text.is_empty()).then_some(OutputPart::Text(text))
}
