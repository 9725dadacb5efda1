//! Bytes of a terminal program as plain text: without escape sequences and
//! control characters, in one pass over any bytes, each character with the
//! place it came from.

/// Bytes within which an escape sequence with text in it (a title, a link) must
/// end; one that does not is taken for a stray introducer.
pub(crate) const STRING_BYTES: usize = 4_096;
/// The same of one with parameters.
const PARAMETER_BYTES: usize = 256;

pub(crate) const ESCAPE: u8 = 0x1b;

/// Plain text, and where it came from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cleaned {
    pub(crate) text: String,
    /// For each character, where it begins: in the text, and in the bytes.
    places: Vec<(usize, usize)>,
    /// Bytes that the text stands for. An escape sequence that is not complete
    /// at the end is left out of it: it may go on in later bytes.
    pub(crate) bytes: usize,
    /// Whether all of it was UTF-8.
    pub(crate) is_utf8: bool,
}

/// What stands at a place.
enum PrintedPart {
    /// A character of so many bytes, or what stands in for one.
    Character(char, usize),
    /// So many bytes that were no UTF-8.
    Broken(usize),
    /// So many bytes of a sequence or a control character.
    Nothing(usize),
    /// A sequence that ends later, if ever.
    Unfinished,
}

impl Cleaned {
    pub(crate) fn of(raw: &[u8]) -> Self {
        let mut cleaned = Self { is_utf8: true, ..Self::default() };
        let mut at = 0;
        while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
            let length = match part(rest) {
                PrintedPart::Character(character, length) => {
                    cleaned.push(character, at);
                    length
                }
                PrintedPart::Broken(length) => {
                    cleaned.is_utf8 = false;
                    cleaned.push(char::REPLACEMENT_CHARACTER, at);
                    length
                }
                PrintedPart::Nothing(length) => length,
                PrintedPart::Unfinished => break,
            };
            at += length;
        }
        cleaned.bytes = at;
        cleaned
    }

    fn push(&mut self, character: char, at: usize) {
        self.places.push((self.text.len(), at));
        self.text.push(character);
    }

    /// The place in the bytes of a place in the text.
    pub(crate) fn origin(&self, text_place: usize) -> usize {
        let index = self.places.partition_point(|(place, _)| *place < text_place);
        self.places.get(index).map_or(self.bytes, |(_, origin)| *origin)
    }
}

fn part(rest: &[u8]) -> PrintedPart {
    match *rest {
        [ESCAPE] => PrintedPart::Unfinished,
        [ESCAPE, next, ..] => escape(next, rest),
        [0xc2, second @ 0x80..=0x9f, ..] => match second {
            0x9b => parameters(rest, 2),
            0x90 | 0x98 | 0x9d..=0x9f => string(rest),
            _ => PrintedPart::Nothing(2),
        },
        [b'\r', b'\n', ..] => PrintedPart::Nothing(1),
        // What would be overwritten is a line of its own.
        [b'\r', ..] => PrintedPart::Character('\n', 1),
        [control @ (0..=0x1f | 0x7f), ..] if !matches!(control, b'\n' | b'\t') => PrintedPart::Nothing(1),
        [ascii @ 0..=0x7f, ..] => PrintedPart::Character(char::from(ascii), 1),
        _ => character(rest),
    }
}

fn character(rest: &[u8]) -> PrintedPart {
    let start = rest.get(..rest.len().min(4)).unwrap_or(rest);
    let Some(chunk) = start.utf8_chunks().next() else { return PrintedPart::Nothing(1) };
    match chunk.valid().chars().next() {
        Some(character) => PrintedPart::Character(character, character.len_utf8()),
        None => PrintedPart::Broken(chunk.invalid().len().max(1)),
    }
}

fn escape(next: u8, rest: &[u8]) -> PrintedPart {
    match next {
        b'[' => parameters(rest, 2),
        b']' | b'P' | b'X' | b'^' | b'_' => string(rest),
        // A character set and the like: intermediate bytes, then a final one.
        0x20..=0x2f => parameters(rest, 1),
        0x30..=0x7e => PrintedPart::Nothing(2),
        _ => PrintedPart::Nothing(1),
    }
}

/// A sequence that ends with its first byte of 0x40 to 0x7e (after a bare
/// escape, 0x30 to 0x7e).
fn parameters(rest: &[u8], introducer: usize) -> PrintedPart {
    let lowest_final = if introducer == 1 { 0x30 } else { 0x40 };
    for (at, byte) in rest.iter().enumerate().skip(introducer) {
        match *byte {
            byte if (lowest_final..=0x7e).contains(&byte) => return PrintedPart::Nothing(at + 1),
            0x20..=0x3f if at < PARAMETER_BYTES => {}
            // No such sequence: what was read of it goes.
            _ => return PrintedPart::Nothing(at),
        }
    }
    PrintedPart::Unfinished
}

