//! Documents for plugins: from the bytes of a document to its text, its
//! structure, and bounded chunks for search.
//!
//! ```
//! use wharf_documents::{ChunkSettings, Format, Limits, chunks, parse};
//!
//! # fn main() -> Result<(), wharf_documents::ParseError> {
//! let bytes = b"# Harbour\n\nThe harbour opens at six.\n";
//! let format = Format::detect(Some("harbour.md"), None, bytes)?;
//! let parsed = parse(format, bytes, &Limits::default())?;
//! assert_eq!(parsed.title.as_deref(), Some("Harbour"));
//!
//! let chunks = chunks(&parsed, &ChunkSettings::default())?;
//! assert_eq!(&parsed.text[chunks[0].bytes.clone()], "# Harbour\n\nThe harbour opens at six.\n");
//! assert_eq!((chunks[0].first_line, chunks[0].last_line), (1, 3));
//! # Ok(())
//! # }
//! ```
//!
//! Text formats keep their text exactly; of the others the text is what a reader
//! sees. A document is never believed: what it costs to read is bounded by
//! [`Limits`], counted while it is spent, and whatever is wrong with it is a
//! [`ParseError`]. Nothing here reads a file, a clock or a random number, starts
//! a thread, or knows Wharf.

mod chunk;
mod delimited;
mod detection;
mod docx;
mod error;
mod format;
mod html;
mod json;
mod limits;
mod markdown;
mod package;
mod parsed;
mod pdf;
mod plain;
mod pptx;
mod relations;
mod split;
mod text;
mod writer;
mod xlsx;
mod xml;

pub use chunk::{Chunk, ChunkSettings, chunks};
pub use error::ParseError;
pub use format::Format;
pub use limits::Limits;
pub use parsed::{Block, BlockKind, Parsed};

/// Reads a document.
///
/// # Errors
/// [`ParseError`] where the document is not of this format, is damaged, needs a
/// password, or costs more than the limits allow.
pub fn parse(format: Format, bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    if bytes.len() > limits.input_bytes {
        return Err(ParseError::Limit { what: "bytes", limit: limits.input_bytes });
    }
    format.check(bytes)?;
    match format {
        Format::Docx => docx::parse(bytes, limits),
        Format::Xlsx => xlsx::parse(bytes, limits),
        Format::Pptx => pptx::parse(bytes, limits),
        Format::Pdf => pdf::parse(bytes, limits),
        Format::Text | Format::Markdown | Format::Csv | Format::Html | Format::Json => read_text(format, bytes, limits),
    }
}

fn read_text(format: Format, bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    let mut warnings = Vec::new();
    let text = plain::decode(format, bytes, limits, &mut warnings)?;
    let mut title = None;
    let blocks = match format {
        Format::Html => {
            let mut parsed = html::parse(&text, limits)?;
            warnings.append(&mut parsed.warnings);
            return Ok(Parsed { warnings, ..parsed });
        }
        Format::Markdown => match markdown::structure(&text, limits) {
            Some(structure) => {
                title = structure.title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
                title = title.map(|title| text::cut(&title, writer::TITLE_BYTES).to_owned());
                plain::cover(&text, structure.starts, limits, &mut warnings)
            }
            None => {
                writer::warn(&mut warnings, "there is too much markup; the document was read as plain text");
                plain::cover(&text, plain::paragraphs(&text), limits, &mut warnings)
            }
        },
        Format::Csv => plain::cover(&text, delimited::rows(&text, limits.blocks)?, limits, &mut warnings),
        Format::Json => plain::cover(&text, json::entries(&text, limits)?, limits, &mut warnings),
        _ => plain::cover(&text, plain::paragraphs(&text), limits, &mut warnings),
    };
    Ok(Parsed { format, title, text, blocks, warnings })
}
