//! What of a flood of lines can never be seen.
//!
//! Where text is nothing but lines and colours, those that the lines behind
//! them push out of all that is kept leave nothing but their colours. That is
//! found without looking where anything goes, far quicker than by a sketch.

use memchr::memmem::FinderRev;

use crate::ascii::{prefix_without_controls, printable_prefix};

/// Text of which all that matters is what a screen of so many columns and the
/// lines above it hold at last, where that is shorter; nothing where every part
/// may matter. So many rows are kept.
pub(super) fn shortened(text: &str, columns: usize, kept_rows: usize) -> Option<String> {
    let (mut rows, mut end) = (0, text.len());
    let start = FinderRev::new("\r\n").rfind_iter(text.as_bytes()).find(|start| {
        let line = text.as_bytes().get(start + 2..end).unwrap_or_default();
        // Of others it is not known how many columns they take.
        let wraps = line.len() > columns && printable_prefix(line) == line.len();
        rows += if wraps { line.len() / columns } else { 1 };
        end = *start;
        rows > kept_rows
    })?;
    if start <= text.len() / 2 || only_lines(&text[start..]).is_none() {
        return None;
    }
    let colours = only_lines(&text[..start])?;
    Some([&colours, &text[start..]].concat())
}

/// The colours at the end, as far as they were set, where this is printed from
/// the left to the right and from the top to the bottom. A sequence at the end
/// may be cut.
fn only_lines(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut at, mut colours) = (0, Vec::new());
    loop {
        at += prefix_without_controls(&bytes[at..]);
        match bytes.get(at) {
            None => return Some(colours.concat()),
            Some(b'\r' | b'\n' | b'\t' | 7 | 8) => at += 1,
            Some(0x1b) => {
                let end = sequence(&bytes[at..])? + at;
                match &text[at..end] {
                    "\x1b[m" | "\x1b[0m" => {
                        colours.clear();
                        colours.push("\x1b[m");
                    }
                    colour if colour.ends_with('m') => colours.push(colour),
                    // It erases in the line.
                    _ => {}
                }
                at = end;
            }
            Some(_) => return None,
        }
    }
}

/// The length of a sequence that does not leave the line.
fn sequence(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [_] => Some(1),
        [_, b'[', parameters @ ..] => {
            let length = parameters.iter().take_while(|byte| matches!(byte, b'0'..=b';')).count();
            match parameters.get(length) {
                None => Some(bytes.len()),
                Some(b'm' | b'K') => Some(length + 3),
                Some(_) => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_and_colours_are_shortened_and_the_colours_stay() {
        let long = "x".repeat(60);
        let text = format!("{long}\x1b[31m{long}\r\nc\x1b[0md\x1b[1me\r\nf\r\ng");
        assert_eq!(shortened(&text, 80, 0).as_deref(), Some("\x1b[m\x1b[1m\r\ng"));
        assert_eq!(shortened(&text, 80, 2).as_deref(), Some("\x1b[31m\r\nc\x1b[0md\x1b[1me\r\nf\r\ng"));
        assert_eq!(shortened(&text, 80, 3), None);
        assert!(shortened(&format!("{long}\r\nb\x1b[3"), 80, 0).is_some());
        assert!(shortened(&format!("{long}\r\nb\x1b[K\r\nc"), 80, 0).is_some());
        // Of a line that wraps, each row counts.
        let wraps = format!("{text}\r\n{}", "y".repeat(100));
        assert_eq!(shortened(&wraps, 20, 4), Some(format!("\x1b[m\x1b[1m\r\n{}", "y".repeat(100))));
        assert_ne!(shortened(&wraps, 20, 5), shortened(&wraps, 20, 4));
        for other in ["\x1b[A", "\x1b7", "\x0e", "\x1b]0;m\x07", "\x1b[5b", "\x18", "\x1b[?1m"] {
            assert_eq!(shortened(&format!("{long}{other}b\r\nc"), 80, 0), None, "{other:?}");
            assert_eq!(shortened(&format!("{long}\r\n{other}c"), 80, 0), None, "{other:?}");
        }
    }
}
