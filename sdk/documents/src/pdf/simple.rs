//! Fonts whose codes are single bytes: which character each of them is.

use super::file::File;
use super::glyphs;
use super::lexer::{Dictionary, Object};

/// Where the standard encoding of Adobe is not that of Windows.
const STANDARD: [(u8, char); 14] = [
    (0x27, '’'),
    (0x60, '‘'),
    (0xA4, '⁄'),
    (0xA6, 'ƒ'),
    (0xA9, '\''),
    (0xAA, '“'),
    (0xAC, '‹'),
    (0xAD, '›'),
    (0xAE, 'ﬁ'),
    (0xAF, 'ﬂ'),
    (0xB1, '–'),
    (0xB7, '•'),
    (0xBA, '”'),
    (0xD0, '—'),
];

/// The characters of a font's codes.
pub(super) fn table<'file>(file: &'file File<'_>, font: &Dictionary<'file>) -> Vec<Option<char>> {
    let encoding = file.entry(font, "Encoding");
    let (base, differences) = match &encoding {
        Object::Dictionary(encoding) => (file.entry(encoding, "BaseEncoding"), file.entry(encoding, "Differences")),
        _ => (encoding, Object::Null),
    };
    let is_type1 = font.get("Subtype").and_then(Object::name) == Some(b"Type1");
    let codec = match base.name() {
        Some(b"MacRomanEncoding") => encoding_rs::MACINTOSH,
        _ => encoding_rs::WINDOWS_1252,
    };
    let bytes: Vec<u8> = (0..=255).collect();
    let decoded = codec.decode_without_bom_handling(&bytes).0;
    let mut table: Vec<Option<char>> = decoded.chars().map(|c| (!c.is_control()).then_some(c)).collect();
    table.resize(256, None);
    if base.name() == Some(b"StandardEncoding") || (base.name().is_none() && is_type1) {
        for (code, character) in STANDARD {
            table[usize::from(code)] = Some(character);
        }
    }
    if let Object::Array(differences) = differences {
        let mut code = 0_usize;
        for difference in differences.iter().take(1_024) {
            match difference {
                Object::Number(_) => code = difference.size().unwrap_or(256),
                Object::Name(name) => {
                    if let Some(place) = table.get_mut(code) {
                        *place = glyphs::character(name);
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
    }
    table
}
