//! Text as it is given: from bytes to characters, and into paragraphs. What it
//! decodes is kept exactly; what is no text at all is refused.

use std::ops::Range;

use crate::text::utf16;
use crate::writer::warn;
use crate::{Block, BlockKind, Format, Limits, ParseError};

/// One replaced character in so many is too much for a text.
const ONE_BAD_IN: usize = 8;

/// Decodes a text, without its byte order mark.
pub(crate) fn decode(
    format: Format,
    bytes: &[u8],
    limits: &Limits,
    warnings: &mut Vec<String>,
) -> Result<String, ParseError> {
    let other = |problem: &str| ParseError::OtherFormat { format, problem: problem.into() };
    let text = match utf16(bytes) {
        Some(Some(text)) => text,
        Some(None) => return Err(other("it begins like UTF-16 and is something else")),
        None => {
            let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            if bytes.len() > limits.text_bytes {
                return Err(ParseError::Limit { what: "bytes of text", limit: limits.text_bytes });
            }
            if memchr::memchr(0, bytes).is_some() {
                return Err(other("it has zero bytes, which no text has"));
            }
            let text = String::from_utf8_lossy(bytes);
            if matches!(text, std::borrow::Cow::Owned(_)) {
                let (mut bad, mut all) = (0, 0);
                text.chars().for_each(|c| (bad, all) = (bad + usize::from(c == '\u{FFFD}'), all + 1));
                if bad * ONE_BAD_IN > all {
                    return Err(other("most of it is not UTF-8; save it as UTF-8"));
                }
                warn(warnings, "bytes that are not UTF-8 were replaced");
            }
            text.into_owned()
        }
    };
    if text.len() > limits.text_bytes {
        return Err(ParseError::Limit { what: "bytes of text", limit: limits.text_bytes });
    }
    let control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x08 | 0x0C | 0x1B);
    if text.contains('\0') || text.as_bytes().iter().filter(|byte| control(byte)).count() * ONE_BAD_IN > text.len() {
        return Err(other("it has control characters, which no text has"));
    }
    Ok(text)
}

/// Blocks from where they start. The first begins with the text, and what is
/// beyond the limit belongs to the last.
pub(crate) fn cover(
    text: &str,
    starts: impl IntoIterator<Item = (usize, BlockKind)>,
    limits: &Limits,
    warnings: &mut Vec<String>,
) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (start, kind) in starts {
        if start >= text.len() || blocks.last().is_some_and(|last| start <= last.bytes.start && start > 0) {
            continue;
        }
        if blocks.len() >= limits.blocks.max(1) {
            let most = limits.blocks;
            warn(warnings, format!("the document has more than {most} parts; the rest counts as one"));
            break;
        }
        match blocks.last_mut() {
            // Blank lines before the first block are part of it.
            None => blocks.push(Block { kind, bytes: 0..text.len(), page: None }),
            Some(last) => {
                last.bytes.end = start;
                blocks.push(Block { kind, bytes: start..text.len(), page: None });
            }
        }
    }
    if blocks.is_empty() && !text.is_empty() {
        blocks.push(Block { kind: BlockKind::Paragraph, bytes: 0..text.len(), page: None });
    }
    blocks
}

/// Where the paragraphs of a text start: at lines after blank ones.
pub(crate) fn paragraphs(text: &str) -> impl Iterator<Item = (usize, BlockKind)> {
    let mut after_blank = true;
    lines(text).filter_map(move |line| {
        let blank = text[line.clone()].trim().is_empty();
        let starts = after_blank && !blank;
        after_blank = blank;
        starts.then_some((line.start, BlockKind::Paragraph))
    })
}

/// The lines of a text, each with what ends it.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = ends.next().map_or(text.len(), |end| end + 1);
        (start < text.len()).then(|| std::mem::replace(&mut start, end)..end)
    })
}
