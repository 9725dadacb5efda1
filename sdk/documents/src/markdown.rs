//! Markdown: the text stays as it is, and its blocks are those of CommonMark
//! with tables.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::{BlockKind, Limits};

/// The parser keeps some 50 bytes for each piece of markup. A text with more of
/// it than this for each block that is allowed is read as plain text.
const MARKUP_FOR_EACH_BLOCK: usize = 4;

pub(crate) struct Structure {
    pub(crate) starts: Vec<(usize, BlockKind)>,
    pub(crate) title: Option<String>,
}

/// Where the blocks of a text start; nothing where it has too much markup.
pub(crate) fn structure(text: &str, limits: &Limits) -> Option<Structure> {
    let markup = text.bytes().filter(|byte| b"\n*_[]()<>`!|~$&\\^#:".contains(byte)).count();
    if markup > limits.blocks.saturating_mul(MARKUP_FOR_EACH_BLOCK) {
        return None;
    }
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut found = Structure { starts: Vec::new(), title: None };
    let mut title: Option<String> = None;
    // Tables, which hold nothing but rows.
    let mut in_row = false;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let kind = match event {
            Event::Start(Tag::Heading { level, .. }) => {
                if found.title.is_none() && level == HeadingLevel::H1 {
                    title = Some(String::new());
                }
                BlockKind::Heading(level as u8)
            }
            Event::End(TagEnd::Heading(_)) => {
                found.title = found.title.or(title.take());
                continue;
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(title) = &mut title {
                    title.push_str(&words);
                }
                continue;
            }
            Event::Start(Tag::Item) => BlockKind::ListItem,
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                in_row = true;
                BlockKind::TableRow
            }
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                in_row = false;
                continue;
            }
            Event::Start(Tag::CodeBlock(_)) => BlockKind::Code,
            Event::Start(Tag::Paragraph | Tag::HtmlBlock | Tag::FootnoteDefinition(_) | Tag::MetadataBlock(_))
            | Event::Rule
                if !in_row =>
            {
                BlockKind::Paragraph
            }
            _ => continue,
        };
        let start = line_start(text, range.start);
        // What begins on one line, as an item and its paragraph do, is the
        // outer one; and what is inside an item stays in it.
        match found.starts.last() {
            Some((last, _)) if *last >= start => {}
            _ => found.starts.push((start, kind)),
        }
    }
    Some(found)
}

/// Where the line of a block begins, so that its indentation is its own.
fn line_start(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at];
    // Only blanks and the marks of lists and quotes stand before a block.
    let blanks = before.iter().rev().take(256).take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    match before.len().checked_sub(blanks) {
        Some(0) => 0,
        Some(start) if before[start - 1] == b'\n' => start,
        _ => at,
    }
}
