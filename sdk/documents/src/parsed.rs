//! [`Parsed`]: what a document says, and how it is built.

use std::ops::Range;

use crate::Format;

/// What a document says, and how it is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// What it was read as.
    pub format: Format,
    /// Title that the document gives itself, at most 512 bytes.
    pub title: Option<String>,
    /// The text. Of text formats it is the document itself, byte for byte after
    /// a byte order mark, as long as it is UTF-8.
    pub text: String,
    /// The parts of the text: in order, without gaps, all of it. Blank lines
    /// belong to the block before them. No text, no blocks.
    pub blocks: Vec<Block>,
    /// What a reader should know about what is missing; at most 32.
    pub warnings: Vec<String>,
}

/// A part of a text that belongs together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Where it is in the text.
    pub bytes: Range<usize>,
    /// Page or slide it stands on, from 1, where the format has any.
    pub page: Option<u32>,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockKind {
    /// A heading, with its level from 1 (outermost) to 9.
    Heading(u8),
    /// Running text.
    Paragraph,
    /// An item of a list, with what is in it.
    ListItem,
    /// A row of a table, of a sheet or of CSV.
    TableRow,
    /// Code or other text whose lines are as they are.
    Code,
    /// An entry of structured data, such as JSON.
    Entry,
}
