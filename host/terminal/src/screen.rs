//! What a person would see: the grid of characters, the cursor, which of the
//! two screens is shown.
//!
//! The emulator is a library that reads what hostile programs print. Where it
//! panics, a new one takes its place and the session goes on: what was on the
//! screen is lost, what comes next is drawn. Knows nothing of where the text
//! comes from; it is bounded already.

mod flood;

use std::panic::{AssertUnwindSafe, catch_unwind};

use avt::{
    Parser, ScreenKind, Terminal,
    parser::{Function, State},
};

use crate::{Size, view::Inside};

/// What waits to be drawn until somebody looks. Drawing so much takes some
/// milliseconds.
const MAX_PENDING_BYTES: usize = 64 << 10;

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
    pub size: Size,
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
}

/// Draws what a program prints.
pub struct Screen {
    terminal: Option<Terminal>,
    parser: Parser,
    size: Size,
    history_lines: usize,
    alternate: bool,
    rebuilt: u64,
    /// What was not drawn yet.
    pending: String,
    /// A part of the screen scrolls by itself, or may.
    has_region: bool,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Screen")
            .field("size", &self.size)
            .field("rebuilt", &self.rebuilt)
            .finish_non_exhaustive()
    }
}

impl Screen {
    /// An empty screen that keeps so many lines of what went off its top.
    #[must_use]
    pub fn new(size: Size, history_lines: usize) -> Self {
        let terminal = terminal(size, history_lines);
        Self {
            terminal,
            parser: Parser::new(),
            size,
            history_lines,
            alternate: false,
            rebuilt: 0,
            pending: String::new(),
            has_region: false,
        }
    }

    /// Takes text that a [`crate::Stream`] has normalised. It is drawn when
    /// somebody looks, or when there is much of it: of a flood of lines, only
    /// those that could still be seen.
    pub fn feed(&mut self, normalised: &str) {
        self.pending.push_str(normalised);
        if self.pending.len() >= MAX_PENDING_BYTES && !self.skip_lines() {
            self.draw();
        }
    }

    /// Forgets pending lines that those behind them push out of the screen and
    /// of what is kept above it. Whether that made room.
    fn skip_lines(&mut self) -> bool {
        // Elsewhere lines do not go to the top.
        if self.has_region || self.parser.state != State::Ground {
            return false;
        }
        let kept_lines = usize::from(self.size.rows()) + self.history_lines + 1;
        match flood::shortened(&self.pending, kept_lines) {
            Some(kept) if kept.len() < MAX_PENDING_BYTES / 2 => {
                self.pending = kept;
                true
            }
            _ => false,
        }
    }

    fn draw(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut pending = std::mem::take(&mut self.pending);
        self.draw_all(&pending);
        pending.clear();
        self.pending = pending;
    }

    fn draw_all(&mut self, normalised: &str) {
        let (columns, rows) = (self.size.columns(), self.size.rows());
        let mut has_region = self.has_region;
        self.guard(|terminal, parser| {
            let functions = normalised.chars().filter_map(|character| parser.feed(character));
            terminal.execute(functions.map(|function| match function {
                // Without a limit five bytes draw as many characters as
                // thousands do.
                Function::Rep(count) => Function::Rep(count.min(columns)),
                Function::Decstbm(top, bottom) => {
                    has_region = top > 1 || (bottom != 0 && bottom < rows);
                    function
                }
                other => other,
            }));
        });
        self.has_region = has_region;
    }

    /// Changes the size; lines are wrapped anew.
    pub fn resize(&mut self, size: Size) {
        self.draw();
        self.size = size;
        self.guard(|terminal, _| terminal.resize(size.columns().into(), size.rows().into()));
    }

    /// How large it is.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The cursor.
    #[must_use]
    pub fn cursor(&mut self) -> Cursor {
        self.draw();
        let Some(terminal) = &self.terminal else { return Cursor { column: 0, row: 0, visible: true } };
        let cursor = terminal.cursor();
        let within = |at: usize, count: u16| u16::try_from(at).unwrap_or(u16::MAX).min(count - 1);
        Cursor {
            column: within(cursor.col, self.size.columns()),
            row: within(cursor.row, self.size.rows()),
            visible: cursor.visible,
        }
    }

