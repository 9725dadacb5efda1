//! A screen at one moment, as a person would see it.
//!
//! Never knows how it was drawn.

use unicode_width::UnicodeWidthChar as _;

use crate::TerminalSize;

/// Where the cursor is, from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Columns before it; never behind the last one.
    pub column: u16,
    /// Rows above it.
    pub row: u16,
    /// Whether the program shows it.
    pub visible: bool,
}

/// A screen at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenView {
    /// How large it is.
    pub size: TerminalSize,
    /// As many lines as it has rows, without the blanks at their ends.
    pub lines: Vec<String>,
    /// The cursor.
    pub cursor: Cursor,
    /// The alternate screen is shown, as full-screen programs want.
    pub alternate: bool,
    /// How often the emulator failed and was replaced.
    pub rebuilt: u64,
}

impl ScreenView {
    /// The text of the row with the cursor.
    #[must_use]
    pub fn cursor_line(&self) -> &str {
        self.lines.get(usize::from(self.cursor.row)).map_or("", String::as_str)
    }

    /// The row of the cursor up to it, with the blanks that it stands behind.
    pub(crate) fn text_to_cursor(&self) -> String {
        let column = usize::from(self.cursor.column);
        let (mut text, mut width) = (String::new(), 0);
        for character in self.cursor_line().chars() {
            width += character.width().unwrap_or(0);
            if width > column {
                return text;
            }
            text.push(character);
        }
        text.extend(std::iter::repeat_n(' ', column - width));
        text
    }
}
