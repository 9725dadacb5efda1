//! What has come from a program so far, in all its forms.
//!
//! Knows nothing of tasks and descriptors.

use std::collections::VecDeque;

use super::{History, PlacedMark};
use crate::{
    Event, Screen, Size, Stream,
    history::Ring,
    queries::{Facts, reply},
};

/// Marks that are kept.
pub const MAX_MARKS: usize = 256;

/// See the module.
#[derive(Debug)]
pub(crate) struct Output {
    stream: Stream,
    pub(crate) raw: Ring,
    pub(crate) text: Ring,
    pub(crate) screen: Screen,
    marks: VecDeque<PlacedMark>,
    marks_seen: u64,
}

impl Output {
    pub(super) fn new(size: Size, history: History) -> Self {
        Self {
            stream: Stream::default(),
            raw: Ring::new(history.raw_bytes),
            text: Ring::new(history.text_bytes),
            screen: Screen::new(size, history.screen_lines),
            marks: VecDeque::new(),
            marks_seen: 0,
        }
    }

    /// Takes what was read, and says what the program is to be told.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.raw.append(bytes);
        let mut replies = Vec::new();
        self.stream.feed(bytes, |piece| {
            self.screen.feed(piece.normalised);
            self.text.append(piece.text.as_bytes());
            match piece.event {
                Some(Event::Query(query)) => {
                    let (cursor, size) = (self.screen.cursor(), self.screen.size());
                    replies.push(reply(query, Facts { cursor, size, modes: piece.modes }));
                }
                Some(Event::Mark(mark)) => {
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

    pub(crate) fn modes(&self) -> crate::Modes {
        self.stream.modes()
    }

    /// The marks from this number on, as far as they are kept.
    pub(crate) fn marks_from(&self, number: u64) -> Vec<PlacedMark> {
        self.marks.iter().filter(|mark| mark.number >= number).cloned().collect()
    }

    pub(super) fn marks_seen(&self) -> u64 {
        self.marks_seen
    }
}