    /// What is seen now.
    #[must_use]
    pub fn view(&mut self) -> ScreenView {
        self.draw();
        let lines = self.terminal.as_ref().map_or_else(Vec::new, |terminal| {
            terminal.screen().visible_lines().map(|line| line.text().trim_end().to_owned()).collect()
        });
        ScreenView { size: self.size, lines, cursor: self.cursor(), alternate: self.alternate, rebuilt: self.rebuilt }
    }

    /// The main screen with what went off its top, each line whole however it
    /// was wrapped, at most so many of the last; without empty ones at the end.
    #[must_use]
    pub fn history(&mut self, maximum_lines: usize) -> Vec<String> {
        self.draw();
        let Some(terminal) = &self.terminal else { return Vec::new() };
        let mut lines = terminal.primary_screen().text();
        while lines.pop_if(|line| line.is_empty()).is_some() {}
        lines.drain(..lines.len().saturating_sub(maximum_lines));
        lines
    }

    /// What draws the same on an emulator of this size that has just begun.
    #[must_use]
    pub fn dump(&mut self) -> String {
        self.draw();
        self.terminal.as_ref().map_or_else(String::new, Terminal::dump)
    }

    /// The sequence that has begun and not ended.
    pub(crate) fn inside(&mut self) -> Option<Inside> {
        self.draw();
        match self.parser.state {
            State::Ground => None,
            State::Escape | State::EscapeIntermediate => Some(Inside::Escape),
            // Strings come whole.
            _ => Some(Inside::Sequence),
        }
    }

    /// Does something with the emulator, which may panic.
    fn guard(&mut self, action: impl FnOnce(&mut Terminal, &mut Parser)) {
        let Some(terminal) = self.terminal.as_mut() else { return };
        let parser = &mut self.parser;
        // Whatever state it is left in, it is not looked at again.
        let done = catch_unwind(AssertUnwindSafe(|| {
            action(terminal, parser);
            terminal.active_screen_kind() == ScreenKind::Alternate
        }));
        match done {
            Ok(alternate) => self.alternate = alternate,
            Err(_) => self.rebuild(),
        }
    }

    fn rebuild(&mut self) {
        tracing::warn!(size = ?self.size, "the emulator of a terminal panicked; it starts again with an empty screen");
        self.rebuilt += 1;
        self.parser = Parser::new();
        self.has_region = false;
        let mut fresh = terminal(self.size, self.history_lines);
        if let Some(fresh) = &mut fresh
            && self.alternate
        {
            // The program will leave it, and expects the other one then.
            fresh.feed("\x1b[?1049h");
        }
        self.terminal = fresh;
    }
}

