//! What a document is, by its name, its MIME type and how its content begins.

use crate::text::{short, utf16};
use crate::{
    Format::{self, Docx, Html, Pdf, Pptx, Xlsx},
    ParseError,
};

/// Where a PDF may begin: some have a few bytes of something else before.
const PDF_WITHIN: usize = 1024;

impl Format {
    /// What a document is: by the extension of its name, else by its MIME type,
    /// else by how its content begins. Other texts, such as source code, are
    /// plain text.
    ///
    /// # Errors
    /// [`ParseError::UnknownFormat`] where none of them says, and
    /// [`ParseError::OtherFormat`] where the content is plainly something else
    /// than its name or type says.
    pub fn detect(name: Option<&str>, mime: Option<&str>, bytes: &[u8]) -> Result<Self, ParseError> {
        let named = name.and_then(Self::by_name).or_else(|| mime.and_then(Self::by_mime));
        match (named, ContentGuess::of(bytes)) {
            (Some(format), content) => content.check(format).map(|()| format),
            (None, ContentGuess::Known(format)) => Ok(format),
            // Source code, logs, settings: any text can be read as one.
            (None, ContentGuess::SomeText) => Ok(Self::Text),
            (None, content) => {
                let name = name.map(short).unwrap_or_default();
                let looked =
                    if name.is_empty() { "it has no name".to_owned() } else { format!("the name is `{name}`") };
                Err(ParseError::UnknownFormat { problem: format!("{looked}, and the content is {content}") })
            }
        }
    }

    /// Whether the content begins as the format must.
    pub(crate) fn check(self, bytes: &[u8]) -> Result<(), ParseError> {
        ContentGuess::of(bytes).check(self)
    }
}

/// What the content says that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentGuess {
    Known(Format),
    /// An archive, but of no Office document that is known.
    Archive,
    /// An Office document of before 2007, or one that is encrypted.
    OldOffice,
    /// Something with zero bytes in it.
    Binary,
    /// A text that could be any of the text formats.
    SomeText,
    Nothing,
}

impl ContentGuess {
    fn of(bytes: &[u8]) -> Self {
        let has = |needle: &str| memchr::memmem::find(bytes, needle.as_bytes()).is_some();
        if bytes.is_empty() {
            return Self::Nothing;
        }
        if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
            // The directory of an archive has its names as they are.
            return match () {
                () if has("word/document") => Self::Known(Docx),
                () if has("xl/workbook") => Self::Known(Xlsx),
                () if has("ppt/presentation") => Self::Known(Pptx),
                () => Self::Archive,
            };
        }
        if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
            return Self::OldOffice;
        }
        if bytes.starts_with(b"%PDF-") {
            return Self::Known(Pdf);
        }
        if utf16(&bytes[..bytes.len().min(2)]).is_none() && memchr::memchr(0, bytes).is_some() {
            let head = &bytes[..bytes.len().min(PDF_WITHIN)];
            return match memchr::memmem::find(head, b"%PDF-") {
                Some(_) => Self::Known(Pdf),
                None => Self::Binary,
            };
        }
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
        let head = text[..text.len().min(64)].to_ascii_lowercase();
        match () {
            () if head.starts_with(b"<!doctype html") || head.starts_with(b"<html") => Self::Known(Html),
            () => Self::SomeText,
        }
    }

    /// Whether content like this can be of a format.
    fn check(self, format: Format) -> Result<(), ParseError> {
        let binary = !format.is_text();
        let fits = match self {
            Self::Known(found) if !found.is_text() => found == format,
            // An archive or an encrypted document gets a better answer when it is opened.
            Self::Archive | Self::OldOffice => matches!(format, Docx | Xlsx | Pptx),
            Self::Binary => format == Pdf,
            // A PDF may have a few lines before it begins.
            Self::Known(_) | Self::SomeText => !binary || format == Pdf,
            Self::Nothing => !binary,
        };
        if fits { Ok(()) } else { Err(ParseError::OtherFormat { format, problem: format!("the content is {self}") }) }
    }
}

impl std::fmt::Display for ContentGuess {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(format) => write!(formatter, "{}", format.name()),
            Self::Archive => formatter.write_str("an archive of something else"),
            Self::OldOffice => formatter.write_str("an Office document that is encrypted or from before 2007"),
            Self::Binary => formatter.write_str("binary"),
            Self::SomeText => formatter.write_str("some text"),
            Self::Nothing => formatter.write_str("empty"),
        }
    }
}
