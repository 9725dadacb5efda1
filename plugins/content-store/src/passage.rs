//! What is kept of each passage, beside the index: whose it is, where it stands,
//! and its text. One read gives a search all that a hit shows.

use serde::{Deserialize, Serialize};
use wharf_sdk::ToolError;

/// What stands before the text, as one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heading {
    /// The content.
    #[serde(rename = "c")]
    pub(crate) content: String,
    /// Its name.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Which passage of it, from 0.
    #[serde(rename = "i")]
    pub(crate) number: u32,
    /// Lines that it begins and ends in, from 1.
    #[serde(rename = "l")]
    pub(crate) lines: (u32, u32),
    /// Page or slide.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<u32>,
    /// The headings above it.
    #[serde(rename = "h", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) headings: Vec<String>,
}

/// A passage as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage<'text> {
    pub(crate) heading: Heading,
    pub(crate) text: &'text str,
}

impl<'text> Passage<'text> {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, ToolError> {
        let mut bytes = serde_json::to_vec(&self.heading)?;
        // JSON has no line breaks of its own.
        bytes.push(b'\n');
        bytes.extend_from_slice(self.text.as_bytes());
        Ok(bytes)
    }

    pub(crate) fn decode(bytes: &'text [u8]) -> Result<Self, ToolError> {
        let damaged = || {
            ToolError::internal("a stored passage is not what this plugin writes; delete_content removes its content")
        };
        let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
        let (heading, text) = text.split_once('\n').ok_or_else(damaged)?;
        Ok(Self { heading: serde_json::from_str(heading).map_err(|_| damaged())?, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_read_back_to_the_byte() {
        let heading = Heading {
            content: "ct_1".into(),
            name: Some("a\nb.md".into()),
            number: 3,
            lines: (7, 9),
            page: None,
            headings: vec!["One".into(), "둘".into()],
        };
        let passage = Passage { heading, text: "\n  text \r\n\n " };
        let bytes = passage.encode().expect("written");
        assert_eq!(Passage::decode(&bytes), Ok(passage));
        assert!(Passage::decode(b"{}\n").is_err());
        assert!(Passage::decode(b"no line").is_err());
        assert!(Passage::decode(&[0xff, b'\n']).is_err());
    }
}
