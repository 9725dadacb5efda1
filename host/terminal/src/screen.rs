//! What a person would see: the grid of characters, the cursor, which of the
//! two screens is shown.
//!
//! The emulator is a library that reads what hostile programs print. Where it
//! panics, a new one takes its place and the session goes on: what was on the
//! screen is lost, what comes next is drawn. Never knows where the text comes from;
//! it is bounded already.

mod emit;
mod flood;
mod log;
mod modes;
mod pen;
mod screen_view;
mod sketch;
mod visit;

use std::panic::{AssertUnwindSafe, catch_unwind};

use avt::{
    Parser, ScreenKind, Terminal,
    parser::{Function, State},
};

use self::{
    log::{DrawLog, ReadStop},
    modes::EmulatorModes,
    sketch::{Sketch, SketchBuffers},
    visit::SketchBase,
};
use crate::{TerminalSize, stream::OpenSequence};

pub use screen_view::{Cursor, ScreenView};

/// So much is read at once. Fuzzing is to reach it.
const MAX_UNREAD_BYTES: usize = if cfg!(fuzzing) { 1 << 9 } else { 64 << 10 };

/// Draws what a program prints.
pub struct Screen {
    terminal: Option<Terminal>,
    parser: Parser,
    size: TerminalSize,
    scrollback_lines: usize,
    alternate: bool,
    rebuilt: u64,
    /// What was not read yet.
    unread: String,
    /// What was not drawn yet.
    pending: DrawLog,
    modes: EmulatorModes,
    /// What finding out what is seen takes, kept while there is a flood.
    paper: SketchBuffers,
    spare: DrawLog,
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
    pub fn new(size: TerminalSize, scrollback_lines: usize) -> Self {
        let terminal = terminal(size, scrollback_lines);
        Self {
            terminal,
            parser: Parser::new(),
            size,
            scrollback_lines,
            alternate: false,
            rebuilt: 0,
            unread: String::new(),
            pending: DrawLog::default(),
            modes: EmulatorModes::default(),
            paper: SketchBuffers::default(),
            spare: DrawLog::default(),
        }
    }

    /// Takes text that a [`crate::OutputParser`] has normalised. It is drawn when
    /// somebody looks, or when there is much of it: of a flood, only what could
    /// still be seen.
    pub fn feed(&mut self, normalised: &str) {
        self.unread.push_str(normalised);
        if self.unread.len() >= MAX_UNREAD_BYTES && !self.skip_lines() {
            self.read();
        }
    }

    /// Forgets lines that those behind them push out of all that is kept.
    /// Whether that made room.
    fn skip_lines(&mut self) -> bool {
        if !self.modes.are_usual() || self.parser.state != State::Ground {
            return false;
        }
        // From any row to the bottom, and all that is seen and kept.
        let kept_rows = 2 * usize::from(self.size.rows()) + self.scrollback_lines + 1;
        match flood::shortened(&self.unread, self.size.columns().into(), kept_rows) {
            Some(kept) if kept.len() < MAX_UNREAD_BYTES / 2 => {
                // What is kept goes over all that was there.
                self.draw_pending();
                self.unread = kept;
                true
            }
            _ => false,
        }
    }

    fn read(&mut self) {
        let mut unread = std::mem::take(&mut self.unread);
        self.read_all(&unread);
        unread.clear();
        unread.shrink_to(MAX_UNREAD_BYTES);
        self.unread = unread;
    }

    fn read_all(&mut self, normalised: &str) {
        let (mut rest, columns) = (normalised, self.size.columns());
        while !rest.is_empty() {
            let (modes, mut pending) = (self.modes, std::mem::take(&mut self.pending));
            let mut read = None;
            self.guard(|_, parser| read = Some(pending.read(parser, rest, |function| modes.goes_apart(function))));
            self.pending = pending;
            // Where the parser panicked, what it was given is lost.
            let Some((bytes, stop)) = read else { return };
            rest = &rest[bytes..];
            match stop {
                ReadStop::End => {}
                ReadStop::Full => {
                    if !self.shorten() {
                        self.draw_pending();
                    }
                }
                ReadStop::Apart(function) => {
                    if self.pending.is_long() {
                        self.shorten();
                    }
                    self.draw_pending();
                    self.modes.note(&function, self.size.rows());
                    // Without a limit five bytes draw as many characters as
                    // thousands do.
                    let function = match function {
                        Function::Rep(count) => Function::Rep(count.min(columns)),
                        other => other,
                    };
                    self.guard(|terminal, _| terminal.execute([function]));
                }
            }
        }
    }

