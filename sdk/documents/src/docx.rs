//! Word processing documents: paragraphs, headings, lists, tables by rows,
//! footnotes. What was deleted with tracked changes, headers, footers and
//! comments are left out.

mod body;
mod styles;

use crate::package::Package;
use crate::relations::{main_part, relations, title};
use crate::writer::TextWriter;
use crate::{BlockKind, Format, Limits, ParseError, Parsed};

const FORMAT: Format = Format::Docx;

pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    let mut package = Package::open(FORMAT, bytes, limits)?;
    let main = main_part(&mut package, FORMAT, "word/document.xml", limits)?;
    let relations = relations(&mut package, FORMAT, &main, limits)?;
    let part_of = |kind: &str| relations.values().find(|relation| relation.kind == kind).map(|it| it.part.clone());

    let mut writer = TextWriter::new(limits);
    if let Some(title) = title(&mut package, FORMAT, limits)? {
        writer.title(&title);
    }
    let styles = match part_of("styles") {
        Some(part) => styles::read(&mut package, &part, limits)?,
        None => styles::Styles::default(),
    };
    let text = package.needed(&main)?;
    let mut pictures = body::read(&main, &text, &styles, limits, &mut |block| {
        if block.is_title {
            writer.title(&block.text);
        }
        writer.block(block.kind, &block.text).map(drop)
    })?;
    drop(text);
    for kind in ["footnotes", "endnotes"] {
        let Some(part) = part_of(kind) else { continue };
        let Some(text) = package.part(&part)? else { continue };
        pictures += body::read(&part, &text, &styles, limits, &mut |block| {
            writer.block(BlockKind::Paragraph, &block.text).map(drop)
        })?;
    }
    crate::writer::warn_pictures(&mut writer, pictures);
    Ok(writer.finish(FORMAT))
}