/// A sequence with text in it, up to its terminator.
fn string(rest: &[u8]) -> PrintedPart {
    let mut at = 2;
    loop {
        match rest.get(at..) {
            _ if at >= STRING_BYTES => return PrintedPart::Nothing(2),
            None | Some([] | [ESCAPE] | [0xc2]) => return PrintedPart::Unfinished,
            Some([0x07, ..]) => return PrintedPart::Nothing(at + 1),
            Some([ESCAPE, b'\\', ..] | [0xc2, 0x9c, ..]) => return PrintedPart::Nothing(at + 2),
            // Given up, or the next sequence.
            Some([0x18 | 0x1a, ..]) => return PrintedPart::Nothing(at + 1),
            Some([ESCAPE, ..] | [0xc2, 0x80..=0x9f, ..]) => return PrintedPart::Nothing(at),
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clean(raw: &[u8]) -> String {
        Cleaned::of(raw).text
    }

    #[test]
    fn escape_sequences_leave_nothing_behind() {
        for (raw, expected) in [
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b[38;2;1;2;3mred\x1b[m", "red"),
            ("\x1b]0;title\x07text", "text"),
            ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bPq#0~\x1b\\after", "after"),
            ("\x1b(Btext\x1b=\x1b7", "text"),
            ("\u{9b}31mred\u{9d}title\u{9c}.", "red."),
            ("\x1b[?25l\x1b[2Kline\r\nnext\rover", "line\nnext\nover"),
            ("a\0b\x08c\x7fd\te\n", "abcd\te\n"),
            ("\x1b[31\x1b[32mgreen", "green"),
            ("\x1b]title\x1b[32mgreen", "green"),
        ] {
            assert_eq!(clean(raw.as_bytes()), expected, "{raw:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_said_so() {
        let cleaned = Cleaned::of(b"caf\xe9 \xff\xfe\xf0\x9f\x98");
        assert_eq!(cleaned.text, "caf\u{fffd} \u{fffd}\u{fffd}\u{fffd}");
        assert!(!cleaned.is_utf8);
        assert!(Cleaned::of("café 항구 🚢".as_bytes()).is_utf8);
    }

    #[test]
    fn a_sequence_that_never_ends_hides_no_more_than_its_start() {
        let mut raw = b"\x1b]0;".to_vec();
        raw.extend(vec![b'x'; 1 << 20]);
        assert_eq!(clean(&raw).len(), (1 << 20) + 2);
        let unfinished = Cleaned::of(b"text\x1b[3");
        assert_eq!((unfinished.text.as_str(), unfinished.bytes), ("text", 4));
    }

    #[test]
    fn hostile_introducers_cost_no_more_than_other_bytes() {
        for introducer in ["\x1b]", "\u{9d}", "\x1bP", "\x1b[", "\x1b"] {
            assert_eq!(clean(introducer.repeat(500_000).as_bytes()).len(), 0, "{introducer:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_become_text_without_control_characters(raw in prop::collection::vec(any::<u8>(), 0..2_000)) {
            let cleaned = Cleaned::of(&raw);
            let is_odd = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
            prop_assert!(!cleaned.text.contains(is_odd));
            prop_assert!(cleaned.bytes <= raw.len());
        }

        #[test]
        fn text_between_sequences_is_kept_as_it_is(
            pieces in prop::collection::vec(("[ -~가-힣]{0,20}", "\x1b\\[[0-9;?]{0,8}[A-Za-z]|\x1b\\][a-z;/ ]{0,30}(\x07|\x1b\\\\)"), 0..20)
        ) {
            let raw: String = pieces.iter().flat_map(|(text, sequence)| [text.as_str(), sequence.as_str()]).collect();
            let expected: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
            prop_assert_eq!(clean(raw.as_bytes()), expected);
        }

        #[test]
        fn a_text_is_the_same_however_it_comes_in_pieces(
            raw in "([ -~가-힣\n]|\x1b\\[[0-9;]{0,4}m|\x1b\\]0;[a-z]{0,9}\x07){0,60}",
            piece in 1_usize..40,
        ) {
            let raw = raw.as_bytes();
            let (mut text, mut at, mut size) = (String::new(), 0, piece);
            while at < raw.len() {
                // As the host reads: no character is split.
                let mut end = raw.len().min(at + size);
                while raw.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
                    end += 1;
                }
                let cleaned = Cleaned::of(&raw[at..end]);
                size = if cleaned.bytes == 0 { size + piece } else { piece };
                at += cleaned.bytes;
                text.push_str(&cleaned.text);
                if end == raw.len() { break; }
            }
            prop_assert_eq!(text, clean(raw));
        }
    }
}
