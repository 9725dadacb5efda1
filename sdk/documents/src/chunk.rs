//! Chunks: a text in parts of a size that search likes. It owns where chunks
//! begin and which blocks they join; [`crate::split`] cuts a block that is too
//! long. It knows nothing of formats but how Markdown marks a heading.

use std::ops::Range;

use crate::{BlockKind, Format, ParseError, Parsed, split};

/// Bytes that a target must have for the rest to make sense.
const LEAST_BYTES: usize = 32;
/// Headings of a chunk, and bytes of each of them.
const MOST_HEADINGS: usize = 6;
const HEADING_BYTES: usize = 120;
/// Headings and pages may begin so many chunks, however small they are; beyond
/// that, only as many as keep chunks at a quarter of the target on average. So a
/// text of a million headings does not become a million chunks.
const SMALL_CHUNKS: usize = 4_096;

/// How large chunks are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkSettings {
    /// Small neighbours are joined up to this many bytes; 32 at least.
    /// Default 1,000.
    pub target_bytes: usize,
    /// No chunk has more bytes, save where a single character (as readers see
    /// it, with all its marks) has more, which is cut at four times as many.
    /// Default 2,000.
    pub most_bytes: usize,
}

impl Default for ChunkSettings {
    fn default() -> Self {
        Self { target_bytes: 1_000, most_bytes: 2_000 }
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it is in the text.
    pub bytes: Range<usize>,
    /// The line it begins in, from 1. Only `\n` ends a line.
    pub first_line: u32,
    /// The line it ends in, inclusive. A line that is cut is in several chunks.
    pub last_line: u32,
    /// The headings above it, outermost first, without those in it: the
    /// innermost 6, each cut after 120 bytes.
    pub headings: Vec<String>,
    /// Page or slide it begins on, from 1, where the format has any.
    pub page: Option<u32>,
}

/// Cuts a document into chunks, which one after the other are exactly its text.
///
/// A heading begins a chunk and stays with what follows it, and so does a page.
/// Paragraphs, items, rows and code are whole wherever they fit, also beyond the
/// target; small ones are joined. What does not fit is cut after a line, else
/// after a sentence, else after a word, and never within a character.
///
/// # Errors
/// [`ParseError::InvalidSettings`].
pub fn chunks(parsed: &Parsed, settings: &ChunkSettings) -> Result<Vec<Chunk>, ParseError> {
    let ChunkSettings { target_bytes, most_bytes } = *settings;
    if target_bytes < LEAST_BYTES || most_bytes < target_bytes || most_bytes > usize::MAX / 8 {
        return Err(ParseError::InvalidSettings(
            "a chunk needs a target of at least 32 bytes, and at most as many as it may have",
        ));
    }
    let mut packer = Packer {
        parsed,
        settings,
        chunks: Vec::new(),
        start: 0,
        end: 0,
        only_headings: false,
        page: None,
        above: Vec::new(),
        path: Vec::new(),
        line: 1,
    };
    for (kind, bytes, page) in segments(parsed) {
        packer.add(kind, bytes, page);
    }
    packer.flush();
    Ok(packer.chunks)
}

/// The blocks as they start, so that the parts of a text are all of it, whatever a
/// caller did to its blocks.
fn segments(parsed: &Parsed) -> impl Iterator<Item = (BlockKind, Range<usize>, Option<u32>)> {
    let text = &parsed.text;
    let mut at = 0;
    let mut blocks = parsed.blocks.iter().filter(|block| text.is_char_boundary(block.bytes.start)).peekable();
    std::iter::from_fn(move || {
        if at >= text.len() {
            return None;
        }
        let (kind, page) = match blocks.next_if(|block| at == 0 || block.bytes.start <= at) {
            Some(block) => (block.kind, block.page),
            None => (BlockKind::Paragraph, None),
        };
        // Blocks that begin within others are none.
        while blocks.next_if(|next| next.bytes.start <= at).is_some() {}
        let end = blocks.peek().map_or(text.len(), |next| next.bytes.start);
        Some((kind, std::mem::replace(&mut at, end)..end, page))
    })
}

struct Packer<'parsed> {
    parsed: &'parsed Parsed,
    settings: &'parsed ChunkSettings,
    chunks: Vec<Chunk>,
    /// The chunk that is open.
    start: usize,
    end: usize,
    only_headings: bool,
    page: Option<u32>,
    /// Headings above the chunk that is open.
    above: Vec<String>,
    /// Headings above what comes next, with their levels.
    path: Vec<(u8, String)>,
    /// Line of the start of the chunk that is open.
    line: u32,
}

