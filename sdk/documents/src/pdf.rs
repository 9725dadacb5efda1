//! PDF: the text of each page in the order in which it is drawn, in lines and
//! paragraphs by where it stands. Pictures of text stay pictures.
//!
//! The syntax is read here and not by a library: those that were looked at
//! unpack without a limit, or build every object of the file at once, so that a
//! small file takes gigabytes, or fill tables for whatever range a font claims.
//! The book's chapter on decisions has the figures.

mod cmap;
mod content;
mod file;
mod filter;
mod font;
mod glyphs;
mod lexer;
mod pages;
mod simple;

use crate::writer::TextWriter;
use crate::{BlockKind, Format, Limits, ParseError, Parsed};

use file::File;
use lexer::Object;

const FORMAT: Format = Format::Pdf;

pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    if memchr::memmem::find(&bytes[..bytes.len().min(1024)], b"%PDF-").is_none() {
        return Err(ParseError::OtherFormat { format: FORMAT, problem: "it does not begin like one".into() });
    }
    let file = File::open(bytes, limits)?;
    let mut writer = TextWriter::new(limits);
    if let Some(information) = file.dictionary(file.trailer(), "Info")
        && let Object::String(title) = file.entry(&information, "Title")
    {
        let title = text_string(&title);
        // What libraries write where nobody gave a title.
        if !matches!(title.trim(), "(anonymous)" | "untitled") {
            writer.title(&title);
        }
    }
    let pages = pages::all(&file, limits)?;
    if pages.is_empty() {
        return Err(ParseError::Damaged { format: FORMAT, problem: "it has no pages that could be found".into() });
    }
    let mut reader = content::ContentReader::new(&file, limits);
    let mut empty = Vec::new();
    for (number, page) in (1_u32..).zip(&pages) {
        writer.page(number);
        let mut any = false;
        let text = reader.page(page)?;
        for paragraph in text.split("\n\n") {
            any |= writer.block(BlockKind::Paragraph, paragraph)?;
        }
        if !any {
            empty.push(number);
        }
    }
    if file.exhausted() {
        return Err(ParseError::Limit { what: "bytes of objects to read", limit: limits.unpacked_bytes });
    }
    if !empty.is_empty() {
        let some: Vec<String> = empty.iter().take(10).map(u32::to_string).collect();
        let more = if empty.len() > some.len() { " and others" } else { "" };
        let word = if empty.len() == 1 { "page" } else { "pages" };
        writer.warn(format!("no text on {word} {}{more}; pictures of text are not read", some.join(", ")));
    }
    if reader.unknown > 0 {
        let unknown = reader.unknown;
        writer.warn(format!("{unknown} characters were left out, because their font does not say what they are"));
    }
    Ok(writer.finish(FORMAT))
}

/// A string of the document itself, such as its title.
fn text_string(bytes: &[u8]) -> String {
    match crate::text::utf16(bytes) {
        Some(text) => text.unwrap_or_default(),
        None => match std::str::from_utf8(bytes) {
            Ok(text) => text.trim_start_matches('\u{FEFF}').to_owned(),
            Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
        },
    }
}