/// Nothing only where a size is zero, which no [`Size`] is.
fn terminal(size: Size, history_lines: usize) -> Option<Terminal> {
    Terminal::with_scrollback(size.columns().into(), size.rows().into(), Some(history_lines)).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(columns: u16, rows: u16) -> Size {
        Size::new(columns, rows).expect("a size")
    }

    fn screen(text: &str) -> Screen {
        let mut screen = Screen::new(size(10, 3), 100);
        screen.feed(text);
        screen
    }

    #[test]
    fn what_is_written_over_is_not_seen() {
        let view = screen("10 %\r50 %\r\x1b[2Kdone\r\nnext").view();
        assert_eq!(view.lines, ["done", "next", ""]);
        assert_eq!((view.cursor_line(), view.cursor.column, view.cursor.row), ("next", 4, 1));
    }

    #[test]
    fn the_cursor_is_never_behind_the_last_column() {
        assert_eq!(screen("0123456789").cursor().column, 9);
        assert!(!screen("\x1b[?25l").cursor().visible);
    }

    #[test]
    fn the_alternate_screen_is_reported_and_leaves_the_other_as_it_was() {
        let mut screen = screen("shell\x1b[?1049h\x1b[Hvim");
        assert_eq!((screen.view().alternate, &screen.view().lines[0][..]), (true, "vim"));
        screen.feed("\x1b[?1049l");
        assert_eq!((screen.view().alternate, &screen.view().lines[0][..]), (false, "shell"));
    }

    #[test]
    fn a_screen_of_one_column_and_back_goes_on() {
        let mut screen = screen("a wide 界 and long line that wraps");
        screen.resize(size(1, 1));
        screen.feed("界x\r\n");
        screen.resize(size(10, 3));
        screen.feed("\r\nnext");
        assert_eq!((screen.view().cursor_line(), screen.view().rebuilt), ("next", 0));
    }

    #[test]
    fn an_emulator_that_panics_is_replaced_and_the_session_goes_on() {
        let mut screen = screen("shell\x1b[?1049hvim\x1b[");
        screen.draw();
        screen.guard(|_, _| panic!("as emulators do"));
        let view = screen.view();
        assert_eq!((view.rebuilt, view.alternate, view.lines.concat()), (1, true, String::new()));
        // The half of a sequence went with it, and so did the panic.
        screen.feed("\x1b[?1049l31m");
        assert_eq!((screen.view().alternate, screen.view().lines.concat()), (false, "31m".to_owned()));
    }

    #[test]
    fn a_flood_of_lines_is_drawn_as_if_every_line_had_been() {
        let mut flood = String::from("a start that stays in no line \x1b[44m");
        for line in 0..20_000 {
            flood += &format!("\x1b[{}mline {line} {}\x1b[0m\r\n", 31 + line % 7, "x".repeat(line % 40));
        }
        flood += "\x1b[1mlast";
        let mut drawn = Screen::new(size(10, 3), 20);
        let mut skipped = Screen::new(size(10, 3), 20);
        for piece in flood.as_bytes().chunks(1000).map(|piece| str::from_utf8(piece).expect("ASCII")) {
            drawn.feed(piece);
            drawn.draw();
            skipped.feed(piece);
        }
        assert!(skipped.pending.len() < MAX_PENDING_BYTES);
        assert_eq!((skipped.view(), skipped.history(99)), (drawn.view(), drawn.history(99)));
        let mut at_once = Screen::new(size(10, 3), 20);
        at_once.feed(&flood);
        assert_eq!((at_once.view(), at_once.history(99)), (drawn.view(), drawn.history(99)));
        let dump = |screen: &Screen| screen.terminal.as_ref().expect("one").dump();
        assert_eq!(dump(&skipped), dump(&drawn));
    }

    #[test]
    fn lines_that_scroll_in_a_part_of_the_screen_are_all_drawn() {
        let mut screen = Screen::new(size(10, 4), 0);
        screen.feed("head\r\n\x1b[2;3r\x1b[4;1Hlong foot\x1b[4;1H");
        screen.draw();
        // Below the part that scrolls a newline goes nowhere.
        screen.feed(&format!("longer\r\n{}", "ab\r\n".repeat(50_000)));
        assert_eq!(screen.view().lines, ["head", "", "", "abngeroot"]);
    }

    #[test]
    fn what_went_off_the_top_is_kept_up_to_a_number_of_lines() {
        let mut screen = Screen::new(size(10, 3), 5);
        (0..100).for_each(|line| screen.feed(&format!("{line}\r\n")));
        assert_eq!(screen.history(99), ["93", "94", "95", "96", "97", "98", "99"]);
        assert_eq!(screen.history(1), ["99"]);
    }

    #[test]
    fn a_character_repeated_is_no_work_without_a_limit() {
        let mut screen = screen("");
        // Each is 65,535 characters in eight bytes.
        screen.feed(&"x\x1b[65535b".repeat(10_000));
        assert_eq!(screen.view().lines[0], "xxxxxxxxxx");
        let mut screen = Screen::new(size(10, 3), 0);
        screen.feed("x\x1b[65535b");
        assert_eq!(screen.view().lines, ["xxxxxxxxxx", "x", ""]);
    }

    proptest! {
        #[test]
        fn whatever_comes_the_cursor_is_on_the_screen_and_no_emulator_fails(
            steps in prop::collection::vec((sequences(), prop::option::weighted(0.2, (1_u16..30, 1_u16..10))), 0..40),
        ) {
            let mut screen = Screen::new(size(10, 3), 20);
            for (text, resized) in steps {
                screen.feed(&text);
                if let Some((columns, rows)) = resized {
                    screen.resize(size(columns, rows));
                }
                let view = screen.view();
                prop_assert!(view.cursor.column < view.size.columns() && view.cursor.row < view.size.rows());
                prop_assert_eq!(view.lines.len(), usize::from(view.size.rows()));
                prop_assert_eq!(view.rebuilt, 0);
            }
        }
    }

    fn sequences() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z界é ]{0,20}", "[\r\n\t\u{8}]{1,4}", "\x1b\\[[?]?[0-9;]{0,8}[@-~]", "\x1b[#()]?[0-9A-Za-z]"]
    }
}
