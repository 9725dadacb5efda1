//! The tools that take a content in.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, ErrorCode, Reply, ToolError, tool};

use super::ContentView;
use crate::document::ReceivedDocument;
use crate::limits::{self, check_count, check_length, check_text};
use crate::shelf::{NewContent, Shelf};

/// Base64 as programs write it: with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const BASE64_CHARACTERS: usize = limits::ARGUMENT_BYTES.div_ceil(3) * 4;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = wharf_sdk::second_name("text", "content"), transform = wharf_sdk::second_name("name", "filename"))]
pub(crate) struct AddContent {
    /// The text to keep. Give either this or `document`.
    #[serde(alias = "content")]
    #[schemars(length(min = 1, max = limits::ARGUMENT_BYTES))]
    text: Option<String>,
    /// A document to keep, in base64: docx, xlsx, pptx, pdf, html, md, csv, json or any other text, at most 12 MB
    /// before base64. Needs a `name`.
    #[schemars(length(min = 1, max = BASE64_CHARACTERS))]
    document: Option<String>,
    /// What it is called, such as `report.docx`. Its extension says what a document is.
    #[serde(alias = "filename")]
    #[schemars(length(min = 1, max = limits::NAME))]
    name: Option<String>,
    /// What it is, where the name does not say it, such as `text/markdown`.
    #[schemars(length(min = 1, max = limits::MIME))]
    mime_type: Option<String>,
}

