//! What most of the output of most programs consists of: text, ends of lines,
//! and sequences that are drawn.
//!
//! None of it changes a state of its reader, so it may be read in runs.
//! What is not known here is not refused, only read with more care.

use crate::ascii::{prefix_without_controls, printable_prefix};

/// Sequences with so many parameters are rare.
const MAX_PARAMETERS: usize = 32;

/// Text that is not ASCII is looked at in parts of so many bytes.
const WINDOW_BYTES: usize = 256;

/// A part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlainPart<'b> {
    /// Characters that take columns of their own.
    Text(&'b str),
    /// A newline, a carriage return or a tab.
    Control(u8),
    /// A control sequence that concerns nothing but the screen: colours, moves
    /// and erasures. So many bytes.
    Sequence(usize),
}

impl PlainPart<'_> {
    /// Its length in bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Control(_) => 1,
            Self::Sequence(bytes) => bytes,
        }
    }
}

/// The part at the start, where it is plain.
pub(super) fn part(bytes: &[u8]) -> Option<PlainPart<'_>> {
    match *bytes.first()? {
        control @ (b'\n' | b'\r' | b'\t') => Some(PlainPart::Control(control)),
        0x1b => sequence(bytes).map(PlainPart::Sequence),
        _ => Some(text(bytes)).filter(|text| !text.is_empty()).map(PlainPart::Text),
    }
}

fn text(bytes: &[u8]) -> &str {
    let ascii = printable_prefix(bytes);
    let is_all = bytes.get(ascii).is_none_or(|next| *next < 0x7f);
    // No further, since what follows may have to be looked at again.
    let end = if is_all {
        ascii
    } else {
        ascii + prefix_without_controls(&bytes[ascii..bytes.len().min(ascii + WINDOW_BYTES)])
    };
    let text = match str::from_utf8(&bytes[..end]) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let others = &text[ascii..];
    &text[..ascii + others.find(|character| !is_plain(character)).unwrap_or(others.len())]
}

fn sequence(bytes: &[u8]) -> Option<usize> {
    let [_, b'[', parameters @ ..] = bytes else { return None };
    let length = parameters.iter().take(MAX_PARAMETERS).position(|byte| !matches!(byte, b'0'..=b';'))?;
    matches!(parameters[length], b'm' | b'K' | b'J' | b'X' | b'A'..=b'H' | b'd').then_some(length + 3)
}

/// Whether a character is known to take columns. Of many others it is true,
/// too.
fn is_plain(character: char) -> bool {
    // The largest blocks come first.
    matches!(character, ' '..='~' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
        || matches!(
            character,
            '\u{ae}'..='\u{2ff}'
                | '\u{391}'..='\u{3c9}'
                | '\u{400}'..='\u{482}'
                | '\u{2010}'..='\u{2027}'
                | '\u{2190}'..='\u{23ff}'
                | '\u{2500}'..='\u{27bf}'
                | '\u{2800}'..='\u{28ff}'
                | '\u{3000}'..='\u{3029}'
                | '\u{3041}'..='\u{3096}'
                | '\u{30a0}'..='\u{30ff}'
                | '\u{3400}'..='\u{4dbf}'
                | '\u{ff01}'..='\u{ff60}'
        )
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthChar as _;

    use super::*;

    #[test]
    fn what_is_known_to_take_columns_does() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|character| is_plain(*character))
        {
            assert!(character.width().is_some_and(|width| width > 0), "{character:?}");
        }
    }

    #[test]
    fn only_what_is_whole_and_only_drawn_is_plain() {
        assert_eq!(part(b"text\r\n"), Some(PlainPart::Text("text")));
        assert_eq!(part("\u{754c}\u{754c}a\u{301}".as_bytes()), Some(PlainPart::Text("\u{754c}\u{754c}a")));
        assert_eq!(part(b"\r\n"), Some(PlainPart::Control(b'\r')));
        assert_eq!(part(b"\x1b[1;31mred"), Some(PlainPart::Sequence(7)));
        for other in ["", "\x1b", "\x1b[", "\x1b[1", "\x1b[6n", "\x1b[?25h", "\x1b]0;t\x07", "\0", "\u{301}", "\u{9b}m"]
        {
            assert_eq!(part(other.as_bytes()), None, "{other:?}");
        }
        assert_eq!((part(b"\xe7\x95"), part(b"a\xff")), (None, Some(PlainPart::Text("a"))));
        assert_eq!(part(b"a\x7fb"), Some(PlainPart::Text("a")));
        assert_eq!(part(format!("\x1b[{}m", "1;".repeat(50)).as_bytes()), None);
    }
}
