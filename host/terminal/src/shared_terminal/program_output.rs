//! What has come from a program so far: as bytes, as text, as a screen and as
//! marks.
//!
//! Owns that all forms are of the same moment. Never knows tasks and descriptors.

use std::collections::VecDeque;

use crate::{
    HistoryLimits, OutputParser, ParsedEvent, PlacedMark, Screen, TerminalSize,
    history::HistoryRing,
    replies::{ReportedState, reply},
    view::Viewers,
};

/// Marks that are kept.
pub const MAX_MARKS: usize = 256;

/// Leaves the alternate screen. Where that is not shown, it would move the
/// cursor.
const LEAVE_ALTERNATE: &str = "\x1b[?1049l";
/// Makes the whole screen scroll, and resets colours, cursor and modes.
const AFRESH: &str = "\x1b[?2004l\x1b[?1l\x1b[!p\x1b[0m\x1b[?25h";

/// How often the size has changed, and before which byte it did the last time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ResizeHistory {
    pub(crate) count: u64,
    pub(crate) last_at: u64,
}

/// All that came, in all its forms.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    stream: OutputParser,
    pub(crate) raw: HistoryRing,
    pub(crate) text: HistoryRing,
    pub(crate) screen: Screen,
    marks: VecDeque<PlacedMark>,
    marks_seen: u64,
    resizes: ResizeHistory,
    pub(crate) viewers: Viewers,
}

impl ProgramOutput {
    pub(crate) fn new(size: TerminalSize, history: HistoryLimits) -> Self {
        Self {
            stream: OutputParser::default(),
            raw: HistoryRing::new(history.raw_bytes),
            text: HistoryRing::new(history.text_bytes),
            screen: Screen::new(size, history.scrollback_lines),
            marks: VecDeque::new(),
            marks_seen: 0,
            resizes: ResizeHistory::default(),
            viewers: Viewers::default(),
        }
    }

    /// Takes what was read, and says what the program is to be told.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.raw.append(bytes);
        let mut replies = Vec::new();
        self.stream.feed(bytes, |piece| {
            self.screen.feed(piece.normalised);
            self.viewers.feed(piece.normalised);
            self.text.append(piece.text.as_bytes());
            match piece.event {
                Some(ParsedEvent::Query(query)) => {
                    let (cursor, size) = (self.screen.cursor(), self.screen.size());
                    replies.push(reply(query, ReportedState { cursor, size, modes: piece.modes }));
                }
                Some(ParsedEvent::Mark(mark)) => {
                    if self.marks.len() == MAX_MARKS {
                        self.marks.pop_front();
                    }
                    self.marks.push_back(PlacedMark { number: self.marks_seen, text_at: self.text.end(), mark });
                    self.marks_seen += 1;
                }
                None => {}
            }
        });
        replies
    }

    /// Behind the last of the text, and of the bytes.
    pub(crate) fn ends(&self) -> (u64, u64) {
        (self.text.end(), self.raw.end())
    }

    /// Another program takes the place of one that has ended, whatever that
    /// left behind: a sequence that it never ended, the alternate screen, a
    /// colour. What it printed stays, and all cursors go on.
    pub(crate) fn begin_again(&mut self, note: &str) {
        let leave = if self.modes().alternate_screen { LEAVE_ALTERNATE } else { "" };
        self.stream = OutputParser::default();
        drop(self.take(format!("{leave}{AFRESH}").as_bytes()));
        let newline = if self.screen.cursor().column == 0 { "" } else { "\r\n" };
        drop(self.take(format!("{newline}[{note}]\r\n").as_bytes()));
    }

    /// Changes the size of the screen.
    pub(crate) fn resize(&mut self, size: TerminalSize) {
        if size != self.screen.size() {
            self.resizes = ResizeHistory { count: self.resizes.count + 1, last_at: self.raw.end() };
        }
        self.screen.resize(size);
        self.viewers.resized(size);
    }

    /// What draws the present screen on a terminal of this size that has just
    /// been reset.
    pub(crate) fn redraw(&mut self) -> String {
        let mut text = self.screen.dump();
        // What is pasted is asked for between marks; emulators keep no such
        // thing.
        if self.stream.modes().bracketed_paste {
            text.push_str("\x1b[?2004h");
        }
        text
    }

    pub(crate) fn modes(&self) -> crate::TerminalModes {
        self.stream.modes()
    }

    /// The marks from this number on, as far as they are kept.
    pub(crate) fn marks_from(&self, number: u64) -> Vec<PlacedMark> {
        self.marks.iter().filter(|mark| mark.number >= number).cloned().collect()
    }

    pub(crate) fn resizes(&self) -> ResizeHistory {
        self.resizes
    }

    pub(crate) fn marks_seen(&self) -> u64 {
        self.marks_seen
    }
}