impl Packer<'_> {
    fn len(&self) -> usize {
        self.end - self.start
    }

    fn add(&mut self, kind: BlockKind, bytes: Range<usize>, page: Option<u32>) {
        let target_bytes = self.settings.target_bytes;
        let level = match kind {
            BlockKind::Heading(level) => Some(level),
            _ => None,
        };
        let begins = (level.is_some() && !self.only_headings) || (page != self.page && self.len() > 0);
        let sparse = self.chunks.len() <= SMALL_CHUNKS + 4 * (bytes.start / target_bytes);
        // A heading stays with what follows, also beyond the target.
        let stays = self.only_headings && level.is_none();
        let full = !stays && self.len() + bytes.len() > target_bytes;
        if (begins && sparse) || full {
            self.flush();
        }
        if let Some(level) = level {
            self.path.retain(|(above, _)| *above < level);
        }
        if self.len() == 0 {
            self.open(page);
        }
        if let Some(level) = level {
            self.only_headings |= self.len() == 0;
            self.path.push((level, heading(self.parsed, &bytes)));
        }
        self.push(bytes, page);
        self.only_headings &= level.is_some();
    }

    /// Adds a block, in parts where it does not fit.
    fn push(&mut self, bytes: Range<usize>, page: Option<u32>) {
        let ChunkSettings { target_bytes, most_bytes } = *self.settings;
        let mut rest = bytes;
        while self.len() + rest.len() > most_bytes {
            let room = most_bytes - self.len();
            // A heading that fills a chunk by itself leaves no room worth using.
            if self.len() > 0 && room < LEAST_BYTES {
                self.flush();
                self.open(page);
                continue;
            }
            let target = target_bytes.saturating_sub(self.len()).clamp(1, room);
            let cut = split::cut(&self.parsed.text[rest.clone()], target, room);
            // What does not even fit in part goes into a chunk of its own.
            if self.len() > 0 && cut > room {
                self.flush();
                self.open(page);
                continue;
            }
            self.end = rest.start + cut;
            rest.start = self.end;
            self.flush();
            self.open(page);
        }
        self.end = rest.end;
    }

    fn open(&mut self, page: Option<u32>) {
        self.page = page;
        let from = self.path.len().saturating_sub(MOST_HEADINGS);
        self.above = self.path[from..].iter().map(|(_, heading)| heading.clone()).collect();
    }

    fn flush(&mut self) {
        if self.len() == 0 {
            return;
        }
        let text = &self.parsed.text.as_bytes()[self.start..self.end];
        let ends = u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX);
        let next_line = self.line.saturating_add(ends);
        self.chunks.push(Chunk {
            bytes: self.start..self.end,
            first_line: self.line,
            last_line: if text.ends_with(b"\n") { next_line - 1 } else { next_line },
            headings: std::mem::take(&mut self.above),
            page: self.page,
        });
        self.line = next_line;
        self.start = self.end;
        self.only_headings = false;
    }
}

/// What a heading says, without its marks.
fn heading(parsed: &Parsed, bytes: &Range<usize>) -> String {
    let text = split::within(&parsed.text[bytes.clone()], 4 * HEADING_BYTES);
    let mut lines: Vec<&str> = text.trim().lines().map(str::trim).collect();
    if parsed.format == Format::Markdown {
        // The line below that makes the one above a heading.
        if lines.len() > 1 && lines.last().is_some_and(|last| last.chars().all(|c| matches!(c, '=' | '-'))) {
            lines.pop();
        }
        if let [line] = &mut lines[..] {
            let words = line.trim_start_matches('#');
            *line = if words.len() < line.len() { words.trim_end_matches('#') } else { words };
        }
    }
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    split::within(&words.join(" "), HEADING_BYTES).to_owned()
}
