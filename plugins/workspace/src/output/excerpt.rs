//! What of a stream is shown: all of it where it is short, else its beginning
//! and its end. Owns where the stream is cut.

use wharf_sdk::ToolError;
use wharf_sdk::excerpt::{Excerpt, Omitted, OutputSource};
use wharf_sdk::process::Piece;
use wharf_sdk::text::{head_end, tail_start};

use super::clean::{Cleaned, ESCAPE, STRING_BYTES as SEQUENCE_BYTES};
use crate::limits;

/// Bytes of a stream with the cursor of the first one.
struct CleanedWindow {
    start: u64,
    cleaned: Cleaned,
}

impl CleanedWindow {
    fn new(piece: &Piece) -> Self {
        Self { start: piece.start, cleaned: Cleaned::of(&piece.data) }
    }

    /// From a place that was counted, and so may be within a character or an
    /// escape sequence: from the next one or the next line on.
    fn within(piece: &Piece) -> Self {
        let start = piece.data.get(..SEQUENCE_BYTES).unwrap_or(&piece.data);
        let cut = memchr::memchr2(b'\n', ESCAPE, start);
        let cut = cut.unwrap_or_else(|| start.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count());
        let data = piece.data.get(cut..).unwrap_or_default();
        Self { start: piece.start + length(cut), cleaned: Cleaned::of(data) }
    }

    fn cursor(&self, text_place: usize) -> u64 {
        self.start + length(self.cleaned.origin(text_place))
    }

    fn end(&self) -> u64 {
        self.start + length(self.cleaned.bytes)
    }
}

/// The part of a stream from one cursor to another, in at most
/// `limit_bytes` of text.
pub(crate) fn between(source: &dyn OutputSource, from: u64, to: u64, limit_bytes: usize) -> Result<Excerpt, ToolError> {
    if from >= to {
        return Ok(Excerpt { start: from, next: from, ..Excerpt::default() });
    }
    let room = |from: u64| limits::WINDOW_BYTES.min(u32::try_from(to - from).unwrap_or(u32::MAX));
    let first = source.read(from, room(from))?;
    let front = CleanedWindow::new(&first);
    if first.next >= to || first.next <= first.start {
        return Ok(cut(&front, &front, limit_bytes));
    }
    let last_window = to.saturating_sub(u64::from(limits::WINDOW_BYTES));
    let back = if last_window <= first.next {
        // An escape sequence that the first window cut is read again.
        let rest = u32::try_from(to.saturating_sub(front.end())).unwrap_or(limits::WINDOW_BYTES);
        CleanedWindow::new(&source.read(front.end(), rest)?)
    } else {
        CleanedWindow::within(&source.read(last_window, limits::WINDOW_BYTES)?)
    };
    Ok(cut(&front, &back, limit_bytes))
}

/// A piece that was read, in at most `limit_bytes` of text.
pub(crate) fn of_piece(piece: &Piece, limit_bytes: usize) -> Excerpt {
    let window = CleanedWindow::new(piece);
    cut(&window, &window, limit_bytes)
}

/// The beginning of a piece that was read; where it does not fit, the
/// cursor to go on from is that of the first character left out.
pub(crate) fn beginning_of(piece: &Piece, limit_bytes: usize) -> Excerpt {
    let window = CleanedWindow::new(piece);
    let Cleaned { text, is_utf8, .. } = &window.cleaned;
    let (head, next) = if text.len() <= limit_bytes {
        (text.as_str(), window.end())
    } else {
        let place = head_end(text, limit_bytes);
        (text.get(..place).unwrap_or_default(), window.cursor(place))
    };
    Excerpt { head: head.to_owned(), start: window.start, next, is_utf8: *is_utf8, ..Excerpt::default() }
}

