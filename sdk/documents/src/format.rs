//! [`Format`]: what a document is, with its names and MIME types.

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Plain text.
    Text,
    /// Markdown (CommonMark with tables).
    Markdown,
    /// Comma-separated values; tabs, semicolons and bars separate as well.
    Csv,
    /// HTML.
    Html,
    /// JSON, and JSON lines.
    Json,
    /// Word processing, Office Open XML.
    Docx,
    /// Spreadsheets, Office Open XML.
    Xlsx,
    /// Presentations, Office Open XML.
    Pptx,
    /// PDF.
    Pdf,
}

use Format::{Csv, Docx, Html, Json, Markdown, Pdf, Pptx, Text, Xlsx};

/// Format, MIME type, and extensions, the usual one first.
const FORMATS: [(Format, &str, &[&str]); 9] = [
    (Text, "text/plain", &["txt", "text", "log"]),
    (Markdown, "text/markdown", &["md", "markdown"]),
    (Csv, "text/csv", &["csv", "tsv"]),
    (Html, "text/html", &["html", "htm", "xhtml"]),
    (Json, "application/json", &["json", "jsonl", "ndjson"]),
    (Docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", &["docx", "docm"]),
    (Xlsx, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &["xlsx", "xlsm"]),
    (Pptx, "application/vnd.openxmlformats-officedocument.presentationml.presentation", &["pptx", "pptm"]),
    (Pdf, "application/pdf", &["pdf"]),
];

/// Other MIME types that are in use.
const OTHER_TYPES: [(&str, Format); 8] = [
    ("text/x-markdown", Markdown),
    ("application/csv", Csv),
    ("text/tab-separated-values", Csv),
    ("application/xhtml+xml", Html),
    ("text/json", Json),
    ("application/jsonl", Json),
    ("application/x-ndjson", Json),
    ("application/x-pdf", Pdf),
];

impl Format {
    /// All formats.
    pub const ALL: [Self; 9] = [Text, Markdown, Csv, Html, Json, Docx, Xlsx, Pptx, Pdf];

    fn entry(self) -> &'static (Self, &'static str, &'static [&'static str]) {
        // Every format has its entry; a test makes sure.
        FORMATS.iter().find(|(format, ..)| *format == self).unwrap_or(&FORMATS[0])
    }

    /// Its MIME type, without parameters.
    #[must_use]
    pub fn mime(self) -> &'static str {
        self.entry().1
    }

    /// Its short name, which is also the usual extension.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().2[0]
    }

    /// Whether documents of this format are texts, which people can read as they
    /// are.
    #[must_use]
    pub fn is_text(self) -> bool {
        !matches!(self, Docx | Xlsx | Pptx | Pdf)
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let extension = name.rsplit_once('.')?.1;
        let is = |known: &&str| known.eq_ignore_ascii_case(extension);
        FORMATS.iter().find(|(_, _, extensions)| extensions.iter().any(is)).map(|(format, ..)| *format)
    }

    pub(crate) fn by_mime(mime: &str) -> Option<Self> {
        let mime = mime.split(';').next().unwrap_or_default().trim();
        let usual = FORMATS.iter().map(|(format, mime, _)| (*mime, *format));
        usual.chain(OTHER_TYPES).find(|(known, _)| known.eq_ignore_ascii_case(mime)).map(|(_, format)| format)
    }
}
