//! HTML: what a reader sees, as text. The tokenizer is that of the HTML
//! standard and builds no tree, so nesting costs nothing and cannot overflow.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use crate::writer::{TextWriter, row, warn_pictures};
use crate::{BlockKind, Format, Limits, ParseError, Parsed};

/// Elements whose content nobody reads.
const HIDDEN: [&[u8]; 9] =
    [b"script", b"style", b"noscript", b"template", b"svg", b"math", b"iframe", b"object", b"select"];
/// Elements that end a paragraph where they begin and where they end.
const BLOCKS: [&[u8]; 26] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"caption",
    b"center",
    b"dd",
    b"details",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"header",
    b"hr",
    b"main",
    b"nav",
    b"p",
    b"section",
    b"summary",
    b"table",
    b"tbody",
];

struct HtmlText<'limits> {
    writer: TextWriter<'limits>,
    kind: BlockKind,
    /// Text of the block that is open.
    text: String,
    /// Lists around: whether they are numbered, and the number.
    lists: Vec<Option<u32>>,
    /// Tables around, and the cells of the row that is open in the outermost.
    tables: usize,
    cells: Vec<String>,
    in_cell: bool,
    preformatted: usize,
    /// The element that hides what is in it, and how many of it are open.
    hidden: Option<(Vec<u8>, usize)>,
    title: Option<String>,
    pictures: usize,
    depth: usize,
}

pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let mut page = HtmlText {
        writer: TextWriter::new(limits),
        kind: BlockKind::Paragraph,
        text: String::new(),
        lists: Vec::new(),
        tables: 0,
        cells: Vec::new(),
        in_cell: false,
        preformatted: 0,
        hidden: None,
        title: None,
        pictures: 0,
        depth: limits.depth,
    };
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(text, emitter).flatten() {
        match token {
            Token::StartTag(tag) => {
                let alternative = tag.attributes.get(&b"alt"[..]).map(|alt| String::from_utf8_lossy(alt).into_owned());
                page.start(&tag.name, tag.self_closing, alternative)?;
            }
            Token::EndTag(tag) => page.end(&tag.name)?,
            Token::String(text) => page.push(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if page.text.len() > limits.text_bytes {
            return Err(ParseError::Limit { what: "bytes of text", limit: limits.text_bytes });
        }
    }
    page.flush_row()?;
    page.flush()?;
    if let Some(title) = page.title.take() {
        page.writer.title(&title);
    }
    warn_pictures(&mut page.writer, page.pictures);
    Ok(page.writer.finish(Format::Html))
}

impl HtmlText<'_> {
    fn start(&mut self, name: &[u8], self_closing: bool, alternative: Option<String>) -> Result<(), ParseError> {
        if let Some((hidden, open)) = &mut self.hidden {
            *open += usize::from(hidden == name && !self_closing);
            return Ok(());
        }
        match name {
            _ if HIDDEN.contains(&name) => self.hidden = (!self_closing).then(|| (name.to_vec(), 1)),
            b"title" if self.title.is_none() => self.title = Some(String::new()),
            b"title" => self.hidden = Some((name.to_vec(), 1)),
            [b'h', level @ b'1'..=b'6'] => self.open(BlockKind::Heading(level - b'0'))?,
            b"br" if self.in_cell => self.text.push(' '),
            b"br" => self.text.push('\n'),
            b"img" => match alternative.filter(|text| !text.trim().is_empty()) {
                Some(text) => self.push(&text),
                None => self.pictures += 1,
            },
            b"ul" | b"ol" | b"menu" => {
                self.flush()?;
                self.kind = BlockKind::Paragraph;
                if self.lists.len() < self.depth {
                    self.lists.push((name == b"ol").then_some(0));
                }
            }
            b"li" => {
                self.open(BlockKind::ListItem)?;
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{number}. ")
                    }
                    _ => "- ".to_owned(),
                };
                if !self.in_cell {
                    self.text = format!("{}{mark}", "  ".repeat(self.lists.len().saturating_sub(1).min(8)));
                }
            }
            b"table" => {
                self.tables += 1;
                if self.tables == 1 {
                    self.open(BlockKind::Paragraph)?;
                }
            }
            b"tr" if self.tables == 1 => self.flush_row()?,
            b"td" | b"th" if self.tables == 1 => {
                self.flush_cell();
                self.in_cell = true;
            }
            b"pre" | b"listing" | b"xmp" => {
                self.open(BlockKind::Code)?;
                self.preformatted += 1;
            }
            _ if BLOCKS.contains(&name) => self.open_paragraph()?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &[u8]) -> Result<(), ParseError> {
        if let Some((hidden, open)) = &mut self.hidden {
            *open -= usize::from(hidden == name);
            if *open == 0 {
                self.hidden = None;
            }
            return Ok(());
        }
        match name {
            b"title" => {
                if let Some(title) = self.title.take() {
                    self.writer.title(&title);
                    // Only the first one counts.
                    self.title = None;
                }
            }
            [b'h', b'1'..=b'6'] | b"li" => self.open_paragraph()?,
            b"ul" | b"ol" | b"menu" => {
                self.open_paragraph()?;
                self.lists.pop();
            }
            b"tr" | b"tbody" | b"thead" if self.tables == 1 => self.flush_row()?,
            b"td" | b"th" if self.tables == 1 => self.flush_cell(),
            b"table" => {
                if self.tables == 1 {
                    self.flush_row()?;
                }
                self.tables = self.tables.saturating_sub(1);
                self.open_paragraph()?;
            }
            b"pre" | b"listing" | b"xmp" => {
                self.flush()?;
                self.kind = BlockKind::Paragraph;
                self.preformatted = self.preformatted.saturating_sub(1);
            }
            _ if BLOCKS.contains(&name) => self.open_paragraph()?,
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        if let Some(title) = &mut self.title {
            title.push_str(text);
            return;
        }
        if self.preformatted > 0 && !self.in_cell {
            self.text.push_str(text);
            return;
        }
        for character in text.chars() {
            match character {
                // A space that does not break is one of the words.
                space if space.is_whitespace() && space != '\u{A0}' => {
                    if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                        self.text.push(' ');
                    }
                }
                other => self.text.push(other),
            }
        }
    }

    /// A paragraph begins, except that items and cells keep theirs.
    fn open_paragraph(&mut self) -> Result<(), ParseError> {
        // An item whose text is a paragraph of its own.
        let only_mark = self.kind == BlockKind::ListItem
            && matches!(self.text.trim(), mark if mark == "-" || mark.ends_with('.') && mark.len() <= 11 && !mark.contains(' '));
        if only_mark { Ok(()) } else { self.open(BlockKind::Paragraph) }
    }

    fn open(&mut self, kind: BlockKind) -> Result<(), ParseError> {
        if self.in_cell {
            if !self.text.is_empty() && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
            return Ok(());
        }
        self.flush()?;
        self.kind = kind;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ParseError> {
        if self.in_cell {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        let empty_item = self.kind == BlockKind::ListItem && matches!(text.trim(), "-");
        if !empty_item {
            self.writer.block(self.kind, &text)?;
        }
        Ok(())
    }

    fn flush_cell(&mut self) {
        if self.in_cell {
            self.cells.push(std::mem::take(&mut self.text).trim().to_owned());
            self.in_cell = false;
        }
    }

    fn flush_row(&mut self) -> Result<(), ParseError> {
        self.flush_cell();
        // What stands in a table and in no cell, such as its caption.
        self.flush()?;
        let cells = std::mem::take(&mut self.cells);
        self.writer.block(BlockKind::TableRow, &row(&cells)).map(drop)
    }
}