fn cut(front: &CleanedWindow, back: &CleanedWindow, limit_bytes: usize) -> Excerpt {
    let is_one = std::ptr::eq(front, back);
    let (head, tail) = (&front.cleaned.text, &back.cleaned.text);
    let is_utf8 = front.cleaned.is_utf8 && back.cleaned.is_utf8;
    let excerpt = Excerpt { start: front.start, next: back.end(), is_utf8, ..Excerpt::default() };
    if is_one && head.len() <= limit_bytes {
        return Excerpt { head: head.clone(), ..excerpt };
    }
    let is_whole = !is_one && front.end() >= back.start && head.len() + tail.len() <= limit_bytes;
    let (head_place, tail_place) = if is_whole {
        (head.len(), 0)
    } else {
        let head_bytes = limit_bytes / 3;
        (head_end(head, head_bytes), tail_start(tail, limit_bytes - head_bytes))
    };
    let cursor = if head_place == head.len() { front.end() } else { front.cursor(head_place) };
    let bytes = back.cursor(tail_place).saturating_sub(cursor);
    Excerpt {
        head: head.get(..head_place).unwrap_or_default().to_owned(),
        tail: tail.get(tail_place..).unwrap_or_default().to_owned(),
        omitted: (bytes > 0).then_some(Omitted { cursor, bytes }),
        ..excerpt
    }
}

