//! [`TextWriter`]: where the parsers of binary formats and of HTML put what they
//! read. It owns the layout of the text and keeps its limits; it knows no format.

use crate::text::cut;
use crate::{Block, BlockKind, Format, Limits, ParseError, Parsed};

/// Warnings that one document may cause.
const MOST_WARNINGS: usize = 32;
/// Bytes of a title.
pub(crate) const TITLE_BYTES: usize = 512;

pub(crate) struct TextWriter<'limits> {
    limits: &'limits Limits,
    text: String,
    blocks: Vec<Block>,
    warnings: Vec<String>,
    title: Option<String>,
    page: Option<u32>,
}

impl<'limits> TextWriter<'limits> {
    pub(crate) fn new(limits: &'limits Limits) -> Self {
        Self { limits, text: String::new(), blocks: Vec::new(), warnings: Vec::new(), title: None, page: None }
    }

    /// What follows stands on this page.
    pub(crate) fn page(&mut self, page: u32) {
        self.page = Some(page);
    }

    pub(crate) fn warn(&mut self, warning: impl Into<String>) {
        warn(&mut self.warnings, warning);
    }

    /// Remembers a title, unless it is empty or there is one.
    pub(crate) fn title(&mut self, title: &str) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(cut(&title, TITLE_BYTES).to_owned());
        }
    }

    /// Adds a block and says whether it had text. Control characters become
    /// blanks; an item and the next one, and a row and the next one, stand on
    /// lines of their own, everything else is set apart by a blank line.
    pub(crate) fn block(&mut self, kind: BlockKind, content: &str) -> Result<bool, ParseError> {
        let content = content.trim_end().trim_matches(['\n', '\r']);
        if content.trim().is_empty() {
            return Ok(false);
        }
        if self.text.len().saturating_add(content.len()).saturating_add(2) > self.limits.text_bytes {
            return Err(ParseError::Limit { what: "bytes of text", limit: self.limits.text_bytes });
        }
        if let Some(last) = self.blocks.last_mut() {
            if last.kind != kind || !matches!(kind, BlockKind::ListItem | BlockKind::TableRow) {
                self.text.push('\n');
            }
            last.bytes.end = self.text.len();
        }
        let start = self.text.len();
        for character in content.chars() {
            match character {
                '\r' => {}
                '\n' | '\t' => self.text.push(character),
                control if control.is_control() => self.text.push(' '),
                other => self.text.push(other),
            }
        }
        self.text.push('\n');
        let end = self.text.len();
        let is_full = self.blocks.len() >= self.limits.blocks;
        match self.blocks.last_mut() {
            Some(last) if is_full => last.bytes.end = end,
            _ => self.blocks.push(Block { kind, bytes: start..end, page: self.page }),
        }
        Ok(true)
    }

    pub(crate) fn finish(mut self, format: Format) -> Parsed {
        if self.blocks.len() >= self.limits.blocks {
            let most = self.limits.blocks;
            self.warn(format!("the document has more than {most} parts; the rest counts as one"));
        }
        Parsed { format, title: self.title, text: self.text, blocks: self.blocks, warnings: self.warnings }
    }
}

pub(crate) fn warn(warnings: &mut Vec<String>, warning: impl Into<String>) {
    let warning = warning.into();
    if warnings.len() < MOST_WARNINGS && !warnings.contains(&warning) {
        warnings.push(warning);
    }
}

/// Cells as one line, without the empty ones at its end.
pub(crate) fn row(cells: &[String]) -> String {
    let used = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
    cells[..used].join(" | ")
}

pub(crate) fn warn_pictures(writer: &mut TextWriter<'_>, pictures: usize) {
    match pictures {
        0 => {}
        1 => writer.warn("1 picture was left out"),
        some => writer.warn(format!("{some} pictures were left out")),
    }
}
