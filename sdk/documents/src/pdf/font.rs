//! [`Font`]: from the bytes that are shown to characters, and how wide they are.

use encoding_rs::Encoding;

use super::cmap::ToUnicode;
use super::file::File;
use super::lexer::{Dictionary, Object};
use super::simple;
use crate::ParseError;

/// What the codes of a font are.
enum FontCodes {
    /// One byte each.
    Single(Vec<Option<char>>),
    /// Two bytes each, which only the document can explain.
    Glyphs,
    /// UTF-16, as in the maps of Adobe whose names begin with `Uni`.
    Utf16,
    /// A legacy encoding of East Asia.
    Legacy(&'static Encoding),
}

pub(super) struct Font {
    codes: FontCodes,
    unicode: ToUnicode,
    /// First code, last code and width, in thousandths of the size.
    widths: Vec<(u32, u32, f64)>,
    usual: f64,
    /// Whether the document says how wide characters are.
    pub(super) exact: bool,
}

/// What a string shows.
#[derive(Default)]
pub(super) struct ShownString {
    pub(super) text: String,
    /// Width, in thousandths of the size.
    pub(super) width: f64,
    /// How many codes there are, and how many of them are a blank of one byte.
    pub(super) codes: usize,
    pub(super) blanks: usize,
    /// How many codes mean nothing that is known.
    pub(super) unknown: usize,
}

impl Font {
    pub(super) fn read<'file>(file: &'file File<'_>, font: &Dictionary<'file>) -> Result<Self, ParseError> {
        let unicode = match font.get("ToUnicode").and_then(|reference| file.stream(reference)) {
            Some(stream) => ToUnicode::parse(&file.data(&stream)?.unwrap_or_default()),
            None => ToUnicode::default(),
        };
        if font.get("Subtype").and_then(Object::name) == Some(b"Type0") {
            return Ok(Self::composite(file, font, unicode));
        }
        let first = file.entry(font, "FirstChar").size().unwrap_or(0);
        let mut widths = Vec::new();
        if let Object::Array(array) = file.entry(font, "Widths") {
            for (code, width) in (first..256).zip(array) {
                if let (Ok(code), Object::Number(width)) = (u32::try_from(code), file.resolve(width)) {
                    widths.push((code, code, width));
                }
            }
        }
        let codes = FontCodes::Single(simple::table(file, font));
        Ok(Self { codes, unicode, exact: !widths.is_empty(), widths, usual: 500.0 })
    }

    fn composite<'file>(file: &'file File<'_>, font: &Dictionary<'file>, unicode: ToUnicode) -> Self {
        let encoding = file.entry(font, "Encoding");
        let codes = match encoding.name() {
            Some(name) => of_name(name),
            None => FontCodes::Glyphs,
        };
        let descendant = match file.entry(font, "DescendantFonts") {
            Object::Array(fonts) => fonts.into_iter().next().map_or(Object::Null, |font| file.resolve(font)),
            _ => Object::Null,
        };
        let (mut widths, mut usual) = (Vec::new(), 1_000.0);
        // Other codes are not those that the widths are given for.
        if let (FontCodes::Glyphs, Object::Dictionary(descendant)) = (&codes, &descendant) {
            if let Object::Number(width) = file.entry(descendant, "DW") {
                usual = width;
            }
            if let Object::Array(array) = file.entry(descendant, "W") {
                widths = composite_widths(file, array);
            }
        }
        let exact = matches!(codes, FontCodes::Glyphs);
        Self { codes, unicode, widths, usual, exact }
    }

    fn width(&self, code: u32) -> f64 {
        let after = self.widths.partition_point(|(first, ..)| *first <= code);
        let found = self.widths[..after].last().filter(|(_, last, _)| code <= *last);
        found.map_or(self.usual, |(.., width)| *width)
    }

    pub(super) fn show(&self, bytes: &[u8]) -> ShownString {
        let mut shown = ShownString::default();
        match &self.codes {
            FontCodes::Single(table) => {
                for byte in bytes {
                    let code = u32::from(*byte);
                    shown.codes += 1;
                    shown.blanks += usize::from(*byte == b' ');
                    shown.width += self.width(code);
                    if !self.unicode.push(code, &mut shown.text) {
                        match table.get(usize::from(*byte)).copied().flatten() {
                            Some(character) => shown.text.push(character),
                            None => shown.unknown += 1,
                        }
                    }
                }
            }
            FontCodes::Glyphs | FontCodes::Utf16 => self.show_pairs(bytes, &mut shown),
            FontCodes::Legacy(encoding) => {
                shown.text = encoding.decode_without_bom_handling(bytes).0.into_owned();
                shown.codes = shown.text.chars().count();
                shown.width = shown.text.chars().map(|c| if c.is_ascii() { 500.0 } else { 1_000.0 }).sum();
            }
        }
        shown
    }

    fn show_pairs(&self, bytes: &[u8], shown: &mut ShownString) {
        let pairs = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        for pair in pairs.clone() {
            shown.codes += 1;
            shown.width += self.width(u32::from(pair));
        }
        if matches!(self.codes, FontCodes::Utf16) && self.unicode.is_empty() {
            shown.text.extend(char::decode_utf16(pairs).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
            return;
        }
        for pair in pairs {
            shown.unknown += usize::from(!self.unicode.push(u32::from(pair), &mut shown.text));
        }
    }
}

/// The codes of one of Adobe's maps, by its name.
fn of_name(name: &[u8]) -> FontCodes {
    let name = String::from_utf8_lossy(name);
    match () {
        () if name.contains("UCS2") || name.contains("UTF16") => FontCodes::Utf16,
        () if name.starts_with("KSC") => FontCodes::Legacy(encoding_rs::EUC_KR),
        () if name.contains("RKSJ") => FontCodes::Legacy(encoding_rs::SHIFT_JIS),
        () if name.starts_with("GBK2K") => FontCodes::Legacy(encoding_rs::GB18030),
        () if name.starts_with("GB") => FontCodes::Legacy(encoding_rs::GBK),
        () if name.contains("B5") => FontCodes::Legacy(encoding_rs::BIG5),
        () if name.starts_with("EUC") => FontCodes::Legacy(encoding_rs::EUC_JP),
        () => FontCodes::Glyphs,
    }
}

/// `first [width …]` and `first last width`, one after the other.
fn composite_widths<'file>(file: &'file File<'_>, array: Vec<Object<'file>>) -> Vec<(u32, u32, f64)> {
    let mut widths = Vec::new();
    let mut array = array.into_iter().map(|object| file.resolve(object));
    let code = |object: &Object<'_>| object.size().and_then(|code| u32::try_from(code).ok());
    while let Some(first) = array.next().as_ref().and_then(code) {
        match array.next() {
            Some(Object::Array(each)) => {
                for (code, width) in (first..).zip(each) {
                    if let Object::Number(width) = file.resolve(width) {
                        widths.push((code, code, width));
                    }
                }
            }
            Some(last) => match (code(&last), array.next()) {
                (Some(last), Some(Object::Number(width))) => widths.push((first, last, width)),
                _ => break,
            },
            None => break,
        }
    }
    widths.sort_by_key(|(first, ..)| *first);
    widths
}