/// Excerpts of two streams within a limit together: the shorter one is cut
/// first, to half of it, and the longer one gets what is left. `cut` makes one
/// of the first (`0`) or the second stream. What is counted is text, not bytes:
/// bytes that are no UTF-8 take more as text.
pub(crate) fn shared(
    limit_bytes: usize,
    (first, second): (u64, u64),
    cut: impl Fn(usize, usize) -> Result<Excerpt, ToolError>,
) -> Result<(Excerpt, Excerpt), ToolError> {
    let half = limit_bytes / 2;
    if first <= second {
        let first = cut(0, half)?;
        let second = cut(1, limit_bytes - first.shown_bytes())?;
        Ok((first, second))
    } else {
        let second = cut(1, half)?;
        let first = cut(0, limit_bytes - second.shown_bytes())?;
        Ok((first, second))
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A stream that was printed, as the host keeps it.
    struct Printed(Vec<u8>);

    impl OutputSource for Printed {
        fn read(&self, cursor: u64, max_bytes: u32) -> Result<Piece, ToolError> {
            let start = usize::try_from(cursor).expect("small").min(self.0.len());
            let mut end = self.0.len().min(start + max_bytes as usize);
            while end < self.0.len() && end > start + 4 && self.0[end] & 0xc0 == 0x80 {
                end -= 1;
            }
            let data = self.0[start..end].to_vec();
            Ok(Piece { start: start as u64, next: end as u64, evicted_before: 0, end: self.0.len() as u64, data })
        }
    }

    fn excerpt(printed: &[u8], limit: usize) -> Excerpt {
        between(&Printed(printed.to_vec()), 0, printed.len() as u64, limit).expect("read")
    }

    #[test]
    fn what_is_short_is_shown_whole() {
        let excerpt = excerpt(b"one\ntwo\n", 8);
        assert_eq!((excerpt.head.as_str(), excerpt.tail.as_str(), excerpt.omitted), ("one\ntwo\n", "", None));
        assert_eq!((excerpt.start, excerpt.next), (0, 8));
    }

    #[test]
    fn what_is_long_keeps_its_beginning_and_its_end_and_says_where_the_rest_is() {
        let lines: Vec<u8> = (0..200_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        let excerpt = excerpt(&lines, 15_000);
        assert!(excerpt.head.starts_with("line 0\n") && excerpt.head.ends_with('\n'));
        assert!(excerpt.tail.starts_with("line ") && excerpt.tail.ends_with("line 199999\n"));
        let omitted = excerpt.omitted.expect("most is left out");
        assert_eq!(omitted.cursor, excerpt.head.len() as u64);
        let shown = excerpt.head.len() + excerpt.tail.len();
        assert_eq!(omitted.bytes as usize + shown, lines.len());
        assert!((7_500..=15_000).contains(&shown), "{shown}");
        assert_eq!(excerpt.next as usize, lines.len());
    }

    #[test]
    fn one_line_without_end_is_cut_within_characters_never() {
        let printed = "항구🚢".repeat(40_000);
        let excerpt = excerpt(printed.as_bytes(), 15_000);
        assert!(excerpt.is_utf8 && !excerpt.head.contains('\u{fffd}') && !excerpt.tail.contains('\u{fffd}'));
        assert!(printed.starts_with(&excerpt.head) && printed.ends_with(&excerpt.tail));
    }

    /// Two streams that were printed, and what is shown of them.
    fn both(first: &[u8], second: &[u8], limit: usize) -> (Excerpt, Excerpt) {
        let lengths = (first.len() as u64, second.len() as u64);
        shared(limit, lengths, |which, limit| Ok(excerpt([first, second][which], limit))).expect("read")
    }

    #[test]
    fn two_streams_share_what_there_is() {
        let whole = |excerpt: &Excerpt| excerpt.omitted.is_none();
        let (first, second) = both(&[b'a'; 10], &[b'b'; 90], 100);
        assert!(whole(&first) && whole(&second));
        let (first, second) = both(&[b'a'; 1_000], &[b'b'; 10], 100);
        assert_eq!((first.shown_bytes(), whole(&second)), (90, true));
        let (first, second) = both(&[b'a'; 1_000], &[b'b'; 1_001], 100);
        assert_eq!((first.shown_bytes(), second.shown_bytes()), (50, 50));
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_whole_where_there_is_room_for_their_text() {
        let (first, second) = both(b"good\n\xff\xfebad\n", b"", 100);
        assert_eq!((first.head.as_str(), first.omitted), ("good\n\u{fffd}\u{fffd}bad\n", None));
        assert_eq!(second.shown_bytes(), 0);
    }

    proptest! {
        #[test]
        fn head_rest_and_tail_are_the_whole_stream(
            line in "([ -~가-힣]|\x1b\\[[0-9;]{0,4}m){0,30}", count in 0_usize..20_000, limit in 300_usize..16_000,
        ) {
            let printed = format!("{line}\n").repeat(count);
            let excerpt = excerpt(printed.as_bytes(), limit);
            prop_assert!(excerpt.head.len() + excerpt.tail.len() <= limit);
            prop_assert_eq!(excerpt.next as usize, printed.len());
            let whole = Cleaned::of(printed.as_bytes()).text;
            prop_assert!(whole.starts_with(&excerpt.head) && whole.ends_with(&excerpt.tail));
            if let Some(Omitted { cursor, bytes }) = excerpt.omitted {
                let (start, end) = (cursor as usize, (cursor + bytes) as usize);
                let between = Cleaned::of(&printed.as_bytes()[start..end]).text;
                prop_assert_eq!(format!("{}{between}{}", excerpt.head, excerpt.tail), whole);
            } else {
                prop_assert_eq!(format!("{}{}", excerpt.head, excerpt.tail), whole);
            }
        }

        #[test]
        fn two_streams_stay_within_the_limit_together(
            first in prop::collection::vec(any::<u8>(), 0..20_000), second in prop::collection::vec(any::<u8>(), 0..20_000),
            limit in 300_usize..16_000,
        ) {
            let (first, second) = both(&first, &second, limit);
            prop_assert!(first.shown_bytes() + second.shown_bytes() <= limit);
        }

        #[test]
        fn any_bytes_are_cut_to_the_limit(printed in prop::collection::vec(any::<u8>(), 0..100_000), limit in 100_usize..16_000) {
            let excerpt = excerpt(&printed, limit);
            prop_assert!(excerpt.head.len() + excerpt.tail.len() <= limit);
        }

        #[test]
        fn pages_from_cursor_to_cursor_are_the_whole_stream(
            raw in "([ -~가-힣\n]|\x1b\\[[0-9;]{0,4}m){0,300}", page in 40_usize..400,
        ) {
            let source = Printed(raw.clone().into_bytes());
            let (mut cursor, mut text) = (0, String::new());
            loop {
                let piece = source.read(cursor, page as u32).expect("read");
                let excerpt = beginning_of(&piece, page);
                text.push_str(&excerpt.head);
                if excerpt.next == cursor { break; }
                cursor = excerpt.next;
            }
            prop_assert_eq!(text, Cleaned::of(raw.as_bytes()).text);
        }
    }
}