    /// Forgets of what is pending all that what came later has written over or
    /// pushed out of what is kept. Whether that made room.
    fn shorten(&mut self) -> bool {
        let Some(base) = self.base() else { return false };
        let spare = std::mem::take(&mut self.spare);
        let sketch = Sketch::of(&self.pending, base, &mut self.paper);
        let Some(shorter) = sketch.and_then(|sketch| emit::emit(&sketch, spare)) else { return false };
        self.spare = std::mem::replace(&mut self.pending, shorter);
        self.pending.is_half_empty()
    }

    /// What is pending will be drawn on this; nothing where that is not to be
    /// told beforehand.
    fn base(&self) -> Option<SketchBase> {
        let terminal = self.terminal.as_ref().filter(|_| self.modes.are_usual())?;
        let cursor = terminal.cursor();
        let wide = |line: &avt::Line| line.cells().iter().any(|cell| cell.width() > 1);
        Some(SketchBase {
            columns: self.size.columns(),
            rows: self.size.rows(),
            column: u16::try_from(cursor.col).ok()?,
            row: u16::try_from(cursor.row).ok()?,
            scrollback_lines: if self.alternate { 0 } else { self.scrollback_lines },
            wide: terminal.screen().visible_lines().map(wide).collect(),
            alternate: self.alternate,
        })
    }

    fn draw(&mut self) {
        self.read();
        if self.pending.is_long() {
            self.shorten();
        }
        self.draw_pending();
        self.unread.shrink_to(0);
    }

    fn draw_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut pending = std::mem::take(&mut self.pending);
        self.guard(|terminal, _| terminal.execute(pending.functions()));
        pending.clear();
        self.pending = pending;
        (self.paper, self.spare) = (SketchBuffers::default(), DrawLog::default());
    }

    /// Changes the size; lines are wrapped anew.
    pub fn resize(&mut self, size: TerminalSize) {
        self.draw();
        self.size = size;
        self.guard(|terminal, _| terminal.resize(size.columns().into(), size.rows().into()));
    }

    /// How large it is.
    #[must_use]
    pub fn size(&self) -> TerminalSize {
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
    pub fn lines_with_scrollback(&mut self, maximum_lines: usize) -> Vec<String> {
        self.draw();
        let Some(terminal) = &self.terminal else { return Vec::new() };
        let mut lines = terminal.primary_screen().text();
        while lines.pop_if(|line| line.is_empty()).is_some() {}
        lines.drain(..lines.len().saturating_sub(maximum_lines));
        lines
    }

    /// The rows that went off the top of the main screen, at most so many of
    /// the last.
    #[must_use]
    pub fn scrollback_rows(&mut self, maximum_rows: usize) -> Vec<String> {
        self.draw();
        let Some(terminal) = &self.terminal else { return Vec::new() };
        let screen = terminal.primary_screen();
        let above = screen.all_lines().count().saturating_sub(usize::from(self.size.rows()));
        let rows = screen.all_lines().take(above).skip(above.saturating_sub(maximum_rows));
        rows.map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// What draws the same on an emulator of this size that has just begun.
    #[must_use]
    pub fn dump(&mut self) -> String {
        self.draw();
        self.terminal.as_ref().map_or_else(String::new, Terminal::dump)
    }

    /// The sequence that has begun and not ended.
    pub(crate) fn open_sequence(&mut self) -> Option<OpenSequence> {
        self.draw();
        match self.parser.state {
            State::Ground => None,
            State::Escape | State::EscapeIntermediate => Some(OpenSequence::Escape),
            // Strings come whole.
            _ => Some(OpenSequence::Sequence),
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
        (self.pending, self.modes) = (DrawLog::default(), EmulatorModes::default());
        let mut fresh = terminal(self.size, self.scrollback_lines);
        if let Some(fresh) = &mut fresh
            && self.alternate
        {
            // The program will leave it, and expects the other one then.
            fresh.feed("\x1b[?1049h");
        }
        self.terminal = fresh;
    }
}

/// Nothing only where a size is zero, which no [`TerminalSize`] is.
fn terminal(size: TerminalSize, scrollback_lines: usize) -> Option<Terminal> {
    Terminal::with_scrollback(size.columns().into(), size.rows().into(), Some(scrollback_lines)).ok()
}

#[cfg(test)]
mod tests;