/// Keeps a text or a document, so that search_content finds it and read_content shows it. Use it for what is too long
/// to keep in mind: files, pages, transcripts, reports. Answers the content's id.
#[tool(title = "Add a content", timeout_milliseconds = 120_000)]
pub(crate) fn add_content(call: &Call, input: AddContent) -> Result<Reply<ContentView>, ToolError> {
    let AddContent { text, document, name, mime_type } = input;
    check_labels(name.as_deref(), mime_type.as_deref())?;
    let (name_of, mime_of) = (name.as_deref(), mime_type.as_deref());
    let (document, bytes) = match (text, document) {
        (Some(text), None) => (ReceivedDocument::read_text(name_of, mime_of, &text)?, text.len()),
        (None, Some(_)) if name.is_none() => {
            return Err(ToolError::invalid("a `document` needs a `name`, such as `report.docx`, that says what it is"));
        }
        (None, Some(document)) => {
            let bytes = decode(&document)?;
            (ReceivedDocument::read(name_of, mime_of, &bytes)?, bytes.len())
        }
        _ => return Err(ToolError::invalid("give either `text` or `document`, and not both")),
    };
    keep(call, name, bytes, document)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddContentFromWorkspace {
    /// The file, relative to the workspace, such as `reports/march.pdf`: of the kinds that add_content takes, at most 12 MiB.
    #[schemars(length(min = 1, max = limits::PATH))]
    path: String,
    /// What it is called; left out, the file's own name. Its extension says what the file is.
    #[schemars(length(min = 1, max = limits::NAME))]
    name: Option<String>,
    /// What it is, where the name does not say it, such as `text/markdown`.
    #[schemars(length(min = 1, max = limits::MIME))]
    mime_type: Option<String>,
}

/// Keeps a file of the session's workspace, as add_content keeps a document. The file is copied, so later changes of it
/// do not change the content. Answers the content's id.
#[tool(title = "Add a file of the workspace", timeout_milliseconds = 120_000)]
pub(crate) fn add_content_from_workspace(
    call: &Call,
    input: AddContentFromWorkspace,
) -> Result<Reply<ContentView>, ToolError> {
    let AddContentFromWorkspace { path, name, mime_type } = input;
    check_text("path", &path, limits::PATH)?;
    check_labels(name.as_deref(), mime_type.as_deref())?;
    let files = call.workspace().files().map_err(|error| match error.code {
        ErrorCode::Denied => ToolError {
            message: format!(
                "{}. The operator grants the workspace to this plugin with \
                 `[plugin.content-store.grants.workspace]`; without it, add_content takes a file's text or bytes",
                error.message.trim_end_matches('.')
            ),
            ..error
        },
        _ => error,
    })?;
    let bytes = files.read(&path, limits::DOCUMENT_BYTES).map_err(|error| match error.code {
        ErrorCode::NotFound if !files.exists => ToolError::not_found(format!(
            "{}: the workspace is empty, since nothing was written to it yet",
            error.message
        )),
        _ => error,
    })?;
    let own = files.parts(&path)?.pop();
    let name = name.or_else(|| own.filter(|own| check_labels(Some(own), None).is_ok()));
    let document = ReceivedDocument::read(name.as_deref(), mime_type.as_deref(), &bytes)?;
    keep(call, name, bytes.len(), document)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddContents {
    /// At most 100, and 12 MB in all.
    #[schemars(length(min = 1, max = limits::TEXTS))]
    texts: Vec<NamedText>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NamedText {
    /// What to keep.
    #[schemars(length(min = 1, max = limits::ARGUMENT_BYTES))]
    text: String,
    /// What it is called.
    #[schemars(length(min = 1, max = limits::NAME))]
    name: Option<String>,
    /// Such as `text/markdown`.
    #[schemars(length(min = 1, max = limits::MIME))]
    mime_type: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct AddedContents {
    /// In the order of the texts.
    content_ids: Vec<String>,
    /// What of the texts could not be read, by their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Keeps many texts in one step, each as add_content does: all, or none where one is refused. Answers their ids.
#[tool(title = "Add several texts")]
pub(crate) fn add_contents(call: &Call, input: AddContents) -> Result<Reply<AddedContents>, ToolError> {
    check_count("texts", input.texts.len(), limits::TEXTS)?;
    let mut contents = Vec::with_capacity(input.texts.len());
    let mut passages = 0;
    for (number, NamedText { text, name, mime_type }) in (1..).zip(input.texts) {
        let at = |error: ToolError| ToolError { message: format!("text {number}: {}", error.message), ..error };
        check_labels(name.as_deref(), mime_type.as_deref()).map_err(at)?;
        let document = ReceivedDocument::read_text(name.as_deref(), mime_type.as_deref(), &text).map_err(at)?;
        passages += document.passages.len();
        contents.push(NewContent { name, document_bytes: text.len(), document });
    }
    if passages > limits::PASSAGES_AT_ONCE {
        let most = limits::PASSAGES_AT_ONCE;
        return Err(ToolError::invalid(format!(
            "the texts have {passages} passages, and {most} can be added at once (about {} kB of text); add fewer at a \
             time",
            most * limits::PASSAGE_BYTES / 1_000
        )));
    }
    let added = Shelf::open(call)?.add(contents)?;
    let (mut answer, mut content_ids, mut warnings) = (format!("Added {}:", added.len()), Vec::new(), Vec::new());
    for content in added {
        let id = content.id.to_string();
        answer.push_str(&format!("\n{id}"));
        if let Some(name) = &content.about.name {
            answer.push_str(&format!(": {name}"));
        }
        warnings.extend(content.about.warnings.iter().map(|warning| format!("{id}: {warning}")));
        content_ids.push(id);
    }
    for warning in &warnings {
        answer.push_str(&format!("\nNote: {warning}"));
    }
    Ok(Reply::new(answer, AddedContents { content_ids, warnings }))
}

fn check_labels(name: Option<&str>, mime_type: Option<&str>) -> Result<(), ToolError> {
    if let Some(name) = name {
        check_text("name", name, limits::NAME)?;
        if name.chars().any(char::is_control) {
            return Err(ToolError::invalid("`name` has control characters; give the file's name alone"));
        }
    }
    match mime_type {
        Some(mime) => check_length("mime_type", mime, limits::MIME),
        None => Ok(()),
    }
}

fn keep(
    call: &Call,
    name: Option<String>,
    document_bytes: usize,
    document: ReceivedDocument,
) -> Result<Reply<ContentView>, ToolError> {
    let added = Shelf::open(call)?.add(vec![NewContent { name, document_bytes, document }])?;
    let content = added.into_iter().next().ok_or_else(|| ToolError::internal("nothing was added"))?;
    let shown = ContentView::from(content);
    let mut answer = format!("Added {}", shown.line());
    for warning in &shown.about.warnings {
        answer.push_str("\nNote: ");
        answer.push_str(warning);
    }
    Ok(Reply::new(answer, shown))
}

fn decode(document: &str) -> Result<Vec<u8>, ToolError> {
    let broken = |error: base64::DecodeError| {
        ToolError::invalid(format!("`document` is not base64: {error}; encode the file's bytes as base64 (RFC 4648)"))
    };
    // Many programs break the lines.
    if document.bytes().any(|byte| byte.is_ascii_whitespace()) {
        let joined: Vec<u8> = document.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        return BASE64.decode(joined).map_err(broken);
    }
    BASE64.decode(document).map_err(broken)
}
