//! Why a document could not be read. Messages say what is wrong and what to do,
//! and never quote more than a short name of a hostile document.

use crate::Format;

/// Why a document could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Neither name, MIME type nor content say what this is.
    #[error("the format is not known: {problem}; supported are txt, md, csv, html, json, docx, xlsx, pptx and pdf")]
    UnknownFormat {
        /// What was looked at.
        problem: String,
    },
    /// The content is something other than the format says.
    #[error("this is not a {} document: {problem}; give the document under its own format", format.name())]
    OtherFormat {
        /// What it was said to be.
        format: Format,
        /// What speaks against it.
        problem: String,
    },
    /// The content begins like the format and then breaks its rules.
    #[error("the {} document is damaged: {problem}; save it again with the program that made it", format.name())]
    Damaged {
        /// The format.
        format: Format,
        /// Where and how it is damaged.
        problem: String,
    },
    /// The document needs a password.
    #[error("the {} document is encrypted; save it without a password", format.name())]
    Encrypted {
        /// The format.
        format: Format,
    },
    /// The document has something that no honest document has, such as an XML
    /// entity of its own.
    #[error("the {} document was refused: {problem}", format.name())]
    Refused {
        /// The format.
        format: Format,
        /// What it has.
        problem: String,
    },
    /// The JSON text is not JSON.
    #[error("line {line}, column {column} is not valid JSON: {problem}; correct it or add it as plain text")]
    InvalidJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What the JSON parser says.
        problem: String,
    },
    /// Something of the document is more than [`crate::Limits`] allow.
    #[error("the document is too large: more than {limit} {what}; split it")]
    Limit {
        /// What there is too much of, with its unit.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
    /// A setting makes no sense.
    #[error("{0}")]
    InvalidSettings(&'static str),
}
