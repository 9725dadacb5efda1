//! The body of a document, read in one pass. It knows paragraphs, cells and
//! rows, and hands out blocks; it keeps only what is open.

use super::styles::{Styles, level};
use crate::text::cut;
use crate::xml::{Element, Node, Nodes};
use crate::{BlockKind, Format, Limits, ParseError};

/// What the body says at one place.
pub(super) struct BodyBlock {
    pub(super) kind: BlockKind,
    pub(super) text: String,
    pub(super) is_title: bool,
}

/// What is open: a paragraph in a cell of a row, and so on.
enum OpenElement {
    Paragraph(Paragraph),
    Row {
        cells: Vec<String>,
        deleted: bool,
    },
    Cell(String),
    /// A footnote, with what to put before its text.
    Note(Option<String>),
}

#[derive(Default)]
struct Paragraph {
    text: String,
    style: Option<String>,
    level: Option<u8>,
    /// Depth in a list; `Some(None)` says that it is in none, whatever its style.
    list: Option<Option<usize>>,
    indent: usize,
}

struct Body<'a> {
    styles: &'a Styles,
    say: &'a mut dyn FnMut(BodyBlock) -> Result<(), ParseError>,
    open: Vec<OpenElement>,
    /// Names of the elements around, to tell a tabulator from its settings.
    around: Vec<String>,
    /// How many elements are open in one that is left out.
    skipped: usize,
    pictures: usize,
}

/// Reads a body and says how many pictures it has.
pub(super) fn read(
    part: &str,
    text: &str,
    styles: &Styles,
    limits: &Limits,
    say: &mut dyn FnMut(BodyBlock) -> Result<(), ParseError>,
) -> Result<usize, ParseError> {
    let mut body = Body { styles, say, open: Vec::new(), around: Vec::new(), skipped: 0, pictures: 0 };
    let mut nodes = Nodes::new(Format::Docx, part, text, limits);
    while let Some(node) = nodes.next()? {
        match node {
            Node::Start(_) if body.skipped > 0 => body.skipped += 1,
            Node::End(_) if body.skipped > 0 => body.skipped -= 1,
            Node::Text(_) if body.skipped > 0 => {}
            Node::Start(element) => body.start(&element),
            Node::End(name) => {
                body.around.pop();
                body.end(&name)?;
            }
            Node::Text(text) => {
                if body.around.last().is_some_and(|name| name == "t") {
                    body.push(&text);
                }
            }
        }
    }
    Ok(body.pictures)
}

