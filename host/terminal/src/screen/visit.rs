//! What a sketch consists of: what happened to which row.
//!
//! Never knows what is written there.

use unicode_width::UnicodeWidthChar as _;

use super::pen::Pen;

/// Behind the last column: what is erased up to the end of a row.
pub(super) const END: u16 = u16::MAX;

/// The visit before the first one: what was drawn last.
pub(super) const BEFORE: u32 = u32::MAX;

/// What a log begins with.
#[derive(Debug)]
pub(super) struct SketchBase {
    pub(super) columns: u16,
    pub(super) rows: u16,
    /// Behind the last column where the next character wraps.
    pub(super) column: u16,
    pub(super) row: u16,
    /// Lines that are kept above the screen.
    pub(super) scrollback_lines: usize,
    /// Rows in which a character takes two columns.
    pub(super) wide: Vec<bool>,
    pub(super) alternate: bool,
}

/// Something that happened to a row.
#[derive(Debug)]
pub(super) struct RowEntry {
    pub(super) what: RowEvent,
    /// From the first row of the screen at the start, down.
    pub(super) line: u32,
    /// At its start.
    pub(super) pen: Pen,
    pub(super) is_dead: bool,
}

#[derive(Debug)]
pub(super) enum RowEvent {
    /// Something was written.
    Visit(RowVisit),
    /// A row came at the bottom, where the next character of a visit wraps to.
    Scroll { wraps_from: Option<u32> },
    /// The row was erased.
    Clear,
}

#[derive(Debug)]
pub(super) struct RowVisit {
    pub(super) column: u16,
    /// The column behind it.
    pub(super) end: u16,
    /// Its part of the items.
    pub(super) items: (u32, u32),
    /// The visit that its first character wrapped from.
    pub(super) wraps_from: Option<u32>,
    /// The next visit's first character wrapped from here.
    pub(super) wraps_on: bool,
    /// Columns that may have changed.
    pub(super) touched: (u16, u16),
    /// Columns of which nothing of before is left.
    pub(super) covered: (u16, u16),
}

/// As the emulator counts.
pub(super) fn columns_of(character: char) -> u16 {
    match character {
        ..='~' => 1,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => 2,
        _ if character.width() == Some(2) => 2,
        _ => 1,
    }
}
