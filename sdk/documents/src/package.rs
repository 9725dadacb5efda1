//! [`Package`]: the parts of an Office document in their archive. It owns what
//! unpacking may cost; it never believes a size that the archive claims, never
//! opens an archive within, and never writes a name anywhere.

use std::cell::Cell;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::text::{self, short};
use crate::{Format, Limits, ParseError};

/// An archive, and how much may still be unpacked of it.
pub(crate) struct Package<'bytes> {
    format: Format,
    archive: ZipArchive<Cursor<&'bytes [u8]>>,
    left: Cell<usize>,
    limit: usize,
}

impl<'bytes> Package<'bytes> {
    /// Opens the archive of an Office document.
    pub(crate) fn open(format: Format, bytes: &'bytes [u8], limits: &Limits) -> Result<Self, ParseError> {
        // What Office encrypts is wrapped in the container of its old formats.
        if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(if find(bytes, &utf16("EncryptedPackage")) {
                ParseError::Encrypted { format }
            } else {
                ParseError::OtherFormat { format, problem: "it is of an Office version before 2007".into() }
            });
        }
        if !bytes.starts_with(b"PK") {
            return Err(ParseError::OtherFormat { format, problem: "it is not an archive".into() });
        }
        // The library sizes its tables by the directory that it reads, so its
        // length is what has to be bounded beforehand: 46 bytes each at least.
        let entries = count(bytes, b"PK\x01\x02", limits.parts);
        if entries > limits.parts {
            return Err(ParseError::Limit { what: "parts in the archive", limit: limits.parts });
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(format, &error))?;
        if archive.len() > limits.parts {
            return Err(ParseError::Limit { what: "parts in the archive", limit: limits.parts });
        }
        let package = Self { format, archive, left: Cell::new(limits.unpacked_bytes), limit: limits.unpacked_bytes };
        if !package.has("[Content_Types].xml") {
            let problem = "it is an archive, but not of an Office document".into();
            return Err(ParseError::OtherFormat { format, problem });
        }
        Ok(package)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    /// A part as text, or nothing where there is none.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<String>, ParseError> {
        let format = self.format;
        let mut entry = match self.archive.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(damaged(format, &error)),
        };
        let mut bytes = Vec::new();
        let left = self.left.get();
        let read = (&mut entry).take(left as u64 + 1).read_to_end(&mut bytes);
        if bytes.len() > left {
            return Err(ParseError::Limit { what: "unpacked bytes", limit: self.limit });
        }
        self.left.set(left - bytes.len());
        read.map_err(|error| ParseError::Damaged { format, problem: format!("the part `{}`: {error}", short(name)) })?;
        xml_text(format, name, bytes).map(Some)
    }

    /// A part as text that has to be there.
    pub(crate) fn needed(&mut self, name: &str) -> Result<String, ParseError> {
        self.part(name)?.ok_or_else(|| ParseError::Damaged {
            format: self.format,
            problem: format!("the part `{}` is missing", short(name)),
        })
    }

    /// How many parts there are whose names begin and end so.
    pub(crate) fn count(&self, start: &str, endings: &[&str]) -> usize {
        self.archive
            .file_names()
            .flatten()
            .filter(|name| name.starts_with(start) && endings.iter().any(|ending| name.ends_with(ending)))
            .count()
    }
}

/// Office writes UTF-8; the standard allows UTF-16 as well.
fn xml_text(format: Format, name: &str, bytes: Vec<u8>) -> Result<String, ParseError> {
    let unreadable =
        || ParseError::Damaged { format, problem: format!("the part `{}` is neither UTF-8 nor UTF-16", short(name)) };
    if let Some(text) = text::utf16(&bytes) {
        return text.ok_or_else(unreadable);
    }
    let mut text = String::from_utf8(bytes).map_err(|_| unreadable())?;
    if text.starts_with('\u{FEFF}') {
        text.drain(..3);
    }
    Ok(text)
}

fn damaged(format: Format, error: &ZipError) -> ParseError {
    match error {
        ZipError::UnsupportedArchive(problem) if problem.contains("assword") => ParseError::Encrypted { format },
        error => ParseError::Damaged { format, problem: format!("the archive: {error}") },
    }
}

/// How often a signature occurs, up to one more than `most`.
fn count(bytes: &[u8], signature: &[u8], most: usize) -> usize {
    memchr::memmem::find_iter(bytes, signature).take(most + 1).count()
}

fn find(bytes: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(bytes, needle).is_some()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}