impl Body<'_> {
    fn start(&mut self, element: &Element<'_>) {
        let name = element.name();
        let parent = self.around.last().cloned().unwrap_or_default();
        let parent = parent.as_str();
        match (name, parent) {
            ("del", "trPr") => {
                if let Some(OpenElement::Row { deleted, .. }) = self.open.last_mut() {
                    *deleted = true;
                }
            }
            // What was deleted, what moved elsewhere, and a second drawing of
            // the same for older programs.
            ("del" | "moveFrom" | "Fallback", _) => {
                self.skipped = 1;
                return;
            }
            ("p", _) => self.open.push(OpenElement::Paragraph(Paragraph::default())),
            ("tr", _) => self.open.push(OpenElement::Row { cells: Vec::new(), deleted: false }),
            ("tc", _) => self.open.push(OpenElement::Cell(String::new())),
            ("footnote" | "endnote", _) => {
                // Those with a type are the lines between text and notes.
                if element.attribute("type").is_some_and(|kind| kind != "normal") {
                    self.skipped = 1;
                    return;
                }
                self.open.push(OpenElement::Note(element.attribute("id").map(|id| format!("[^{}] ", short_id(&id)))));
            }
            ("footnoteReference" | "endnoteReference", _) => {
                let id = element.attribute("id").unwrap_or_default();
                self.push(&format!("[^{}]", short_id(&id)));
            }
            ("tab", "r") | ("ptab", _) => self.push("\t"),
            ("br" | "cr", "r") => self.push("\n"),
            ("noBreakHyphen", _) => self.push("-"),
            ("blip", _) => self.pictures += 1,
            _ => self.property(name, parent, element),
        }
        self.around.push(name.to_owned());
    }

    /// What the settings of a paragraph say.
    fn property(&mut self, name: &str, parent: &str, element: &Element<'_>) {
        let Some(OpenElement::Paragraph(paragraph)) = self.open.last_mut() else { return };
        let value = || element.attribute("val").unwrap_or_default();
        match (name, parent) {
            ("pStyle", "pPr") => paragraph.style = Some(value()),
            ("outlineLvl", "pPr") => paragraph.level = level(&value()),
            ("ilvl", "numPr") => paragraph.indent = value().parse().unwrap_or(0).min(8),
            ("numId", "numPr") => paragraph.list = Some((value() != "0").then_some(0)),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(OpenElement::Paragraph(paragraph)) = self.open.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn end(&mut self, name: &str) -> Result<(), ParseError> {
        let closes = matches!(
            (name, self.open.last()),
            ("p", Some(OpenElement::Paragraph(_)))
                | ("tr", Some(OpenElement::Row { .. }))
                | ("tc", Some(OpenElement::Cell(_)))
                | ("footnote" | "endnote", Some(OpenElement::Note(_)))
        );
        if !closes {
            return Ok(());
        }
        match self.open.pop() {
            Some(OpenElement::Paragraph(paragraph)) => self.paragraph(paragraph),
            Some(OpenElement::Cell(text)) => {
                if let Some(OpenElement::Row { cells, .. }) = self.open.last_mut() {
                    cells.push(text);
                }
                Ok(())
            }
            Some(OpenElement::Row { cells, deleted: false }) => {
                let text = crate::writer::row(&cells);
                match self.cell() {
                    Some(cell) => join(cell, &text),
                    None => return (self.say)(BodyBlock { kind: BlockKind::TableRow, text, is_title: false }),
                }
                Ok(())
            }
            Some(OpenElement::Row { .. } | OpenElement::Note(_)) | None => Ok(()),
        }
    }

    fn paragraph(&mut self, paragraph: Paragraph) -> Result<(), ParseError> {
        if let Some(cell) = self.cell() {
            join(cell, &paragraph.text);
            return Ok(());
        }
        let mut text = paragraph.text;
        if text.trim().is_empty() {
            return Ok(());
        }
        if let Some(OpenElement::Note(mark)) = self.open.last_mut() {
            let mark = mark.take().unwrap_or_default();
            text = format!("{mark}{}", text.trim_start());
            return (self.say)(BodyBlock { kind: BlockKind::Paragraph, text, is_title: false });
        }
        let style = paragraph.style.as_deref().unwrap_or_default();
        let heading = paragraph.level.or_else(|| self.styles.heading(style));
        let in_list = match paragraph.list {
            Some(list) => list.is_some(),
            None => self.styles.is_list(style),
        };
        let kind = match heading {
            Some(level) => BlockKind::Heading(level),
            None if in_list => {
                text = format!("{}- {}", "  ".repeat(paragraph.indent), text.trim_start());
                BlockKind::ListItem
            }
            None => BlockKind::Paragraph,
        };
        (self.say)(BodyBlock { kind, text, is_title: self.styles.is_title(style) })
    }

    /// The cell around, where what is open stands in one.
    fn cell(&mut self) -> Option<&mut String> {
        self.open.iter_mut().rev().find_map(|open| match open {
            OpenElement::Cell(text) => Some(text),
            _ => None,
        })
    }
}

fn join(cell: &mut String, text: &str) {
    let text = text.trim();
    if !cell.is_empty() && !text.is_empty() {
        cell.push(' ');
    }
    cell.extend(text.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { c }));
}

fn short_id(id: &str) -> &str {
    cut(id, 12)
}
