//! What is kept of a content besides its passages, and what it is called.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Entry, ErrorCode, ToolError};

use crate::limits::{self, check_length};

/// The version of what is written here. A later one reads the earlier ones.
const VERSION: u32 = 1;
const PREFIX: &str = "ct_";
const RANDOM_BYTES: usize = 8;
/// Where contents are kept, the newest first.
pub(crate) const RECORDS: &str = "c/";

/// What a content is called: the number of its first passage in the index,
/// which leads to its entries and orders them, and 64 random bits, so that an
/// id of another scope never names a content of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentId {
    pub(crate) first: u64,
    pub(crate) random: String,
}

impl ContentId {
    /// The random part of an id that was never given before.
    pub(crate) fn random() -> Result<String, ToolError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| ToolError::unavailable(format!("there is no randomness for an id now: {error}")))?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The id as a model writes it. A text that cannot be an id is the id of no content.
    pub(crate) fn parse(raw: &str) -> Result<Self, ToolError> {
        check_length("content_id", raw, limits::ID)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let parts = raw.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_'));
        let parts = parts.filter(|(first, random)| {
            let legal = |text: &str| text.bytes().all(is_digit);
            random.len() == 2 * RANDOM_BYTES && legal(random) && legal(first)
        });
        // Only the usual way to write a number is one of ours.
        let first = parts.and_then(|(first, _)| u64::from_str_radix(first, 16).ok());
        let id = first.zip(parts).map(|(first, (_, random))| Self { first, random: random.to_owned() });
        id.filter(|id| id.to_string() == raw).ok_or_else(|| unknown(raw))
    }

    /// Its record. Later contents have lower keys.
    pub(crate) fn record_key(&self) -> String {
        format!("{RECORDS}{:016x}", u64::MAX - self.first)
    }

    /// Where its lines are.
    pub(crate) fn lines_key(&self) -> String {
        format!("l/{:016x}", self.first)
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{:x}_{}", self.first, self.random)
    }
}

pub(crate) fn unknown(id: impl fmt::Display) -> ToolError {
    ToolError::not_found(format!("there is no content `{id}` here; list_contents shows what there is"))
}

/// What is known of a content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ContentMetadata {
    /// The name that it was added under.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) name: Option<String>,
    /// The title that the document gives itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) title: Option<String>,
    /// What it was read as.
    pub(crate) mime_type: String,
    /// Lines of its text.
    pub(crate) lines: u32,
    /// Bytes of its text.
    pub(crate) text_bytes: usize,
    /// Bytes of the document that it was read from.
    pub(crate) document_bytes: usize,
    /// Passages that a search tells apart.
    pub(crate) chunks: usize,
    /// When it was added.
    pub(crate) created_at: String,
    /// What of the document could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) warnings: Vec<String>,
}

/// A content as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredContent {
    pub(crate) id: ContentId,
    pub(crate) about: ContentMetadata,
}

#[derive(Serialize)]
struct ContentRecord<'a> {
    version: u32,
    random: &'a str,
    #[serde(flatten)]
    about: &'a ContentMetadata,
}

#[derive(Deserialize)]
struct Read {
    random: String,
    #[serde(flatten)]
    about: ContentMetadata,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl StoredContent {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, ToolError> {
        Ok(serde_json::to_vec(&ContentRecord { version: VERSION, random: &self.id.random, about: &self.about })?)
    }

    /// Reads a record under its key.
    pub(crate) fn decode(entry: &Entry) -> Result<Self, ToolError> {
        let Version { version } = entry.json()?;
        if version > VERSION {
            return Err(ToolError {
                code: ErrorCode::Unavailable,
                message: format!(
                    "`{}` was written by a newer content store (format {version}, this one knows {VERSION}): update \
                     the plugin",
                    entry.key
                ),
                retryable: false,
            });
        }
        let Read { random, about } = entry.json()?;
        let key = entry.key.strip_prefix(RECORDS).and_then(|key| u64::from_str_radix(key, 16).ok());
        let first = key.map(|key| u64::MAX - key);
        let first = first.ok_or_else(|| ToolError::internal(format!("`{}` is no key of a content", entry.key)))?;
        Ok(Self { id: ContentId { first, random }, about })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_back_and_what_cannot_be_an_id_names_nothing() {
        for first in [0, 1, 0xabc, u64::MAX] {
            let id = ContentId { first, random: ContentId::random().expect("randomness") };
            assert_eq!(ContentId::parse(&id.to_string()), Ok(id));
        }
        let random = "0123456789abcdef";
        let odd = [
            String::new(),
            "ct_".into(),
            format!("ct_{random}"),
            format!("ct_01_{random}"),
            format!("ct_+1_{random}"),
            format!("ct__{random}"),
            format!("ct_1_{}", random.to_uppercase()),
            format!("ct_11112222333344445_{random}"),
        ];
        for raw in odd {
            assert_eq!(ContentId::parse(&raw), Err(unknown(&raw)), "{raw}");
        }
        assert!(ContentId::parse(&"x".repeat(65)).is_err_and(|error| error.message.contains("65 characters")));
    }

    #[test]
    fn later_contents_come_first() {
        let key = |first| ContentId { first, random: String::new() }.record_key();
        assert!(key(0) > key(1) && key(15) > key(16) && key(255) > key(4_096));
    }
}
