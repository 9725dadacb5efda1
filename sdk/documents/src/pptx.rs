//! Presentations: the slides in the order in which they are shown, with titles
//! as headings, then what stands on them, then the speaker's notes.

use crate::package::Package;
use crate::relations::{main_part, relations, title};
use crate::writer::{TextWriter, row, warn_pictures};
use crate::xml::{Node, Nodes};
use crate::{BlockKind, Format, Limits, ParseError, Parsed};

const FORMAT: Format = Format::Pptx;

pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    let mut package = Package::open(FORMAT, bytes, limits)?;
    let main = main_part(&mut package, FORMAT, "ppt/presentation.xml", limits)?;
    let mut writer = TextWriter::new(limits);
    if let Some(title) = title(&mut package, FORMAT, limits)? {
        writer.title(&title);
    }
    let slides = relations(&mut package, FORMAT, &main, limits)?;
    let mut pictures = 0;
    for (index, id) in slide_ids(&mut package, &main, limits)?.iter().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        writer.page(number);
        let Some(part) = slides.get(id).map(|slide| &slide.part) else {
            writer.warn(format!("slide {number} is missing"));
            continue;
        };
        let Some(text) = package.part(part)? else {
            writer.warn(format!("slide {number} is missing"));
            continue;
        };
        let slide = shapes(part, &text, limits)?;
        drop(text);
        pictures += slide.pictures;
        let titles: Vec<&str> =
            slide.said.iter().filter(|said| said.place == TextRole::Title).map(SlideText::trimmed).collect();
        let title = titles.join(" ");
        writer.title(&title);
        let heading = if title.is_empty() { format!("Slide {number}") } else { title.replace('\n', " ") };
        writer.block(BlockKind::Heading(1), &heading)?;
        for said in slide.said {
            match said.place {
                TextRole::Title => {}
                TextRole::Outline => {
                    let line = format!("{}- {}", "  ".repeat(said.indent), said.trimmed());
                    writer.block(BlockKind::ListItem, if said.trimmed().is_empty() { "" } else { &line })?;
                }
                TextRole::Row => drop(writer.block(BlockKind::TableRow, &said.text)?),
                TextRole::Free | TextRole::Small => drop(writer.block(BlockKind::Paragraph, &said.text)?),
            }
        }
        let related = relations(&mut package, FORMAT, part, limits)?;
        if let Some(notes) = related.values().find(|relation| relation.kind == "notesSlide")
            && let Some(text) = package.part(&notes.part)?
        {
            let said = shapes(&notes.part, &text, limits)?.said;
            // The picture of the slide, its number and the date are no notes.
            let said: Vec<&str> =
                said.iter().filter(|said| said.place == TextRole::Outline).map(SlideText::trimmed).collect();
            let said = said.join("\n");
            if !said.trim().is_empty() {
                writer.block(BlockKind::Paragraph, &format!("Notes: {}", said.trim()))?;
            }
        }
    }
    warn_pictures(&mut writer, pictures);
    Ok(writer.finish(FORMAT))
}

/// The ids of the slides, in order.
fn slide_ids(package: &mut Package<'_>, main: &str, limits: &Limits) -> Result<Vec<String>, ParseError> {
    let text = package.needed(main)?;
    let mut nodes = Nodes::new(FORMAT, main, &text, limits);
    let mut ids = Vec::new();
    while let Some(node) = nodes.next()? {
        if let Node::Start(element) = node
            && element.name() == "sldId"
            && let Some(id) = element.exact_attribute("r:id")
            // A slide that is named twice would be unpacked and read again.
            && !ids.contains(&id)
        {
            if ids.len() >= limits.parts.min(10_000) {
                return Err(ParseError::Limit { what: "slides", limit: limits.parts.min(10_000) });
            }
            ids.push(id);
        }
    }
    Ok(ids)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextRole {
    Title,
    /// A placeholder for the text of the slide, or of the notes.
    Outline,
    /// Date, number and footer.
    Small,
    /// A box of its own.
    Free,
    Row,
}

struct SlideText {
    place: TextRole,
    indent: usize,
    text: String,
}

impl SlideText {
    fn trimmed(&self) -> &str {
        self.text.trim()
    }
}

#[derive(Default)]
struct Slide {
    said: Vec<SlideText>,
    pictures: usize,
}

/// Reads what stands on a slide.
fn shapes(part: &str, text: &str, limits: &Limits) -> Result<Slide, ParseError> {
    let mut nodes = Nodes::new(FORMAT, part, text, limits);
    let mut slide = Slide::default();
    let mut place = TextRole::Free;
    let mut paragraph: Option<SlideText> = None;
    let (mut cells, mut cell): (Vec<String>, Option<String>) = (Vec::new(), None);
    let (mut in_text, mut skipped) = (false, 0_usize);
    while let Some(node) = nodes.next()? {
        match node {
            Node::Start(_) if skipped > 0 => skipped += 1,
            Node::End(_) if skipped > 0 => skipped -= 1,
            Node::Text(_) if skipped > 0 => {}
            Node::Start(element) => match element.name() {
                // The same again for older programs.
                "Fallback" => skipped = 1,
                "sp" | "graphicFrame" => place = TextRole::Free,
                "ph" => {
                    place = match element.attribute("type").as_deref() {
                        Some("title" | "ctrTitle") => TextRole::Title,
                        Some("dt" | "sldNum" | "ftr" | "hdr") => TextRole::Small,
                        Some("sldImg") => TextRole::Free,
                        _ => TextRole::Outline,
                    }
                }
                "pic" => slide.pictures += 1,
                "tr" => cells.clear(),
                "tc" => cell = Some(String::new()),
                "p" => paragraph = Some(SlideText { place, indent: 0, text: String::new() }),
                "pPr" => {
                    if let Some(paragraph) = &mut paragraph {
                        let level = element.attribute("lvl").and_then(|level| level.parse().ok());
                        paragraph.indent = level.unwrap_or(0).min(8);
                    }
                }
                "t" => in_text = true,
                "br" => {
                    if let Some(paragraph) = &mut paragraph {
                        paragraph.text.push('\n');
                    }
                }
                _ => {}
            },
            Node::Text(text) => {
                if let (true, Some(paragraph)) = (in_text, &mut paragraph) {
                    paragraph.text.push_str(&text);
                }
            }
            Node::End(name) => match name.as_str() {
                "t" => in_text = false,
                "p" => match (paragraph.take(), &mut cell) {
                    (Some(said), Some(cell)) => {
                        if !cell.is_empty() && !said.trimmed().is_empty() {
                            cell.push(' ');
                        }
                        cell.push_str(&said.trimmed().replace('\n', " "));
                    }
                    (Some(said), None) => slide.said.push(said),
                    (None, _) => {}
                },
                "tc" => cells.extend(cell.take()),
                "tr" => slide.said.push(SlideText { place: TextRole::Row, indent: 0, text: row(&cells) }),
                _ => {}
            },
        }
    }
    // The number of the slide says nothing about it.
    slide.said.retain(|said| said.place != TextRole::Small || said.text.chars().any(char::is_alphabetic));
    Ok(slide)
}
