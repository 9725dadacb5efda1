//! What a tool was handed, as text in passages. Knows nothing of how they are
//! kept.

use wharf_documents::{Chunk, ChunkSettings, Format, Limits, Parsed, chunks, parse};
use wharf_sdk::ToolError;

use crate::limits;

/// A document that was read.
#[derive(Debug)]
pub(crate) struct ReceivedDocument {
    pub(crate) format: Format,
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    pub(crate) passages: Vec<Chunk>,
    pub(crate) warnings: Vec<String>,
}

impl ReceivedDocument {
    /// Reads what a name, a MIME type and the content itself say it is.
    pub(crate) fn read(name: Option<&str>, mime: Option<&str>, bytes: &[u8]) -> Result<Self, ToolError> {
        let format = Format::detect(name, mime, bytes).map_err(refused)?;
        Self::parsed(format, bytes)
    }

    /// Reads a text. Its name may be that of a document which it was taken
    /// from, and then says nothing of the text itself.
    pub(crate) fn read_text(name: Option<&str>, mime: Option<&str>, text: &str) -> Result<Self, ToolError> {
        let detected = Format::detect(name, mime, text.as_bytes()).ok();
        Self::parsed(detected.filter(|format| format.is_text()).unwrap_or(Format::Text), text.as_bytes())
    }

    fn parsed(format: Format, bytes: &[u8]) -> Result<Self, ToolError> {
        if bytes.is_empty() {
            return Err(ToolError::invalid("the content is empty; there is nothing to keep"));
        }
        let most = Limits {
            input_bytes: limits::DOCUMENT_BYTES,
            text_bytes: limits::TEXT_BYTES,
            unpacked_bytes: limits::UNPACKED_BYTES,
            ..Limits::default()
        };
        let parsed = parse(format, bytes, &most).map_err(refused)?;
        if parsed.text.trim().is_empty() {
            let why = parsed.warnings.join("; ");
            let why = if why.is_empty() { "it has no text".to_owned() } else { why };
            return Err(ToolError::invalid(format!("there is nothing to read or to find in it: {why}")));
        }
        let passages = passages(&parsed)?;
        let Parsed { title, text, warnings, .. } = parsed;
        Ok(Self { format, title, text, passages, warnings })
    }
}

/// Passages of the usual size, or of a larger one where they would be too many.
fn passages(parsed: &Parsed) -> Result<Vec<Chunk>, ToolError> {
    let mut size = ChunkSettings { target_bytes: limits::PASSAGE_BYTES, most_bytes: limits::LARGEST_PASSAGE_BYTES };
    let cut = chunks(parsed, &size).map_err(refused)?;
    if cut.len() <= limits::PASSAGES {
        return Ok(cut);
    }
    // Neighbours are joined up to the target, so twice as much is enough.
    size.target_bytes = 2 * parsed.text.len().div_ceil(limits::PASSAGES);
    size.most_bytes = 2 * size.target_bytes;
    let cut = chunks(parsed, &size).map_err(refused)?;
    if cut.len() > limits::PASSAGES {
        return Err(ToolError::limit(format!(
            "the document has {} parts, and {} can be kept; split it and add the pieces",
            cut.len(),
            limits::PASSAGES
        )));
    }
    Ok(cut)
}

fn refused(error: wharf_documents::ParseError) -> ToolError {
    match error {
        wharf_documents::ParseError::Limit { .. } => ToolError::limit(error.to_string()),
        error => ToolError::invalid(error.to_string()),
    }
}
